find_package(GTest REQUIRED)
include(GoogleTest)

add_library(paceline_test_flags INTERFACE)
target_link_libraries(paceline_test_flags INTERFACE paceline_flags GTest::gmock GTest::gtest_main)
if(PACELINE_SANITIZE)
  # Half the time to compile; the code under test keeps its optimization.
  target_compile_options(paceline_test_flags INTERFACE -O0)
endif()

add_library(paceline_test_headers OBJECT ${CMAKE_CURRENT_LIST_DIR}/common_headers.cc)
target_link_libraries(paceline_test_headers
  PRIVATE paceline_test_flags fmt::fmt nlohmann_json::nlohmann_json)
target_precompile_headers(paceline_test_headers
  PRIVATE <gtest/gtest.h> <gmock/gmock.h> ${PACELINE_COMMON_HEADERS})

# paceline_tests(net SOURCES frame_test.cc DEPENDS paceline::net) makes one test program
# out of the current folder; each TEST in it is a test of its own to ctest. HEADERS are
# parsed once for the program, in the place of those all tests share. With ROOT, suites whose name
# ends with NeedRoot have the label "root"; tools/run_tests leaves them out for all other users.
function(paceline_tests name)
  cmake_parse_arguments(arg "ROOT" "TIMEOUT" "SOURCES;DEPENDS;HEADERS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name}_tests ${arg_SOURCES})
  target_include_directories(${name}_tests PRIVATE ${PACELINE_ROOT}/tests)
  target_link_libraries(${name}_tests PRIVATE ${arg_DEPENDS} paceline_test_flags)
  if(arg_HEADERS)
    target_precompile_headers(${name}_tests PRIVATE ${arg_HEADERS})
  else()
    target_precompile_headers(${name}_tests REUSE_FROM paceline_test_headers)
  endif()
  set(discovery TEST_PREFIX ${name}/ DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${arg_TIMEOUT}
    ENVIRONMENT TSAN_OPTIONS=suppressions=${PACELINE_ROOT}/tests/tsan.supp)
  if(arg_ROOT)
    gtest_discover_tests(${name}_tests TEST_FILTER "-*NeedRoot.*" ${discovery})
    gtest_discover_tests(${name}_tests TEST_FILTER "*NeedRoot.*" ${discovery} LABELS root)
  else()
    gtest_discover_tests(${name}_tests ${discovery})
  endif()
endfunction()
