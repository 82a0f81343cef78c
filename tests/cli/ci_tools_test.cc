// The tools that run tests and clang-tidy, and what CI makes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool_testing.h"

namespace paceline {
namespace {

using testing::HasSubstr;
using testing::Not;

// A build with a test for anybody and two for root.
class RunTests : public testing::Test {
 protected:
  RunTests() {
    folder_.write("build/CTestTestfile.cmake",
                  "add_test(plain true)\nadd_test(first true)\nadd_test(second true)\n"
                  "set_tests_properties(first second PROPERTIES LABELS root)\n");
    folder_.write("bin/id", "#!/bin/sh\necho $USER_ID\n");
  }
  // As the user with this id.
  ToolOutcome run_as(int id, const std::string& options = "") const {
    return shell("cd " + folder_.path().string() + " && chmod +x bin/id && USER_ID=" +
                 std::to_string(id) + " PATH=$PWD/bin:$PATH run_tests build " + options + " 2>&1");
  }

  TestFolder folder_;
};

TEST_F(RunTests, WithoutRootLeavesOutWhatNeedsItAndSaysHowMany) {
  const ToolOutcome outcome = run_as(1000);
  EXPECT_TRUE(outcome.ok) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("left out: 2 tests that need root"));
  EXPECT_THAT(outcome.output, HasSubstr("100% tests passed, 0 tests failed out of 1"));
}

TEST_F(RunTests, PartsOfWholeRunsAreDisjointAndTogetherAll) {
  folder_.write("build/CTestTestfile.cmake",
                "add_test(base/a true)\nadd_test(system/b true)\nadd_test(system/c true)\n"
                "add_test(power_loss/d true)\n");
  const std::string first = run_as(0, "--part 1/2").output;
  const std::string second = run_as(0, "--part 2/2").output;
  const auto counted = [](const std::string& output, const char* name) {
    return output.find(std::string(name) + " ") != std::string::npos;
  };
  EXPECT_TRUE(counted(first, "base/a") && counted(second, "base/a"));
  for (const char* name : {"system/b", "system/c", "power_loss/d"}) {
    EXPECT_NE(counted(first, name), counted(second, name)) << name << first << second;
  }
  EXPECT_TRUE(counted(second, "system/c"));
}

// Those that need root are not counted, wherever they are.
TEST_F(RunTests, PartsOfWholeRunsAreDisjointWithoutRootToo) {
  folder_.write("build/CTestTestfile.cmake",
                "add_test(base/a true)\nadd_test(base/asRoot true)\nadd_test(system/b true)\n"
                "add_test(system/asRoot true)\nadd_test(system/c true)\n"
                "add_test(power_loss/d true)\nadd_test(power_loss/e true)\n"
                "set_tests_properties(base/asRoot system/asRoot PROPERTIES LABELS root)\n");
  const std::string first = run_as(1000, "--part 1/2").output;
  const std::string second = run_as(1000, "--part 2/2").output;
  const auto ran = [](const std::string& output, const std::string& name) {
    return output.find(": " + name + " ") != std::string::npos;
  };
  EXPECT_TRUE(ran(first, "base/a") && ran(second, "base/a")) << first << second;
  for (const char* name : {"system/b", "system/c", "power_loss/d", "power_loss/e"}) {
    EXPECT_NE(ran(first, name), ran(second, name)) << name << first << second;
  }
  for (const char* name : {"base/asRoot", "system/asRoot"}) {
    EXPECT_FALSE(ran(first, name) || ran(second, name)) << name << first << second;
  }
}

TEST_F(RunTests, AsRootRunsAll) {
  const ToolOutcome outcome = run_as(0);
  EXPECT_TRUE(outcome.ok) << outcome.output;
  EXPECT_THAT(outcome.output, Not(HasSubstr("left out")));
  EXPECT_THAT(outcome.output, HasSubstr("100% tests passed, 0 tests failed out of 3"));
}

TEST_F(RunTests, FailsWhenATestFails) {
  folder_.write("build/CTestTestfile.cmake", "add_test(wrong false)\n");
  const ToolOutcome outcome = run_as(0);
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.output, HasSubstr("0% tests passed, 1 tests failed out of 1"));
}

// A build of one source and its test, and clang-tidy over it, in a clone below a folder that is
// called src, too.
class Tidy : public testing::Test {
 protected:
  ToolOutcome tidy(const std::string& source) const {
    const std::string clone = "src/clone+1/";
    const std::string path = (folder_.path() / clone).string();
    folder_.write(clone + "src/base/a.cc", "#include \"a.h\"\n");
    folder_.write(clone + "src/base/a.h", source);
    folder_.write(clone + "apps/none.h", "");
    folder_.write(clone + "tests/base/a_test.cc", "int TwoWordsInATest() { return 1; }\n");
    folder_.write(clone + "build/compile_commands.json",
                  "[" + command(path, "src/base/a.cc") + ",\n" +
                      command(path, "tests/base/a_test.cc") + "]\n");
    return shell("XDG_CACHE_HOME=" + path + "cache tidy " + path + "build " + path + " 2>&1");
  }
  static std::string command(const std::string& folder, const std::string& file) {
    return "{\n  \"directory\": \"" + folder + "\",\n  \"command\": \"clang++ -c " + folder + file +
           "\",\n  \"file\": \"" + folder + file + "\"\n}";
  }

  TestFolder folder_;
};

