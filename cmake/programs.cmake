# What tests, examples and benchmarks have in common: warnings, this machine's CPU, and CUDA where it is asked for.
# None of it reaches users of tenon::tenon.
# SPDX-License-Identifier: Apache-2.0
include(CheckCXXCompilerFlag)
include(CheckLinkerFlag)

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_EXTENSIONS OFF)
add_library(tenon_program INTERFACE)
target_link_libraries(tenon_program INTERFACE tenon::tenon)
set(warnings -Wall -Wextra -Wconversion)
target_compile_options(tenon_program INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings};-Wpedantic>")
# Files that compile together are one scope, in which a name of one may hide a name of another.
set(alone "$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>")
target_compile_options(tenon_program INTERFACE
  "$<$<AND:$<COMPILE_LANGUAGE:CXX>,${alone}>:-Wshadow>" "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,${alone}>:-Xcompiler=-Wshadow>")
if(TENON_WARNINGS_AS_ERRORS)
  target_compile_options(tenon_program INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(TENON_FILL)
  target_compile_definitions(tenon_program INTERFACE TENON_FILL=1)
endif()
if(TENON_SANITIZE)
  set(flags -fsanitize=${TENON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  list(APPEND flags -w)  # the preset test has the same compiler and the same files
  if(TENON_SANITIZE MATCHES "address")
    # Null is found by a fault; the others say nothing of unoptimised code and of classes without virtual functions.
    list(APPEND flags -fno-sanitize=null,object-size,vptr)
  endif()
  target_compile_options(tenon_program INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${flags}>")
  target_link_options(tenon_program INTERFACE -fsanitize=${TENON_SANITIZE})
endif()
check_linker_flag(CXX -fuse-ld=lld TENON_HAS_LLD)  # links a room of tests in an eighth of the time of GNU ld
if(TENON_HAS_LLD)
  target_link_options(tenon_program INTERFACE $<$<LINK_LANGUAGE:CXX>:-fuse-ld=lld>)
endif()
if(TENON_NATIVE)
  check_cxx_compiler_flag(-march=native TENON_HAS_MARCH_NATIVE)
  # clang++ 19 warns of its own choice of features on some processors: "+avx10.1-256; will be promoted to avx10.1-512".
  check_cxx_compiler_flag(-Winvalid-feature-combination TENON_HAS_FEATURE_WARNING)
  if(TENON_HAS_MARCH_NATIVE)
    target_compile_options(tenon_program INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-march=native>"
      "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${TENON_HAS_FEATURE_WARNING}>>:-Wno-invalid-feature-combination>")
  endif()
endif()

# Ranks that MPI connects, in tests and examples; sanitizers would report what MPI itself keeps.
set(TENON_MPI AUTO CACHE STRING "Tests and examples on several processes, through MPI: AUTO, ON or OFF")
set(MPI_CXX_SKIP_MPICXX ON)  # its C functions are enough
if(NOT TENON_SANITIZE)
  tenon_find(TENON_MPI MPI COMPONENTS CXX)
endif()
set(TENON_HAS_MPI "${MPI_CXX_FOUND}")
# Lets tests run on several ranks of this machine, as root too, on fewer cores than ranks: for Open MPI 4 and 5.
set(TENON_MPI_ENVIRONMENT "OMP_NUM_THREADS=1;OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
  "OMPI_MCA_rmaps_base_oversubscribe=1;PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe")

option(TENON_COMPILE_ONLY "Tests are compiled to see that they compile: no code of the host, slow kernels" OFF)

set(TENON_HAS_CUDA OFF)
if(TENON_CUDA)
  include(CheckLanguage)
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(TENON_NVCC nvcc PATHS /usr/local/cuda/bin)  # where the toolkit lies when no PATH names it
    if(TENON_NVCC)
      set(CMAKE_CUDA_COMPILER "${TENON_NVCC}")
    endif()
  endif()
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "TENON_CUDA is ${TENON_CUDA}, but no CUDA compiler was found")
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90a-real 120-real 120-virtual)
  endif()
  enable_language(CUDA)
  if(CMAKE_CUDA_ARCHITECTURES STREQUAL "native")
    if(NOT CMAKE_CUDA_ARCHITECTURES_NATIVE)
      message(FATAL_ERROR "No GPU answers on this machine, so there is no native CUDA architecture to compile for; "
        "the preset test needs no GPU, the preset cuda only compiles.")
    endif()
    # Hopper's matrix instructions exist for 90a alone.
    string(REGEX REPLACE "(^|;)90(-real)?" "\\190a-real" CMAKE_CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES_NATIVE}")
  endif()
  set(TENON_HAS_CUDA ON)
endif()
if(TENON_HAS_CUDA)
  # Architectures side by side: the last source would else keep one core busy for minutes.
  target_compile_options(tenon_program INTERFACE $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:--threads=2>)
  list(JOIN warnings "," warning_list)
  target_compile_options(tenon_program INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${warning_list}>)
  if(TENON_WARNINGS_AS_ERRORS)
    target_compile_options(tenon_program INTERFACE
      "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Werror;-Werror=all-warnings>")
  endif()
  if(TENON_COMPILE_ONLY)
    include(CheckCompilerFlag)
    check_compiler_flag(CUDA -Ofc=max TENON_HAS_FAST_COMPILE)
    if(TENON_HAS_FAST_COMPILE)
      target_compile_options(tenon_program INTERFACE $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-Ofc=max>)
    endif()
    set(CMAKE_CUDA_FLAGS_RELEASE "-O0")
  endif()
endif()

# Sources as CUDA: generated .cu files that include them, so that one text is compiled twice. Sets `result`.
# tenon_cuda_sources(result [JOINED <how many in a file>] SOURCES <source>...)
function(tenon_cuda_sources result)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "JOINED" "SOURCES")
  if(NOT arg_JOINED)
    set(arg_JOINED 1)
  endif()
  set(wrappers "")
  while(arg_SOURCES)
    list(SUBLIST arg_SOURCES 0 ${arg_JOINED} joined)
    list(REMOVE_ITEM arg_SOURCES ${joined})
    list(GET joined 0 first)
    cmake_path(RELATIVE_PATH first BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE name)
    cmake_path(REPLACE_EXTENSION name LAST_ONLY cu)
    list(TRANSFORM joined REPLACE ".+" "#include \"\\0\"\n")
    list(JOIN joined "" content)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/cuda/${name}" CONTENT "${content}" @ONLY)
    list(APPEND wrappers "${PROJECT_BINARY_DIR}/cuda/${name}")
  endwhile()
  set(${result} "${wrappers}" PARENT_SCOPE)
endfunction()

# An executable `name` of `sources` and, with CUDA, `name`_cuda of the same sources.
function(tenon_add_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE tenon_program)
  if(TENON_HAS_CUDA)
    tenon_cuda_sources(wrappers SOURCES ${ARGN})
    add_executable(${name}_cuda ${wrappers})
    target_link_libraries(${name}_cuda PRIVATE tenon_program)
  endif()
endfunction()
