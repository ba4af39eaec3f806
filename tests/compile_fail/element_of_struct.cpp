// expect: tenon: elements are numbers
// lines: 14: g++ says first by which headers it came
// tests/compile_fail/element_of_struct.cpp: a tensor of records.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

struct trade {
  int number;
  double price;
};
#ifdef MISUSE
tenon::tensor<trade, tenon::rank<1>> trades({3});
#else
tenon::tensor<double, tenon::rank<1>> trades({3});
#endif
