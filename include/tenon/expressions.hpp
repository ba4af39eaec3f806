// tenon/expressions.hpp: door 1: tensors, expressions, evaluation.
// The smallest door; what every program of Tenon needs.
// Floor 6: may include base, core, device, expr, plan, host, kernels, contraction, algorithms, evaluate.
// SPDX-License-Identifier: Apache-2.0
#pragma once

// clang-format off
// First what asserts what users meet, each before what includes it: a file reached by way of others begins a compiler's
// message with a line for each of them.
#include <tenon/core/extents.hpp>
#include <tenon/core/view.hpp>
#include <tenon/core/tensor.hpp>
#include <tenon/expr/pointwise.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/slice.hpp>
#include <tenon/expr/convolve.hpp>
#include <tenon/expr/matmul.hpp>
#include <tenon/expr/einsum.hpp>
#include <tenon/algorithms/lines.hpp>
// clang-format on

#include <tenon/algorithms/histogram.hpp>
#include <tenon/algorithms/scan.hpp>
#include <tenon/algorithms/scatter.hpp>
#include <tenon/algorithms/scatter_nd.hpp>
#include <tenon/algorithms/search.hpp>
#include <tenon/algorithms/select.hpp>
#include <tenon/algorithms/sort.hpp>
#include <tenon/algorithms/unique.hpp>
#include <tenon/evaluate.hpp>
#include <tenon/expr/attention.hpp>
#include <tenon/expr/compositions.hpp>
#include <tenon/expr/custom_reduce.hpp>
#include <tenon/expr/norms.hpp>
#include <tenon/expr/one_hot.hpp>
#include <tenon/expr/operations/activation.hpp>
#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/operations/bit_cast.hpp>
#include <tenon/expr/operations/bitwise.hpp>
#include <tenon/expr/operations/classification.hpp>
#include <tenon/expr/operations/comparison.hpp>
#include <tenon/expr/operations/division.hpp>
#include <tenon/expr/operations/exponential.hpp>
#include <tenon/expr/operations/hyperbolic.hpp>
#include <tenon/expr/operations/logical.hpp>
#include <tenon/expr/operations/map.hpp>
#include <tenon/expr/operations/quantise.hpp>
#include <tenon/expr/operations/rounding.hpp>
#include <tenon/expr/operations/self_gated.hpp>
#include <tenon/expr/operations/special.hpp>
#include <tenon/expr/operations/stop_gradient.hpp>
#include <tenon/expr/operations/trigonometric.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/random.hpp>
#include <tenon/expr/rotary_embedding.hpp>
#include <tenon/expr/statistics.hpp>
#include <tenon/expr/tensordot.hpp>
#include <tenon/expr/views/broadcast.hpp>
#include <tenon/expr/views/concatenate.hpp>
#include <tenon/expr/views/diagonal.hpp>
#include <tenon/expr/views/flip.hpp>
#include <tenon/expr/views/interpolation.hpp>
#include <tenon/expr/views/pad.hpp>
#include <tenon/expr/views/permute.hpp>
#include <tenon/expr/views/repeat.hpp>
#include <tenon/expr/views/reshape.hpp>
#include <tenon/expr/views/roll.hpp>
#include <tenon/expr/views/split.hpp>
#include <tenon/expr/views/take.hpp>
#include <tenon/expr/views/triangle.hpp>
#include <tenon/expr/views/window.hpp>
#include <tenon/plan/explain.hpp>
