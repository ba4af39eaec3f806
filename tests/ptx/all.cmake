# The preset test-ptx-all: every test file that the preset `cuda` compiles, the algorithms that CUB does, golden
# cases, and a short epoch of examples/mnist, executed as PTX. Conformance cases come from examples/onnx.
# SPDX-License-Identifier: Apache-2.0

# A program of sources that nvcc compiles as PTX, on the machine.
function(tenon_add_ptx_program target)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE tenon_test_program ptx_machine)
  tenon_make_ptx(${target})
  add_dependencies(ptx_programs ${target})
endfunction()

list(APPEND tenon_test_arguments "${without_early_read}")
foreach(room IN ITEMS device kernels contraction expr operations nn algorithms)
  if(room STREQUAL "operations")
    set(folder expr/operations)
  else()
    set(folder ${room})
  endif()
  file(GLOB_RECURSE files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/*.cpp")
  list(FILTER files EXCLUDE REGEX "/contraction/host")
  if(room STREQUAL "expr")
    list(FILTER files EXCLUDE REGEX "/expr/operations/")
  endif()
  tenon_files_of_spaces(files "${files}")
  list(FILTER files EXCLUDE REGEX "/nn/(${composed_layers})\\.cpp$")
  tenon_cuda_sources(wrappers JOINED ${tenon_cuda_files_joined} SOURCES ${files})
  tenon_add_ptx_program(ptx_${room} ${wrappers})
  target_link_libraries(ptx_${room} PRIVATE ptx_main)
  tenon_join_files(ptx_${room})
  tenon_register_tests(ptx_${room} ".ptx" "ptx" "${files}")
endforeach()

# Rooms whose kernels differ between architectures, as other devices find them.
foreach(room_and_architecture IN ITEMS "device 75" "kernels 75" "contraction 75" "contraction 80")
  separate_arguments(room_and_architecture)
  list(POP_FRONT room_and_architecture room architecture)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${room}/*.cpp")
  list(FILTER files EXCLUDE REGEX "/contraction/host")
  tenon_files_of_spaces(files "${files}")
  tenon_cuda_sources(wrappers JOINED ${tenon_cuda_files_joined} SOURCES ${files})
  tenon_add_ptx_program(ptx_${room}_${architecture} ${wrappers})
  target_link_libraries(ptx_${room}_${architecture} PRIVATE ptx_main)
  tenon_join_files(ptx_${room}_${architecture})
  set_target_properties(ptx_${room}_${architecture} PROPERTIES CUDA_ARCHITECTURES "${architecture}-virtual")
  tenon_register_tests(ptx_${room}_${architecture} ".ptx${architecture}" "ptx" "${files}")
endforeach()

# The families of cases are those of the host's tests.
find_package(nlohmann_json QUIET)
if(nlohmann_json_FOUND AND EXISTS "${TENON_SHARED_DIR}/golden/cases.json")
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/golden/*.cpp")
  tenon_cuda_sources(wrappers SOURCES ${files})
  tenon_add_ptx_program(ptx_golden ${wrappers})
  target_link_libraries(ptx_golden PRIVATE nlohmann_json::nlohmann_json)
  add_test(NAME golden.ptx COMMAND ptx_golden "${TENON_SHARED_DIR}/golden" --device cuda)
  set_tests_properties(golden.ptx PROPERTIES TIMEOUT 3600 LABELS ptx ENVIRONMENT TENON_PTX_REPORT=1
    FAIL_REGULAR_EXPRESSION "skipped: ")
else()
  message(STATUS "tests/ptx: the golden cases are left out, there is no nlohmann_json or no cases.json")
endif()

file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/mnist/*.cpp")
tenon_cuda_sources(wrappers SOURCES ${files})
tenon_add_ptx_program(ptx_mnist ${wrappers})
add_test(NAME examples/mnist.ptx COMMAND ptx_mnist --device cuda --limit 64 --epochs 1)
set_tests_properties(examples/mnist.ptx PROPERTIES TIMEOUT 1800 LABELS ptx ENVIRONMENT TENON_PTX_REPORT=1
  PASS_REGULAR_EXPRESSION "test accuracy: [01]\\." FAIL_REGULAR_EXPRESSION "ERROR: ")
