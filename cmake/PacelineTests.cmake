find_package(GTest REQUIRED)
include(GoogleTest)

add_library(paceline_test_flags INTERFACE)
target_link_libraries(paceline_test_flags INTERFACE paceline_flags GTest::gmock GTest::gtest_main)
# Half the time to compile; the code under test keeps its optimization.
target_compile_options(paceline_test_flags INTERFACE -O0)
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang AND PACELINE_SANITIZE MATCHES address)
  target_compile_definitions(paceline_test_flags INTERFACE __SANITIZE_ADDRESS__=1)  # as GCC has it
endif()

add_library(paceline_test_headers OBJECT ${CMAKE_CURRENT_LIST_DIR}/common_headers.cc)
target_link_libraries(paceline_test_headers
  PRIVATE paceline_test_flags fmt::fmt nlohmann_json::nlohmann_json)
target_precompile_headers(paceline_test_headers
  PRIVATE <gtest/gtest.h> <gmock/gmock.h> ${PACELINE_COMMON_HEADERS})

add_library(paceline_test_paths STATIC ${PACELINE_ROOT}/tests/base/paths.cc)
target_include_directories(paceline_test_paths PRIVATE ${PACELINE_ROOT}/tests)
target_link_libraries(paceline_test_paths PRIVATE paceline_flags)
target_compile_definitions(paceline_test_paths PRIVATE
  PACELINE_SOURCE_DIR="${PACELINE_ROOT}" PACELINE_PROGRAM="$<TARGET_FILE:paceline>")

# Long loops over seeds take a part of them, another one in each preset: see tests/base/seeds.h.
set(PACELINE_SEEDS "1/1" CACHE STRING "The part of the seeds that tests take: 2/3 is the second third")
# Tests that start whole runs are in the release build, which takes the first part of the seeds, and
# in one sanitizer's build: half of the seeds for each.
string(REGEX REPLACE "^1/[2-9]$" "1/2" PACELINE_RUN_SEEDS "${PACELINE_SEEDS}")
string(REGEX REPLACE "^[2-9]/[2-9]$" "2/2" PACELINE_RUN_SEEDS "${PACELINE_RUN_SEEDS}")
# A property of its own, since gtest_discover_tests passes no lists on.
set(environment
  ENVIRONMENT_MODIFICATION TSAN_OPTIONS=set:suppressions=${PACELINE_ROOT}/tests/tsan.supp)

# Suites that need root have names with this end; ctest knows their tests by the label `root`.
set(root_suites "*AsRoot.*:*AsRoot/*")

# paceline_tests(net SOURCES frame_test.cc DEPENDS paceline::net) makes one test program
# out of the current folder; each TEST in it is a test of its own to ctest. HEADERS are
# parsed once for the program, in the place of those all tests share. Tests that compute a lot are
# OPTIMIZED under the sanitizers, too, and have HEADERS of their own.
#
# Under a sanitizer starting a program takes longer than most TESTs do. There a program is SHARDS
# tests to ctest (1 unless told), each of them a part of its TESTs. Programs with CLUSTERS start
# processes that wait for each other, so each TEST has two cores to itself. The TESTs of a suite in
# TOGETHER share what takes long to set up, and are one test to ctest. Sources that give the same
# name to different things are compiled APART.
function(paceline_tests name)
  cmake_parse_arguments(arg "APART;CLUSTERS;OPTIMIZED" "TIMEOUT;SHARDS" "SOURCES;DEPENDS;HEADERS;TOGETHER" ${ARGN})
  set(sources ${arg_SOURCES})
  if(NOT arg_APART)
    paceline_unity(sources ${name}_tests tests 6 ${arg_SOURCES})
  endif()
  add_executable(${name}_tests ${sources})
  target_include_directories(${name}_tests PRIVATE ${PACELINE_ROOT}/tests)
  if(arg_OPTIMIZED)
    target_link_libraries(${name}_tests
      PRIVATE ${arg_DEPENDS} paceline_flags GTest::gmock GTest::gtest_main)
  else()
    target_link_libraries(${name}_tests PRIVATE ${arg_DEPENDS} paceline_test_flags)
  endif()
  if(arg_HEADERS)
    target_precompile_headers(${name}_tests PRIVATE ${arg_HEADERS})
  else()
    target_precompile_headers(${name}_tests REUSE_FROM paceline_test_headers)
  endif()

  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  set(properties TIMEOUT ${arg_TIMEOUT} ${environment})
  if(arg_CLUSTERS)
    list(APPEND properties PROCESSORS 2 ENVIRONMENT PACELINE_SEEDS=${PACELINE_RUN_SEEDS})
  else()
    list(APPEND properties ENVIRONMENT PACELINE_SEEDS=${PACELINE_SEEDS})
  endif()
  if(PACELINE_SANITIZE AND NOT arg_CLUSTERS)
    paceline_shards(${name} "${arg_SHARDS}")
  else()
    set(left_out ${root_suites})
    foreach(suite ${arg_TOGETHER})
      string(APPEND left_out ":${suite}.*")
      add_test(NAME ${name}/${suite} COMMAND ${name}_tests --gtest_filter=${suite}.*)
      set_tests_properties(${name}/${suite} PROPERTIES ${properties})
    endforeach()
    gtest_discover_tests(${name}_tests TEST_PREFIX ${name}/ DISCOVERY_TIMEOUT 60
      TEST_FILTER "-${left_out}" PROPERTIES ${properties})
  endif()
  gtest_discover_tests(${name}_tests TEST_PREFIX ${name}/ DISCOVERY_TIMEOUT 60
    TEST_FILTER ${root_suites} PROPERTIES ${properties} LABELS root)
endfunction()

# All TESTs of a program that do not need root, as so many tests of ctest. They take longest, so
# they start first.
function(paceline_shards name count)
  if(NOT count)
    set(count 1)
  endif()
  foreach(shard RANGE 1 ${count})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${name}/${shard}_of_${count} COMMAND ${name}_tests
      --gtest_brief=1 --gtest_filter=-${root_suites})
    set_tests_properties(${name}/${shard}_of_${count} PROPERTIES TIMEOUT 600 COST 100
      ${environment})
    set_property(TEST ${name}/${shard}_of_${count} APPEND PROPERTY ENVIRONMENT
      PACELINE_SEEDS=${PACELINE_SEEDS} GTEST_TOTAL_SHARDS=${count} GTEST_SHARD_INDEX=${index})
  endforeach()
endfunction()
