// tests/conformance/compare.hpp: whether an array is the expected one.
// Integers and bool must be equal, floating elements within a tolerance; NaN equals NaN.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "conformance/array.hpp"

namespace conformance {

/// |actual - expected| <= absolute + relative * |expected|
struct tolerance {
  double relative, absolute;
};
using tolerance_table = std::map<std::string, tolerance>;

/// What differs, in words; empty when nothing does.
std::string difference(const array& actual, const array& expected, const tolerance_table& tolerances);

/// What differs from a dropout: each element is 0 or the input's, scaled; and that as the mask tells, where there is
/// one.
std::string dropout_difference(const array& actual, const array* mask, const array& input, double scale);

}  // namespace conformance
