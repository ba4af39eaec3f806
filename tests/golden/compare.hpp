// tests/golden/compare.hpp: whether an array is the expected one.
// Integers and bool must be equal, floating elements within a tolerance; NaN equals NaN.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "golden/array.hpp"

namespace golden {

/// |actual - expected| <= absolute + relative * |expected|
struct tolerance {
  double relative, absolute;
};
using tolerance_table = std::map<std::string, tolerance>;

/// What differs, in words; empty when nothing does.
std::string difference(const array& actual, const array& expected, const tolerance_table& tolerances);

}  // namespace golden
