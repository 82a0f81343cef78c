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

TEST(CheckLayers, AcceptsAFolderInAnotherThatIncludesFromThatOneAndFromOneBesideIt) {
  const TestFolder tree;
  tree.write("src/net/a.h", "#include \"base/file/d.h\"\n");
  tree.write("src/net/tcp/b.h", "#include \"net/a.h\"\n#include \"base/file/d.h\"\n");
  tree.write("src/net/unix/fast/c.h", "#include \"net/tcp/b.h\"\n#include \"net/a.h\"\n");
  tree.write("src/base/file/d.h", "#pragma once\n");
  EXPECT_TRUE(shell("check_layers " + tree.path().string()).ok);
}

TEST(CheckLayers, NamesTheLineThatIncludesFromAFolderInItsOwn) {
  const TestFolder tree;
  tree.write("src/net/a.h", "#include \"net/tcp/b.h\"\n");
  tree.write("src/net/tcp/b.h", "#pragma once\n\n#include \"net/tcp/fast/c.h\"\n");
  tree.write("src/net/tcp/fast/c.h", "#pragma once\n");
  const ToolOutcome outcome = shell("check_layers " + tree.path().string() + " 2>&1");
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.output,
            "src/net/a.h:1: src/net may not include from src/net/tcp, which comes after it\n"
            "src/net/tcp/b.h:3: src/net/tcp may not include from src/net/tcp/fast, which comes "
            "after it\n");
}

TEST(CheckLayers, NamesTheLinesByWhichFoldersOfOneFolderIncludeFromEachOther) {
  const TestFolder tree;
  tree.write("src/net/tcp/a.h", "#include \"net/unix/b.h\"\n");
  tree.write("src/net/unix/b.h", "#pragma once\n#include \"net/frame/deep/c.h\"\n");
  tree.write("src/net/frame/deep/c.h", "#pragma once\n");
  tree.write("src/net/frame/d.h", "#include \"net/tcp/a.h\"\n");
  tree.write("src/net/user/e.h", "#include \"net/tcp/a.h\"\n");
  const ToolOutcome outcome = shell("check_layers " + tree.path().string() + " 2>&1");
  EXPECT_FALSE(outcome.ok);
  const std::string turn = ", which includes from it in turn\n";
  EXPECT_EQ(outcome.output,
            "src/net/frame/d.h:1: src/net/frame may not include from src/net/tcp" + turn +
                "src/net/tcp/a.h:1: src/net/tcp may not include from src/net/unix" + turn +
                "src/net/unix/b.h:2: src/net/unix may not include from src/net/frame" + turn);
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
