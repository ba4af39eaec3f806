// tenon/expressions.hpp: door 1: tensors, expressions, evaluation.
// The smallest door; what every program of Tenon needs. Products, algorithms and random numbers have their own headers.
// Floor 6: may include base, core, device, expr, plan, host, kernels, evaluate.
// SPDX-License-Identifier: Apache-2.0
#pragma once

// clang-format off
// First what asserts what users meet, each before what includes it: a file reached by way of others begins a compiler's
// message with a line for each of them.
#include <tenon/core/extents.hpp>
#include <tenon/core/view.hpp>
#include <tenon/core/tensor.hpp>
#include <tenon/expr/pointwise.hpp>
#include <tenon/expr/other_headers.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/slice.hpp>
// clang-format on

#include <tenon/evaluate.hpp>
#include <tenon/expr/compositions.hpp>
#include <tenon/expr/compound_assignment.hpp>
#include <tenon/expr/custom_reduce.hpp>
#include <tenon/expr/differences.hpp>
#include <tenon/expr/joined_list.hpp>
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
#include <tenon/expr/scan.hpp>
#include <tenon/expr/statistics.hpp>
#include <tenon/expr/views/broadcast.hpp>
#include <tenon/expr/views/diagonal.hpp>
#include <tenon/expr/views/flip.hpp>
#include <tenon/expr/views/pad.hpp>
#include <tenon/expr/views/permute.hpp>
#include <tenon/expr/views/repeat.hpp>
#include <tenon/expr/views/reshape.hpp>
#include <tenon/expr/views/roll.hpp>
#include <tenon/expr/views/select.hpp>
#include <tenon/expr/views/split.hpp>
#include <tenon/expr/views/take.hpp>
#include <tenon/expr/views/triangle.hpp>
#include <tenon/expr/views/window.hpp>
#include <tenon/plan/explain.hpp>

#if TENON_COMPILED != 0
#include <tenon/host/engines.hpp>
#endif
