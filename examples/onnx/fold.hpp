// examples/onnx/fold.hpp: operators of elements that are all known, computed when a model is converted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "call.hpp"

namespace onnx_in {

/// Computes a node whose inputs are all known; false where it is none of these or there is no rule for it.
bool fold_elements(const call& now);

}  // namespace onnx_in
