# Flags every target of the project is built with.
add_library(paceline_flags INTERFACE)
if(PACELINE_FUZZ)
  # Coverage guides the fuzzers.
  target_compile_options(paceline_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # What GCC warns of is not asked of clang again.
  target_compile_options(paceline_flags INTERFACE -w)
else()
  target_compile_options(paceline_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
    -Woverloaded-virtual -Werror
    # GCC 12 sees lengths inside std::string that cannot be; the sanitizers see real ones.
    -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds -Wno-restrict)
endif()
if(PACELINE_UNITY)
  # Several sources are compiled as one (half the time from nothing), so none is the main
  # file, in which a class may have members of types that only it knows.
  target_compile_options(paceline_flags INTERFACE -Wno-subobject-linkage)
endif()
# The binary is for any machine of the architecture: wider instructions are chosen at
# run time, kernel by kernel (see src/model/linear).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # A compiler that never looks for memory to free is a tenth faster, and takes 1 GB at most here.
  target_compile_options(paceline_flags INTERFACE
    --param=ggc-min-expand=10000 --param=ggc-min-heapsize=4000000)
endif()
if(PACELINE_SANITIZE)
  target_compile_options(paceline_flags INTERFACE
    -fsanitize=${PACELINE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    # These double the time to compile; the address sanitizer finds what they would.
    -fno-sanitize=vptr,object-size,null
    # Not even undefined where floats are as IEEE 754 has them, and Highway does it.
    -fno-sanitize=float-cast-overflow)
  target_link_options(paceline_flags INTERFACE -fsanitize=${PACELINE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # What a sanitizer adds hides from GCC that values are set.
    target_compile_options(paceline_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

# What most sources include and nobody here edits is parsed once: a quarter of the build.
set(PACELINE_COMMON_HEADERS
  <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <deque> <filesystem> <fstream>
  <functional> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread>
  <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>)
add_library(paceline_common_headers OBJECT ${CMAKE_CURRENT_LIST_DIR}/common_headers.cc)
target_link_libraries(paceline_common_headers PRIVATE paceline_flags fmt::fmt nlohmann_json::nlohmann_json)
target_precompile_headers(paceline_common_headers PRIVATE ${PACELINE_COMMON_HEADERS})

# paceline_unity(result net src 30 a.cc b.cc) gives the sources of the current folder, with
# PACELINE_UNITY thirty in one: files of #includes that name them from the root's folder src. CMake's
# own files of this kind name them by absolute paths, and a clone elsewhere would compile anew.
function(paceline_unity result name folder size)
  if(NOT PACELINE_UNITY)
    set(${result} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  file(RELATIVE_PATH here ${PACELINE_ROOT}/${folder} ${CMAKE_CURRENT_SOURCE_DIR})
  set(rest ${ARGN})
  set(units)
  while(rest)
    list(SUBLIST rest 0 ${size} sources)
    list(REMOVE_ITEM rest ${sources})
    list(TRANSFORM sources REPLACE "(.+)" "#include \"${here}/\\1\"\n")
    list(JOIN sources "" text)
    list(LENGTH units number)
    list(APPEND units ${CMAKE_CURRENT_BINARY_DIR}/${name}_${number}.cc)
    file(CONFIGURE OUTPUT ${name}_${number}.cc CONTENT "${text}" @ONLY)
  endwhile()
  set(${result} ${units} PARENT_SCOPE)
endfunction()

# Intrinsics take constants, which without optimization are none; the headers that others have parsed
# without it are of no use then.
function(paceline_kernels)
  if(CMAKE_BUILD_TYPE STREQUAL Debug)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# paceline_library(net SOURCES a.cc b.cc DEPENDS base asio) makes the library
# paceline_net, known to the others as paceline::net, out of the current folder. KERNELS are
# sources that include themselves once for each kind of processor, so each is compiled alone, and
# so are those of ALONE. OPTIONS are for the compiler; a library that has any cannot use the headers
# parsed with others.
function(paceline_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;KERNELS;ALONE;DEPENDS;PRIVATE;OPTIONS" ${ARGN})
  paceline_unity(sources ${name} src 30 ${arg_SOURCES})
  add_library(paceline_${name} STATIC ${sources} ${arg_KERNELS} ${arg_ALONE})
  add_library(paceline::${name} ALIAS paceline_${name})
  paceline_kernels(${arg_KERNELS})
  target_include_directories(paceline_${name} PUBLIC
    $<BUILD_INTERFACE:${PACELINE_ROOT}/src>
    $<INSTALL_INTERFACE:include> $<INSTALL_INTERFACE:include/paceline>)
  target_link_libraries(paceline_${name}
    PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:paceline_flags>)
  set_target_properties(paceline_${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS paceline_${name} EXPORT PacelineTargets ARCHIVE DESTINATION lib/paceline)
  if(arg_OPTIONS)
    target_compile_options(paceline_${name} PRIVATE ${arg_OPTIONS})
  else()
    target_precompile_headers(paceline_${name} REUSE_FROM paceline_common_headers)
  endif()
endfunction()

# paceline_protobuf(net hello.proto) compiles a .proto of the current folder into
# paceline_net; it is included as "session/hello.pb.h".
function(paceline_protobuf name proto)
  set(generated ${CMAKE_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${generated}/${name})
  set(stem ${generated}/${name}/${proto})
  string(REPLACE ".proto" ".pb" stem ${stem})
  add_custom_command(OUTPUT ${stem}.cc ${stem}.h
    COMMAND protobuf::protoc --proto_path=${PACELINE_ROOT}/src --cpp_out=${generated}
            ${PACELINE_ROOT}/src/${name}/${proto}
    DEPENDS ${PACELINE_ROOT}/src/${name}/${proto})
  # The generated code is not ours to warn about.
  add_library(paceline_${name}_proto OBJECT ${stem}.cc ${stem}.h)
  target_include_directories(paceline_${name}_proto SYSTEM PUBLIC ${generated})
  target_link_libraries(paceline_${name}_proto PUBLIC protobuf::libprotobuf)
  if(PACELINE_SANITIZE)
    target_compile_options(paceline_${name}_proto PRIVATE -fsanitize=${PACELINE_SANITIZE})
  endif()
  target_sources(paceline_${name} PRIVATE $<TARGET_OBJECTS:paceline_${name}_proto>)
  add_dependencies(paceline_${name} paceline_${name}_proto)
  target_include_directories(paceline_${name} SYSTEM PUBLIC $<BUILD_INTERFACE:${generated}>)
  target_link_libraries(paceline_${name} PUBLIC protobuf::libprotobuf)
endfunction()
