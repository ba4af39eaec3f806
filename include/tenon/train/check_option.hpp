// tenon/train/check_option.hpp: what refuses options of optimizers and schedules that make no sense.
// Comparisons are false for NaN, so NaN is refused as well.
// Floor 8: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <tenon/base/array.hpp>
#include <tenon/base/error.hpp>

namespace tenon::train {

/// throws    error where an option of `owner` is below `least`, or not below `end`
inline void check_option(const char* owner, const char* option, double given, double least,
                         double end = std::numeric_limits<double>::infinity()) {
  if (given >= least && given < end) return;
  if (std::isinf(given) && std::isinf(end)) {
    throw error(compose_text(owner, ": ", option, ": ", given, ", expected a finite number"));
  }
  throw error(compose_text(owner, ": ", option, ": ", given, ", expected at least ", least,
                           std::isinf(end) ? std::string() : compose_text(" and below ", end)));
}
/// The same of a whole number.
inline void check_option(const char* owner, const char* option, index given, index least) {
  if (given < least) throw error(compose_text(owner, ": ", option, ": ", given, ", expected at least ", least));
}
/// throws    error where a share of `owner` is not within [0, 1]
inline void check_share(const char* owner, const char* option, double given) {
  if (given >= 0 && given <= 1) return;
  throw error(compose_text(owner, ": ", option, ": ", given, ", expected at least 0 and at most 1"));
}
/// throws    error where an option that may be negative is NaN or infinite
inline void check_finite(const char* owner, const char* option, double given) {
  if (!std::isfinite(given)) {
    throw error(compose_text(owner, ": ", option, ": ", given, ", expected a finite number"));
  }
}

}  // namespace tenon::train
