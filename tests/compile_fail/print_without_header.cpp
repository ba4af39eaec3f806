// expect: tenon: to print tensors include <tenon/io/print.hpp>
// tests/compile_fail/print_without_header.cpp: a tensor into a stream behind the smallest door alone.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <iostream>
#ifndef MISUSE
#include <tenon/io/print.hpp>
#endif

void print(const tenon::tensor<float, tenon::rank<2>>& a) { std::cout << a; }
