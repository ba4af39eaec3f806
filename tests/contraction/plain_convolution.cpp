// tests/contraction/plain_convolution.cpp: convolutions whose windows are single elements.
// As which product each is taken, and its results in either layout, against sums over all products in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/plain_convolution.hpp>

#include "contraction/kernel_cases.hpp"
#include "support/convolution.hpp"

namespace {

using tenon::rank;
using tenon_test::numbers_of;
using problem = tenon_test::convolution_problem<2>;

/// Rows, columns, depth and batches of the product that a convolution is; empty where it is none.
template <class Node>
std::vector<tenon::index> product_of(const Node& node) {
  std::vector<tenon::index> found;
  if constexpr (tenon::detail::lies_in_memory<Node>) {
    if (!tenon::is_plain_product(node)) return {};
    const auto extents = tenon::extents_of_product(tenon::plain_convolution<Node>{node});
    found = {extents.rows, extents.columns, extents.depth, extents.batch_count()};
  }
  return found;
}

template <class T, class Space>
void check_plain(const problem& p) {
  const auto image = tenon_test::random_tensor<T>(rank<4>(p.image), 1),
             weight = tenon_test::random_tensor<T>(rank<4>(p.weight), 2);
  const auto x = numbers_of(image), w = numbers_of(weight);
  std::vector<double> expected(static_cast<std::size_t>(rank<4>(p.result()).count()));
  p.for_each_product([&](auto at, auto pixel, auto tap) { expected[at] += x[pixel] * w[tap]; });
  const double bound = 20 * tenon_test::roundoff<T> + 1e-4;
  const auto y = image.template to<Space>(), v = weight.template to<Space>();
  const auto last = tenon::evaluated_tensor(tenon::permute(y, tenon::axis<0, 2, 3, 1>));
  const auto turned = tenon::permute(last, tenon::axis<0, 3, 1, 2>);
  CHECK(tenon_test::difference(numbers_of(tenon::convolve(y, v, p.geometry) + 0), expected, bound) == "");
  CHECK(tenon_test::difference(numbers_of(tenon::convolve(turned, v, p.geometry)), expected, bound) == "");
}

}  // namespace

TEST_CASE("windows of single elements are products in memory", "[plain_convolution]") {
  using list = std::vector<tenon::index>;
  const auto image = tenon_test::counting<tenon::half>(rank<4>(3, 10, 4, 5)),
             last = tenon_test::counting<tenon::half>(rank<4>(3, 4, 5, 10)),
             weight = tenon_test::counting<tenon::half>(rank<4>(12, 10, 1, 1));
  const auto turned = tenon::permute(last, tenon::axis<0, 3, 1, 2>);
  CHECK(product_of(tenon::convolve(image, weight)) == list{12, 20, 10, 3});
  CHECK(product_of(tenon::convolve(turned, weight)) == list{12, 20, 10, 3});
  CHECK(product_of(tenon::convolve(image, weight, {.padding = {{1, 0}}})).empty());
  CHECK(product_of(tenon::convolve(image, weight, {.stride = {{1, 2}}})).empty());
  CHECK(product_of(tenon::convolve(image * 2, weight)).empty());
  const auto wide = tenon_test::counting<tenon::half>(rank<4>(12, 10, 1, 3));
  CHECK(product_of(tenon::convolve(image, wide)).empty());
  const auto half_as_deep = tenon_test::counting<tenon::half>(rank<4>(12, 5, 1, 1));
  CHECK(product_of(tenon::convolve(image, half_as_deep, {.groups = 2})) == list{6, 20, 5, 6});
  const auto gradient = tenon_test::counting<tenon::half>(rank<4>(3, 12, 4, 5));
  CHECK(product_of(tenon::convolve_image_gradient(gradient, weight, {{4, 5}})) == list{10, 20, 12, 3});
}

TEMPLATE_LIST_TEST_CASE("results of windows of single elements", "[plain_convolution]", tenon_test::kernel_spaces) {
  check_plain<tenon::half, TestType>({{{3, 10, 4, 5}}, {{12, 10, 1, 1}}, {}});
  check_plain<float, TestType>({{{2, 40, 5, 7}}, {{3, 40, 1, 1}}, {}});
  check_plain<float, TestType>({{{2, 20, 3, 8}}, {{20, 10, 1, 1}}, {.groups = 2}});
  const auto gradient = tenon_test::random_tensor<tenon::half>(rank<4>(3, 12, 4, 5), 1),
             weight = tenon_test::random_tensor<tenon::half>(rank<4>(12, 10, 1, 1), 2);
  const auto operation = [](const auto& g, const auto& w) {
    return tenon::evaluated_tensor(tenon::convolve_image_gradient(g, w, {{4, 5}}));
  };
  const auto found = operation(gradient.template to<TestType>(), weight.template to<TestType>());
  CHECK(tenon_test::difference(numbers_of(found), numbers_of(operation(gradient, weight)), 0.02) == "");
}
