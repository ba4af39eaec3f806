// tests/kernels/pointwise.cpp: the kernel of pointwise statements.
// Sizes around blocks, more positions than threads, strided and permuted operands.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/kernels/pointwise.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

using tenon::range;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;

TEMPLATE_LIST_TEST_CASE("threads stride over more positions than there are", "[pointwise]", tenon_test::kernel_spaces) {
  const auto x = counting<float, TestType>(rank<1>(1000));
  tenon::tensor<float, rank<1>, TestType> y({1000});
  const auto node = tenon::as_node(x * 2);
  using target = tenon::strided_target<float, 1>;
  const auto program = node.template lower<0>(tenon::identity_map<1>());
  const tenon::pointwise_kernel<1, target, std::remove_const_t<decltype(program)>> kernel{
      tenon::numbered_positions<1>(tenon::array<tenon::index, 1>{{1000}}), target{y.data(), {{1}}}, program};
  tenon::launch<TestType>(tenon::launch_shape{.grid = {2}, .block = 64}, kernel);
  CHECK(numbers_of(y) == numbers_of(x * 2));
}

TEMPLATE_LIST_TEST_CASE("every size around a block", "[pointwise]", tenon_test::kernel_spaces) {
  for (const tenon::index count : {1, 31, 255, 256, 257, 5000}) {
    const auto x = counting<float, TestType>(rank<1>(count));
    auto y = tenon::full<float, TestType>(rank<1>(count + 2), -1.0f);
    tenon::slice(y, range(1, count + 1)) = x + 0.5f;
    const auto found = numbers_of(y);
    CAPTURE(count);
    CHECK(found.front() == -1);
    CHECK(found[static_cast<std::size_t>(count)] == static_cast<double>(count) - 0.5);
    CHECK(found.back() == -1);
  }
}

TEMPLATE_LIST_TEST_CASE("strided, permuted and broadcast operands give what the host gives", "[pointwise]",
                        tenon_test::kernel_spaces) {
  const auto x = counting<float>(rank<3>(5, 6, 7)), y = counting<float>(rank<3>(7, 1, 5), 3);
  const auto statement = [](const auto& a, const auto& b) {
    return tenon::evaluated_tensor(tenon::permute(a, tenon::axis<2, 1, 0>) * b -
                                   tenon::slice(b, range(tenon::open_end, tenon::open_end, -1)));
  };
  CHECK(numbers_of(statement(x.to<TestType>(), y.to<TestType>())) == numbers_of(statement(x, y)));
}
