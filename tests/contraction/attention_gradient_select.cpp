// tests/contraction/attention_gradient_select.cpp: which kernels make gradients of attention.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/attention_gradient_select.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

using tenon_test::numbers_of;

TEMPLATE_LIST_TEST_CASE("gradients of attention are three launches, one of them alone two", "[attention]",
                        tenon_test::kernel_spaces) {
  using cube = tenon::tensor<float, tenon::rank<3>, TestType>;
  const cube x = tenon::uniform<float>(tenon::rank<3>(2, 9, 8), 1, -1.0f, 1.0f);
  cube query(x.shape()), key(x.shape()), value(x.shape());
  const auto node = tenon::scaled_dot_product_attention(x, x, x);
  const tenon::launch_counter counter;
  tenon::write_attention_gradients(node, tenon::as_node(x), query.write_view(), key.write_view(), value.write_view());
  CHECK(counter.count() == 3);
  const cube alone = tenon::make_attention_gradient<1>(node, tenon::as_node(x));
  CHECK(counter.count() == 5);
  CHECK(numbers_of(alone) == numbers_of(key));
}
