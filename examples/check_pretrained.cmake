# Inputs and logits of other extents are refused by a sentence; logits that are no numbers are others than PyTorch's.
# Variables: program, of examples/pretrained; golden, the folder of a case; folder, which this may overwrite.
# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/expect.cmake")

# A file of floats whose bytes are all the same.
function(write_npy name byte)
  list(JOIN ARGN ", " shape)
  set(header "{'descr': '<f4', 'fortran_order': False, 'shape': (${shape}), }")
  string(LENGTH "${header}" length)
  math(EXPR blanks "117 - ${length}")
  string(REPEAT " " ${blanks} padding)
  list(JOIN ARGN " * " product)
  math(EXPR bytes "4 * ${product}")
  write_binary("${folder}/${name}.npy" "\\223NUMPY\\001\\000\\166\\000${header}${padding}\\n" ${bytes} ${byte})
endfunction()
# The files of the golden case.
function(restore)
  file(COPY "${golden}/model.safetensors" "${golden}/input_input.npy" "${golden}/output_logits.npy"
    DESTINATION "${folder}")
endfunction()

file(REMOVE_RECURSE "${folder}")
restore()
expect_run(0 "PyTorch's logits are at most" "${folder}")
set(expected "expected .batches, images, 3, 28, 28. with at least 1 batch of 1 image")
foreach(shape IN ITEMS "1;2;1;28;28" "0;2;3;28;28" "1;0;3;28;28" "1;2;3;28;27")
  write_npy(input_input 000 ${shape})
  list(JOIN shape ", " extents)
  expect_run(2 "input_input.npy: extents .${extents}., ${expected}" "${folder}")
endforeach()
write_npy(input_input 000 1 6 3 28 28)
expect_run(2 "output_logits.npy: extents .4, 10., expected .6, 10." "${folder}")
restore()
write_npy(output_logits 000 1 10)
expect_run(2 "output_logits.npy: extents .1, 10., expected .4, 10." "${folder}")
write_npy(output_logits 377 4 10)  # all NaN
expect_run(1 "PyTorch's logits are at most -?nan away.*these are not the logits that PyTorch stored" "${folder}")
