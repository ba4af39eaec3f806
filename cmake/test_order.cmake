# The order of tests is drawn from a seed that is printed, so that no test can lean on another one.
# TENON_TEST_SEED repeats an order; left empty, each configuration draws a new one.
# SPDX-License-Identifier: Apache-2.0
set(TENON_TEST_SEED "" CACHE STRING "Seed of the order of tests and of their cases; empty: a new one")
set(tenon_test_seed "${TENON_TEST_SEED}")
if(NOT tenon_test_seed)
  string(RANDOM LENGTH 6 ALPHABET 123456789 tenon_test_seed)
endif()
if(TENON_BUILD_TESTS)
  message(STATUS "order of tests: TENON_TEST_SEED=${tenon_test_seed}")
endif()
set(tenon_test_arguments --order rand --rng-seed ${tenon_test_seed})  # of Catch2's programs

# To be called last in a folder that adds tests: CTest starts tests of greater cost first.
function(tenon_shuffle_tests)
  get_property(tests DIRECTORY PROPERTY TESTS)
  foreach(test IN LISTS tests)
    string(MD5 hash "${tenon_test_seed} ${test}")
    string(SUBSTRING "${hash}" 0 6 digits)
    math(EXPR cost "0x${digits}")
    set_property(TEST ${test} PROPERTY COST ${cost})
  endforeach()
endfunction()
