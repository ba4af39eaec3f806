// tenon/products.hpp: what multiplies: matrix products, convolutions, attention, interpolation.
// A door beside expressions.hpp, which it does not bring; tenon.hpp brings both.
// Floor 6: may include base, core, device, expr, plan, host, kernels, contraction, evaluate.
// SPDX-License-Identifier: Apache-2.0
#pragma once

// clang-format off
// First what asserts what users meet, as in expressions.hpp.
#include <tenon/core/extents.hpp>
#include <tenon/core/view.hpp>
#include <tenon/core/tensor.hpp>
#include <tenon/expr/convolve.hpp>
#include <tenon/expr/matmul.hpp>
#include <tenon/expr/einsum.hpp>
// clang-format on

#include <tenon/contraction/execute.hpp>
#include <tenon/evaluate.hpp>
#include <tenon/expr/attention.hpp>
#include <tenon/expr/rotary_embedding.hpp>
#include <tenon/expr/tensordot.hpp>
#include <tenon/expr/views/interpolation.hpp>
#include <tenon/host/interpolation.hpp>

#if TENON_COMPILED != 0
#include <tenon/contraction/engines.hpp>
#endif
