# Files of MNIST without images: which file that is must be said, before a training.
# Variables: program, which takes --data and --epochs; folder, which this may overwrite.
# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/expect.cmake")

# `count` black digits in the files that begin with `part`.
function(write_digits part count)
  math(EXPR pixels "${count} * 784")
  write_binary("${folder}/${part}-images-idx3-ubyte"
    "\\000\\000\\010\\003\\000\\000\\000\\00${count}\\000\\000\\000\\034\\000\\000\\000\\034" ${pixels} 000)
  write_binary("${folder}/${part}-labels-idx1-ubyte" "\\000\\000\\010\\001\\000\\000\\000\\00${count}" ${count} 000)
endfunction()

file(REMOVE_RECURSE "${folder}")
file(MAKE_DIRECTORY "${folder}")
write_digits(train 0)
write_digits(t10k 4)
expect_run(2 "/train-images-idx3-ubyte: it holds no images, expected at least 1" --data "${folder}" --epochs 1)
write_digits(train 4)
write_digits(t10k 0)
expect_run(2 "/t10k-images-idx3-ubyte: it holds no images, expected at least 1" --data "${folder}" --epochs 1)
write_digits(t10k 4)
expect_run(0 "test (accuracy|loss): [0-9]" --data "${folder}" --epochs 1)
