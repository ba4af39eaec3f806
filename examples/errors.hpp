// examples/errors.hpp: what examples throw, each with one sentence, and the check that all trainings share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

namespace example {

/// A command line that cannot be understood.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A program that did what was asked, and what came of it is of no use.
struct failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A training ends where its loss is no number any more: nothing comes of further steps. The first step is 1.
inline void check_loss(double loss, long long step) {
  if (std::isfinite(loss)) return;
  throw failed("the loss of step " + std::to_string(step) + " is " + std::to_string(loss) + "; is --rate too great?");
}

}  // namespace example
