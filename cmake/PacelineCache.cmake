# What was compiled before, in this clone or in one at another path, comes from ccache where it is
# installed (-DPACELINE_CCACHE= goes without). So no path of this machine may reach the compiler's
# output: ccache makes paths below the root relative, the map does so for what is left.
get_filename_component(PACELINE_ROOT ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
add_compile_options(-ffile-prefix-map=${PACELINE_ROOT}=.)

find_program(PACELINE_CCACHE ccache)
if(PACELINE_CCACHE)
  set(PACELINE_LAUNCHER env CCACHE_BASEDIR=${PACELINE_ROOT} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime)
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    set(CMAKE_CXX_COMPILER_LAUNCHER
      ${PACELINE_LAUNCHER} CCACHE_PCH_EXTSUM=1 ${PACELINE_ROOT}/tools/compile ${PACELINE_CCACHE})
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  else()
    # A precompiled header is known by its bytes, which ccache gives back as they were; it asks to be
    # told that this is enough.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${PACELINE_LAUNCHER} ${PACELINE_CCACHE})
    add_compile_options(-fpch-preprocess)
  endif()
endif()
