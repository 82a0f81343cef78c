// The shell tools that CI relies on, run on small trees of files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool_testing.h"

namespace paceline {
namespace {

using testing::HasSubstr;

TEST(CheckLayers, AcceptsIncludesFromFoldersBefore) {
  const TestFolder tree;
  tree.write("src/base/a.h", "#pragma once\n");
  tree.write("src/net/b.cc", "#include \"base/a.h\"\n#include \"net/b.h\"\n#include <map>\n");
  EXPECT_TRUE(shell("check_layers " + tree.path().string()).ok);
}

TEST(CheckLayers, NamesTheLineThatIncludesFromAFolderAfter) {
  const TestFolder tree;
  tree.write("src/base/a.h", "#pragma once\n\n#include \"net/b.h\"\n");
  tree.write("src/net/b.h", "#pragma once\n");
  const ToolOutcome outcome = shell("check_layers " + tree.path().string() + " 2>&1");
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.output,
            "src/base/a.h:3: src/base may not include from src/net, which comes after it\n");
}

TEST(CheckLayers, RefusesFoldersForEverything) {
  const TestFolder tree;
  tree.write("src/base/util/a.h", "#pragma once\n");
  const ToolOutcome outcome = shell("check_layers " + tree.path().string() + " 2>&1");
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.output, HasSubstr("src/base/util: "));
}

TEST(CheckLayers, RefusesFoldersItDoesNotKnow) {
  const TestFolder tree;
  tree.write("src/misc/a.h", "#pragma once\n");
  EXPECT_FALSE(shell("check_layers " + tree.path().string() + " 2>&1").ok);
}

TEST(CheckDocs, AcceptsPathsThatExistAndWordsThatAreNoPaths) {
  const TestFolder tree;
  tree.write("src/base/error.h", "");
  tree.write("docs/wire.md", "[up](../README.md)\n");
  tree.write("README.md",
             "`src/base/error.h` and `src/base/` and `paceline train` and `build/x`\n"
             "[wire](docs/wire.md#bytes) [site](https://example.org/x)\n"
             "```\n`src/none`\n```\n");
  EXPECT_TRUE(shell("check_docs " + tree.path().string()).ok);
}

TEST(CheckDocs, NamesPathsAndLinksThatLeadNowhere) {
  const TestFolder tree;
  tree.write("src/base/error.h", "");
  tree.write("README.md", "fine\nsee `src/base/gone.h`\n");
  tree.write("docs/wire.md", "[there](gone.md)\n");
  const ToolOutcome outcome = shell("check_docs " + tree.path().string() + " 2>&1");
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.output,
            "README.md:2: there is no src/base/gone.h\n"
            "docs/wire.md:1: there is no docs/gone.md\n");
}

TEST(CheckDocs, HasNothingToSayWithoutDocumentation) {
  const TestFolder tree;
  const ToolOutcome outcome = shell("check_docs " + tree.path().string() + " 2>&1");
  EXPECT_TRUE(outcome.ok);
  EXPECT_EQ(outcome.output, "");
}

// As this user, with a ctest that only tells what it is asked.
std::string run_tests_as(int user) {
  const TestFolder fake;
  fake.write("id", fmt::format("#!/bin/sh\necho {}\n", user));
  fake.write("ctest",
             "#!/bin/sh\necho \"ctest $*\"\n"
             "case \"$*\" in *\" -N \"*) echo 'Total Tests: 3';; esac\n");
  const std::string dir = fake.path().string();
  const Outcome outcome =
      shell(fmt::format("chmod +x {0}/*; PATH={0}:$PATH; run_tests build 2", dir));
  EXPECT_TRUE(outcome.ok) << outcome.output;
  return outcome.output;
}

TEST(RunTests, RootRunsAllOfThem) {
  EXPECT_EQ(run_tests_as(0), "ctest --test-dir build --output-on-failure -j 2\n");
}

TEST(RunTests, OthersAreToldHowManyWereLeftOut) {
  EXPECT_EQ(run_tests_as(1000),
            "ctest --test-dir build --output-on-failure -j 2 -LE ^root$\n"
            "3 tests need root and were left out: run them with sudo ctest --test-dir build -L "
            "root\n");
}

TEST(Packages, ListsTheSectionsThatAreAskedFor) {
  const ToolOutcome build = shell("packages list build");
  EXPECT_THAT(build.output, HasSubstr("libasio-dev"));
  EXPECT_THAT(build.output, testing::Not(HasSubstr("libgtest-dev")));
  EXPECT_THAT(shell("packages list build test").output, HasSubstr("libgtest-dev"));
  EXPECT_FALSE(shell("packages list 2>&1").ok);
}

TEST(Packages, NamesWhatIsNotInstalled) {
  const TestFolder tree;
  tree.write("packages.txt", "[a]\ndash  # a shell\nno-such-package-at-all  # none\n");
  ASSERT_TRUE(shell("mkdir " + tree.path().string() + "/tools && cp \"$(command -v packages)\" " +
                    tree.path().string() + "/tools")
                  .ok);
  EXPECT_EQ(shell(tree.path().string() + "/tools/packages missing a").output,
            "no-such-package-at-all\n");
}

}  // namespace
}  // namespace paceline
