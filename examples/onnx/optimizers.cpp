// examples/onnx/optimizers.cpp: steps of optimizers as operators, from ONNX's domain of training.
// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"

namespace onnx_in {

namespace {

/// R, T, then parameters, their gradients and their sums of squares; new parameters, then new sums.
void write_adagrad(const call& each) {
  const std::size_t count = (each.count() - 2) / 3;
  if (each.count() != 2 + 3 * count) each.refuse("has " + std::to_string(each.count()) + " inputs, expected 2 + 3 n");
  const auto number = [&](const char* name) { return literal(float32, each.number(name, 0)); };
  const std::string rate = each.net.named(each.code(0, binding::product) + " / (1.0f + tn::cast<float>(" +
                                          each.code(1) + ") * " + number("decay_factor") + ")");
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = 2 + i;
    const extents& all = each.in(at).extents;
    const std::string x = each.code(at, binding::product);
    const std::string gradient = each.net.named(number("norm_coefficient") + " * " + x + " + " + each.code(at + count));
    const std::string squares =
        each.net.named(each.code(at + 2 * count, binding::sum) + " + tn::square(" + gradient + ")");
    each.result(all, x + " - " + rate + " * " + gradient + " / (tn::sqrt(" + squares + ") + " + number("epsilon") + ")",
                binding::sum, float32, i);
    each.result(all, squares, binding::tight, float32, count + i);
  }
}

constexpr row optimizer_table[] = {{"Adagrad", write_adagrad, "ai.onnx.preview.training"}};

}  // namespace

std::span<const row> optimizer_rows() { return optimizer_table; }

}  // namespace onnx_in
