// tests/nn/max_unpool.cpp: what a max pool found goes back to where it lay.
// SPDX-License-Identifier: Apache-2.0
#if defined(__CUDACC__)
#include <tenon/algorithms/cuda.hpp>
#endif
#include <tenon/nn/max_unpool.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/gradient_rows.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::numbers_of;

TEMPLATE_LIST_TEST_CASE("greatest values return to their places", "[max_unpool]", tenon_test::spaces) {
  const auto x = tenon_test::made_tensor<float, TestType>(rank<4>(2, 3, 4, 6), tenon_test::scattered);
  const nn::max_pool2d<2> pool;
  const auto y = tenon::evaluated_tensor(pool.forward(x));
  const auto places = tenon::evaluated_tensor(pool.indices(x));
  const nn::max_unpool<2> layer(2);
  const auto back = layer.forward(y, places);
  REQUIRE(back.shape() == x.shape());
  const auto given = numbers_of(x), found = numbers_of(back), greatest = numbers_of(y), at = numbers_of(places);
  double sum = 0, expected = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK((found[i] == 0 || found[i] == given[i]));
    sum += found[i];
  }
  for (std::size_t i = 0; i < at.size(); ++i) {
    expected += greatest[i];
    CHECK(given[i / 6 * 24 + static_cast<std::size_t>(at[i])] == greatest[i]);
  }
  CHECK(std::fabs(sum - expected) < 1e-9);
  CHECK(numbers_of(layer.input_gradient(places, x)) == greatest);
  CHECK(layer.forward(y, places, rank<4>(2, 3, 5, 6)).extent(2) == 5);
}

TEST_CASE("gradients of unpooled values", "[max_unpool]") {
  auto y = tenon_test::drawn(rank<4>(2, 1, 2, 2), 3);
  const tenon::tensor<int, rank<4>> places(y.shape(), {9, 3, 0, 14, 1, 2, 8, 15});
  const nn::max_unpool<2> layer(2);
  const tenon::tensor<double, rank<4>> seed(tenon_test::weights_of(rank<4>(2, 1, 4, 4)));
  const auto value = [&] { return static_cast<double>(tenon::sum(layer.forward(y, places) * seed)); };
  tenon_test::check_rows({
      {"max_unpool", tenon_test::difference_from_slopes(y, layer.input_gradient(places, seed), value, 1e-6, 1e-6)},
  });
}

TEST_CASE("an index outside the plane is refused", "[max_unpool]") {
  const auto y = tenon_test::counting<float>(rank<3>(1, 1, 2));
  const auto places = tenon_test::counting<tenon::index>(rank<3>(1, 1, 2), 3);
  CHECK(nn::max_unpool<1>(3, 2).output_shape(y.shape()) == rank<3>(1, 1, 5));
  CHECK_NOTHROW(nn::max_unpool<1>(3, 2).forward(y, places));
  CHECK_THROWS_AS(nn::max_unpool<1>(2).forward(y, places), tenon::index_error);
}

TEST_CASE("kernels, strides and paddings that make no sense are refused", "[max_unpool]") {
  const auto refused = [](tenon::index kernel, tenon::index stride, tenon::index padding, const char* part) {
    const auto text = tenon_test::text_of<tenon::shape_error>(
        [&] { (void)nn::max_unpool<1>(kernel, stride, padding).output_shape(rank<3>(1, 1, 3)); });
    CAPTURE(text);
    CHECK(text.find(part) != text.npos);
  };
  refused(0, 1, 0, "max_unpool: axis 2: kernel 0");
  refused(2, -1, 0, "stride -1");
  refused(3, 1, 2, "padding 2");
  refused(3, 1, -1, "padding -1");
  refused(2, tenon::index{1} << 62, 0, "extent 3 with kernel 2, stride 4611686018427387904");
}
