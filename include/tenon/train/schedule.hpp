// tenon/train/schedule.hpp: how the learning rate changes over the steps.
// A schedule is a pure function of the step, so a resumed training needs no state of it.
// Floor 8: may include base, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/base/array.hpp>

namespace tenon::train {

/// Half a cosine from `first` at step 0 down to zero at step `steps`.
/// source    Loshchilov, Hutter 2017 (SGDR), without restarts
inline float cosine(float first, index step, index steps) {
  if (step >= steps) return 0.0f;
  const double share = static_cast<double>(step) / static_cast<double>(steps);
  return static_cast<float>(static_cast<double>(first) * 0.5 * (1.0 + std::cos(3.14159265358979323846 * share)));
}

}  // namespace tenon::train
