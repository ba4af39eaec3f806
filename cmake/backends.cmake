# What Tenon uses on the host when it is found and never requires: OpenMP, xsimd, libpng and zlib.
# A search's result is read from its <name>_FOUND: modules make targets of what they only half find, too.
# Read by Tenon's own build and by the installed package, so the package does not depend on where it was installed.
# TENON_OPENMP, TENON_XSIMD, TENON_PNG and TENON_ZLIB: AUTO (when found; the default), ON (required) or OFF, in letters of
# either case. Other values are refused, so that nothing is left out by a slip.
# SPDX-License-Identifier: Apache-2.0
include_guard()

# Makes targets of what is found and sets `tenon_backends` to their names.
macro(tenon_find_backends)
  set(tenon_backends tenon_openmp tenon_xsimd tenon_png tenon_zlib)
  tenon_find_openmp()
  tenon_find_xsimd()
  tenon_find_reader(PNG)
  tenon_find_reader(ZLIB)
endmacro()

# Says in one line what is used and what is not, once however often the package is looked for.
function(tenon_tell_backends)
  get_property(told GLOBAL PROPERTY tenon_backends_told)
  if(tenon_FIND_QUIETLY OR told)
    return()
  endif()
  set_property(GLOBAL PROPERTY tenon_backends_told ON)
  set(with "")
  set(without "")
  foreach(name IN ITEMS OpenMP xsimd PNG ZLIB)
    string(TOLOWER "tenon_${name}" target)
    string(TOUPPER "TENON_${name}" option)
    if(TARGET ${target})
      list(APPEND with ${name})
    elseif("${${option}}" MATCHES "^([Aa][Uu][Tt][Oo])?$")
      list(APPEND without "${name} (not found)")
    else()
      list(APPEND without "${name} (${option}=${${option}})")
    endif()
  endforeach()
  list(JOIN with ", " with)
  list(JOIN without ", " without)
  string(REGEX REPLACE ".+" "with \\0" with "${with}")
  string(REGEX REPLACE ".+" "without \\0" without "${without}")
  set(parts ${with} ${without})
  list(JOIN parts "; " parts)
  message(STATUS "tenon: ${parts}")
endfunction()

function(tenon_find_openmp)
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)  # a project above this one links them as well
  tenon_find(TENON_OPENMP OpenMP COMPONENTS CXX)
  if(NOT OpenMP_CXX_FOUND OR TARGET tenon_openmp)
    return()
  endif()
  add_library(tenon_openmp INTERFACE IMPORTED GLOBAL)
  target_link_libraries(tenon_openmp INTERFACE OpenMP::OpenMP_CXX)
  string(REPLACE " " "," flags "${OpenMP_CXX_FLAGS}")
  target_compile_options(tenon_openmp INTERFACE "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-Xcompiler=${flags}>")
endfunction()

function(tenon_find_xsimd)
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
  tenon_find(TENON_XSIMD xsimd)
  if(NOT xsimd_FOUND OR TARGET tenon_xsimd)
    return()
  endif()
  add_library(tenon_xsimd INTERFACE IMPORTED GLOBAL)
  # Its headers alone: the target also names xtl, which Debian's package of xsimd does not bring.
  get_target_property(folders xsimd INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(tenon_xsimd SYSTEM INTERFACE ${folders})
  target_compile_definitions(tenon_xsimd INTERFACE TENON_XSIMD=1)
endfunction()

# A library that reads files: tenon_png of PNG::PNG, with the definition TENON_PNG.
function(tenon_find_reader package)
  string(TOLOWER "tenon_${package}" name)
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
  tenon_find(TENON_${package} ${package})
  if(NOT ${package}_FOUND OR TARGET ${name})
    return()
  endif()
  add_library(${name} INTERFACE IMPORTED GLOBAL)
  target_link_libraries(${name} INTERFACE ${package}::${package})
  target_compile_definitions(${name} INTERFACE TENON_${package}=1)
endfunction()

# find_package(<arguments>) as the option says. Words of CMake for ON and OFF will do.
macro(tenon_find option)
  if("${${option}}" MATCHES "^([Aa][Uu][Tt][Oo])?$")
    find_package(${ARGN} QUIET)
  elseif("${${option}}" MATCHES "^(1|[Oo][Nn]|[Yy]|[Yy][Ee][Ss]|[Tt][Rr][Uu][Ee])$")
    find_package(${ARGN} REQUIRED)
  elseif(NOT "${${option}}" MATCHES "^(0|[Oo][Ff][Ff]|[Nn]|[Nn][Oo]|[Ff][Aa][Ll][Ss][Ee])$")
    message(FATAL_ERROR "tenon: ${option} is `${${option}}`, expected AUTO, ON or OFF")
  endif()
endmacro()