TEST_F(Tidy, AcceptsWhatIsNamedAsTheProjectNamesThings) {
  const ToolOutcome outcome = tidy("int two_words() { return 1; }\n");
  EXPECT_TRUE(outcome.ok) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("1 units"));
}

TEST_F(Tidy, FailsWhenASourceIsNot) {
  for (int i = 0; i < 2; ++i) {
    const ToolOutcome outcome = tidy("int TwoWords() { return 1; }\n");
    EXPECT_FALSE(outcome.ok);
    EXPECT_THAT(outcome.output, HasSubstr("a.h:1:5: error: invalid case style"));
  }
}

TEST_F(Tidy, ReadsWhatHasPassedOnce) {
  tidy("int two_words() { return 1; }\n");
  EXPECT_THAT(tidy("int two_words() { return 1; }\n").output, HasSubstr("passed before"));
  EXPECT_THAT(tidy("int two_words() { return 2; }\n").output, HasSubstr("1 units"));
}

TEST_F(Tidy, FailsWhenThereIsNothingToRead) {
  folder_.write("compile_commands.json", "[]\n");
  EXPECT_FALSE(shell("tidy " + folder_.path().string() + " 2>&1").ok);
}

// .ci/run, or another script there, with a `make` that prints its arguments, and fails when the
// first is `failing`.
ToolOutcome ci_run(const std::string& failing, const std::string& script = "run") {
  const TestFolder folder;
  folder.write("make",
               "#!/bin/sh\necho make $*\n[ \"$1\" != '" + failing +
                   "' ] || exit 1\n"
                   "[ \"$1\" != test ] || echo '100% tests passed, 0 tests failed out of 7'\n");
  return shell("cd " + folder.path().string() + " && chmod +x make && XDG_CACHE_HOME=$PWD/cache " +
               "PATH=$PWD:$PATH " + source_path(".ci/" + script) + " 2>&1");
}

TEST(CiRun, ChecksFirstAndEndsWithTheCountOfTheTests) {
  const ToolOutcome outcome = ci_run("nothing");
  EXPECT_TRUE(outcome.ok) << outcome.output;
  EXPECT_LT(outcome.output.find("make check"), outcome.output.find("make build-asan"));
  EXPECT_THAT(outcome.output, testing::ContainsRegex("release tests +[0-9]+ s\n"));
  EXPECT_THAT(outcome.output, testing::EndsWith("\n100% tests passed, 0 tests failed out of 7\n"));
}

TEST(CiRun, FailsWithTheFirstStageThatFails) {
  const ToolOutcome outcome = ci_run("test-tsan");
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.output, testing::EndsWith("make test-tsan PART=2/2\n"));
  EXPECT_FALSE(ci_run("test").ok);
}

TEST(CiFull, RunsAllStagesAndThenFailsWithOneThatHasFailed) {
  EXPECT_TRUE(ci_run("nothing", "full").ok);
  const ToolOutcome outcome = ci_run("tidy", "full");
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.output, HasSubstr("make test-asan"));
  EXPECT_THAT(outcome.output,
              testing::ContainsRegex("clang-tidy, plugins too +[0-9]+ s, failed\n"));
  EXPECT_THAT(outcome.output, testing::EndsWith("\n100% tests passed, 0 tests failed out of 7\n"));
  EXPECT_FALSE(ci_run("test", "full").ok);
}

// Where `python` + `3` stands without its path, in any file that is run or compiled: the first one
// on the path may lack Debian's modules. Packages have longer names.
std::string bare_python(const std::string& tree) {
  const ToolOutcome outcome =
      shell("cd " + tree +
            " && for name in tests bench tools examples cmake src/lab .ci Makefile paceline; do "
            "[ ! -e $name ] || grep -rnHIE '(^|[^/[:alnum:]_.-])python[3]([^[:alnum:]_.-]|$)' "
            "--exclude='*.md' $name; done; true");
  EXPECT_TRUE(outcome.ok);
  return outcome.output;
}

TEST(Python, IsCalledByItsPath) {
  EXPECT_EQ(bare_python(source_path("")), "");
}

TEST(Python, IsFoundWhereverItIsCalledWithoutItsPath) {
  const TestFolder folder;
  const std::string python = std::string("python") + "3";  // so that the test above passes
  folder.write("tools/ok", "#!/usr/bin/" + python + "\n# " + python + "-torch\n");
  EXPECT_EQ(bare_python(folder.path().string()), "");
  folder.write("tools/figures", "#!/usr/bin/env " + python + "\n");
  folder.write(".ci/run", python + " -m x\n");
  folder.write("Makefile", "x:\n\t" + python + "\n");
  folder.write("src/lab/run.cc", "call({\"" + python + "\", script});\n");
  folder.write("tests/a/b_test.cc", "run(\"echo | " + python + "\");\n");
  folder.write("bench/CMakeLists.txt", "find_program(" + python + ")\n");
  const std::string found = bare_python(folder.path().string());
  for (const char* name : {"tools/figures:1:", ".ci/run:1:", "Makefile:2:", "src/lab/run.cc:1:",
                           "tests/a/b_test.cc:1:", "bench/CMakeLists.txt:1:"}) {
    EXPECT_THAT(found, HasSubstr(name));
  }
  EXPECT_THAT(found, Not(HasSubstr("tools/ok")));
}

}  // namespace
}  // namespace paceline
