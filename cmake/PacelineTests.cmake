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
# Tests that start whole runs, or have one thread, are in the release build, which takes the first
# part of the seeds, and in one sanitizer's build: half of the seeds for each.
string(REGEX REPLACE "^1/[2-9]$" "1/2" PACELINE_HALF_OF_SEEDS "${PACELINE_SEEDS}")
string(REGEX REPLACE "^[2-9]/[2-9]$" "2/2" PACELINE_HALF_OF_SEEDS "${PACELINE_HALF_OF_SEEDS}")
# A property of its own, since gtest_discover_tests passes no lists on.
set(environment
  ENVIRONMENT_MODIFICATION TSAN_OPTIONS=set:suppressions=${PACELINE_ROOT}/tests/tsan.supp)

# Suites that need root have names with this end; ctest knows their tests by the label `root`.
set(root_suites "*AsRoot.*:*AsRoot/*")

# paceline_tests(net SOURCES frame_test.cc DEPENDS paceline::net) makes one test program
# out of the current folder; each TEST in it is a test of its own to ctest. With HEADERS_OF the
# program is compiled as that target is, and uses the headers parsed for it.
#
# Under a sanitizer starting a program takes longer than most TESTs do. There a program is SHARDS
# tests to ctest (1 unless told), each of them a part of its TESTs. Programs with CLUSTERS start
# processes that wait for each other, so each TEST counts as two. The TESTs of a suite in
# TOGETHER share what takes long to set up, and are one test to ctest. Programs with suites that
# need root are AS_ROOT. What has ONE_THREAD is nothing for the thread sanitizer.
function(paceline_tests name)
  cmake_parse_arguments(arg "AS_ROOT;CLUSTERS;ONE_THREAD" "HEADERS_OF;TIMEOUT;SHARDS"
    "SOURCES;DEPENDS;TOGETHER" ${ARGN})
  if(arg_ONE_THREAD AND PACELINE_SANITIZE STREQUAL thread)
    return()
  endif()
  paceline_unity(sources ${name}_tests tests 30 ${arg_SOURCES})
  add_executable(${name}_tests ${sources})
  target_include_directories(${name}_tests PRIVATE ${PACELINE_ROOT}/tests)
  if(arg_HEADERS_OF)
    target_link_libraries(${name}_tests
      PRIVATE ${arg_DEPENDS} paceline_flags GTest::gmock GTest::gtest_main)
    target_compile_options(${name}_tests PRIVATE -fPIC)
    target_precompile_headers(${name}_tests REUSE_FROM ${arg_HEADERS_OF})
  else()
    target_link_libraries(${name}_tests PRIVATE ${arg_DEPENDS} paceline_test_flags)
    target_precompile_headers(${name}_tests REUSE_FROM paceline_test_headers)
  endif()

  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  set(seeds ${PACELINE_SEEDS})
  if(arg_CLUSTERS OR arg_ONE_THREAD)
    set(seeds ${PACELINE_HALF_OF_SEEDS})
  endif()
  set(properties TIMEOUT ${arg_TIMEOUT} ${environment} ENVIRONMENT PACELINE_SEEDS=${seeds})
  if(arg_CLUSTERS)
    list(APPEND properties PROCESSORS 2)
  endif()
  set(left_out)
  if(arg_AS_ROOT)
    set(left_out ${root_suites})
    gtest_discover_tests(${name}_tests TEST_PREFIX ${name}/ DISCOVERY_TIMEOUT 60
      TEST_FILTER ${root_suites} PROPERTIES ${properties} LABELS root)
  endif()
  if(PACELINE_SANITIZE AND NOT arg_CLUSTERS)
    paceline_shards(${name} "${arg_SHARDS}" "${left_out}" ${seeds})
    return()
  endif()
  foreach(suite ${arg_TOGETHER})
    string(APPEND left_out ":${suite}.*")
    add_test(NAME ${name}/${suite} COMMAND ${name}_tests --gtest_filter=${suite}.*)
    set_tests_properties(${name}/${suite} PROPERTIES ${properties})
  endforeach()
  gtest_discover_tests(${name}_tests TEST_PREFIX ${name}/ DISCOVERY_TIMEOUT 60
    TEST_FILTER "-${left_out}" PROPERTIES ${properties})
endfunction()

# All TESTs of a program but those left out, as so many tests of ctest. They take longest, so they
# start first.
function(paceline_shards name count left_out seeds)
  if(NOT count)
    set(count 1)
  endif()
  foreach(shard RANGE 1 ${count})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${name}/${shard}_of_${count} COMMAND ${name}_tests
      --gtest_brief=1 --gtest_filter=-${left_out})
    set_tests_properties(${name}/${shard}_of_${count} PROPERTIES TIMEOUT 600 COST 100
      ${environment})
    set_property(TEST ${name}/${shard}_of_${count} APPEND PROPERTY ENVIRONMENT
      PACELINE_SEEDS=${seeds} GTEST_TOTAL_SHARDS=${count} GTEST_SHARD_INDEX=${index})
  endforeach()
endfunction()
