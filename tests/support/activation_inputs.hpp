// tests/support/activation_inputs.hpp: where activations are compared with references, and how where they cancel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/operations.hpp"

namespace tenon_test {

inline const std::vector<double> special_inputs = {0,   -0.0, 1,   -1,       0.25,      -7.5,     30,
                                                   -30, 60,   -60, infinity, -infinity, nan_value};

/// The special values, great and small ones, and steps of 1/16 across [-12, 12].
inline const std::vector<double> everywhere = [] {
  std::vector<double> all = special_inputs;
  for (const double each : {1e-30, 1e-5, 87.5, 500.0, 1e30}) all.push_back(each), all.push_back(-each);
  for (int i = -192; i <= 192; ++i) all.push_back(i / 16.0);
  return all;
}();

/// Within `bound`, relative above 1 and absolute below: for definitions that cancel.
template <class T, class Space, class Operation, class Reference>
std::string absolute_difference(const Operation& operation, const Reference& reference, double bound) {
  const auto x = repeated<T, Space>(everywhere, static_cast<tenon::index>(everywhere.size()));
  std::vector<double> expected;
  for (const double each : numbers_of(x)) expected.push_back(reference(each));
  return difference(numbers_of(operation(x)), expected, bound);
}

}  // namespace tenon_test
