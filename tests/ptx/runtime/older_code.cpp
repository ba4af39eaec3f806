// tests/ptx/runtime/older_code.cpp: a program for sm_75, as nvcc makes it by default, on a device for sm_90.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <tenon/contraction/attention_gradient_select.hpp>
#include <tenon/contraction/attention_select.hpp>
#include <tenon/tenon.hpp>
#include <type_traits>

#include "support/catch.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::cuda;
using tenon::half;

tenon::tensor<half, tenon::rank<3>, cuda> ones_of(tenon::index rows) { return tenon::ones<half, cuda>({1, rows, 16}); }

/// Attention by the kernel with scores in registers, whatever the device is.
void attend_in_registers() {
  using tenon::operand_matrix;
  using tenon::operand_side;
  const auto query = ones_of(20), key = ones_of(30), value = ones_of(30);
  const auto node = tenon::scaled_dot_product_attention(query, key, value);
  auto result = ones_of(20);
  tenon::detail::run_register_attention<cuda, 64>(
      node, tenon::make_operand<half, operand_side::left>(operand_matrix<0>(node), 20, 16),
      tenon::make_operand<half, operand_side::right>(operand_matrix<1>(node), 16, 30),
      tenon::make_operand<half, operand_side::right>(operand_matrix<2>(node), 30, 16), operand_matrix<3>(node),
      operand_matrix<4>(node),
      tenon::make_kernel_epilogue<std::remove_const_t<decltype(node)>>(
          tenon::strided_target<half, 3>{result.data(), result.strides()}, node));
}

/// The same of its gradients, by their first pass.
void differentiate_in_registers() {
  const auto query = ones_of(20), key = ones_of(30), value = ones_of(30), gradient = ones_of(20);
  const auto node = tenon::scaled_dot_product_attention(query, key, value);
  const auto extents = tenon::extents_of_product(node);
  const tenon::attention_operands operands(node, as_node(gradient), extents);
  const tenon::register_gradient_operands of_queries{tenon::detail::left_operand<half>(operands.query, 20, 16),
                                                     tenon::detail::right_operand<half>(operands.key, 30, 16),
                                                     tenon::detail::left_operand<half>(operands.gradient, 20, 16),
                                                     tenon::detail::right_operand<half>(operands.value, 30, 16),
                                                     operands.bias,
                                                     operands.factor};
  tenon::tensor<float, tenon::rank<1>, cuda> sums({40});
  const tenon::strided_target<half, 3> nowhere{nullptr, {}};
  tenon::detail::run_register_pass<cuda, 64, tenon::attention_pass::sums>(node, of_queries, nowhere, nowhere,
                                                                          sums.data());
}

}  // namespace

TEST_CASE("kernels are chosen for the architecture that they were made for", "[ptx]") {
  const int device = tenon::current_cuda_device();
  CHECK(tenon::properties_of(device).architecture == 90);
  CHECK(tenon::space_devices<cuda>::architecture() == 75);
}

TEST_CASE("a kernel that its code's architecture lacks fails, and does not end in silence", "[ptx]") {
  for (void (*const run)() : {&attend_in_registers, &differentiate_in_registers}) {
    const std::string text = tenon_test::text_of<tenon::cuda_error>(run);
    CHECK(tenon_test::has(text, "trap: the kernel ended itself"));
  }
}
