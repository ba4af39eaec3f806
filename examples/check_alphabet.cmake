# Weights of another alphabet are refused, also where it is as large.
# Variables: program, which takes the options of examples/gpt; folder, which this may overwrite.
# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/expect.cmake")

file(REMOVE_RECURSE "${folder}")
file(MAKE_DIRECTORY "${folder}")
set(weights "${folder}/weights")
set(letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstu")  # 47, as many as the sonnets have
string(REPEAT "${letters}" 60 text)
file(WRITE "${folder}/same_size" "${text}")
string(REPEAT "${letters}vwxyz" 60 text)
file(WRITE "${folder}/larger" "${text}")
expect_run(0 "validation loss" --steps 0 --sample 0 --save "${weights}")
expect_run(0 "validation loss" --steps 0 --sample 0 --load "${weights}")
expect_run(2 "weights of another alphabet: character 0 is 10, expected `A` .65. as in the text\n" --steps 0 --sample 0
  --text "${folder}/same_size" --load "${weights}")
expect_run(2 "text.alphabet has extents .47., expected .52." --steps 0 --sample 0 --text "${folder}/larger"
  --load "${weights}")
