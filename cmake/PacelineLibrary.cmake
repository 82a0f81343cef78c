# Flags every target of the project is built with.
add_library(paceline_flags INTERFACE)
target_compile_options(paceline_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Werror)
# The binary is for any machine of the architecture: wider instructions are chosen at
# run time, kernel by kernel (see src/model/linear).
if(PACELINE_SANITIZE)
  target_compile_options(paceline_flags INTERFACE
    -fsanitize=${PACELINE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(paceline_flags INTERFACE -fsanitize=${PACELINE_SANITIZE})
endif()

# paceline_library(net SOURCES a.cc b.cc DEPENDS base asio) makes the library
# paceline_net, known to the others as paceline::net, out of the current folder.
function(paceline_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;PRIVATE" ${ARGN})
  add_library(paceline_${name} STATIC ${arg_SOURCES})
  add_library(paceline::${name} ALIAS paceline_${name})
  target_include_directories(paceline_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(paceline_${name} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE} paceline_flags)
endfunction()
