// examples/onnx/check/weights.hpp: the numbers of the models that are checked: waves, each tensor with its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

/// `count` numbers within [-0.8, 0.8], other ones for each seed.
inline std::vector<float> waves(int seed, std::int64_t count) {
  std::vector<float> made(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i] = static_cast<float>(0.8 * std::sin(1.7 * static_cast<double>(i) + 0.9 * seed));
  }
  return made;
}
