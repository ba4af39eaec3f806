// tests/expr/attention_gradient.cpp: gradients of attention as they are named: their extents, elements and options.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/attention_gradient.hpp>

#include "support/catch.hpp"

using tenon::rank;

TEST_CASE("a gradient of attention has the operand's rows and columns and all batches", "[attention_gradient]") {
  const tenon::tensor<tenon::half, tenon::shape<2, 5, 4>> query;
  const tenon::tensor<tenon::half, rank<2>> key({7, 4}), value({7, 3});
  const tenon::tensor<float, rank<3>> gradient({2, 5, 3});
  const auto node = tenon::scaled_dot_product_attention(query, key, value, {.is_causal = true, .scale = 2});
  const auto of_query = tenon::make_attention_gradient<0>(node, tenon::as_node(gradient));
  const auto of_key = tenon::make_attention_gradient<1>(node, tenon::as_node(gradient));
  const auto of_value = tenon::make_attention_gradient<2>(node, tenon::as_node(gradient));
  CHECK(of_query.shape().to_array() == tenon::array<tenon::index, 3>{{2, 5, 4}});
  CHECK(of_key.shape().to_array() == tenon::array<tenon::index, 3>{{2, 7, 4}});
  CHECK(of_value.shape().to_array() == tenon::array<tenon::index, 3>{{2, 7, 3}});
  static_assert(std::is_same_v<decltype(of_key)::element, float>);  // half is summed up in float
  static_assert(decltype(of_query)::shape_type::static_extent(1) == 5);
  CHECK(of_key.options == tenon::attention_gradient_algorithm<1>{{.is_causal = true, .scale = 2}});
  CHECK(!(of_key.options == tenon::attention_gradient_algorithm<1>{{.scale = 2}}));
  CHECK(tenon::get<5>(of_key.operands).shape() == gradient.shape());
}
