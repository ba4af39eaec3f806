// tests/contraction/window_pool.cpp: convolutions pooled as they leave the product.
// Against sums over all products in double, of which squares are pooled; odd extents, strides, groups.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/window_pool.hpp>
#include <tenon/device/launch_count.hpp>

#include "contraction/kernel_cases.hpp"
#include "support/convolution.hpp"
#include "support/threads.hpp"

namespace {

using tenon::rank;
using tenon_test::numbers_of;
using problem = tenon_test::convolution_problem<2>;
using list = std::vector<double>;

template <class Image>
tenon::rank<4> halved(const Image& extents) {
  return {extents[0], extents[1], extents[2] / 2, extents[3] / 2};
}

/// The greatest of each square of images [n, c, h, w]; where it lies goes to `places`.
list squares_of(const list& values, const tenon::array<tenon::index, 4>& extents, list* places = nullptr) {
  list result;
  const auto at = [&](auto plane, auto row, auto column) {
    return values[static_cast<std::size_t>((plane * extents[2] + row) * extents[3] + column)];
  };
  for (tenon::index plane = 0; plane < extents[0] * extents[1]; ++plane) {
    for (tenon::index row = 0; row + 1 < extents[2]; row += 2) {
      for (tenon::index column = 0; column + 1 < extents[3]; column += 2) {
        const double square[] = {at(plane, row, column), at(plane, row, column + 1), at(plane, row + 1, column),
                                 at(plane, row + 1, column + 1)};
        const double* const greatest = std::max_element(std::begin(square), std::end(square));
        result.push_back(*greatest);
        if (places) places->push_back(static_cast<double>(greatest - square));
      }
    }
  }
  return result;
}

/// What a statement leaves in a tensor, or in one whose last axis is that of channels.
template <class Space, class E>
list pooled(const E& node, bool channels_last = false) {
  using element = typename E::element;
  const auto extents = halved(node.shape().to_array());
  if (!channels_last) {
    tenon::tensor<element, rank<4>, Space> result(extents);
    const tenon::launch_counter launches;
    tenon::run_pooled_convolution(tenon::detail::make_target(result.write_view()), node);
    CHECK(launches.count() == 1);
    return numbers_of<Space>(result);
  }
  const tenon::index channels = extents.extent(1), rows = extents.extent(2), columns = extents.extent(3);
  tenon::tensor<element, rank<4>, Space> last(rank<4>(extents.extent(0), rows, columns, channels));
  const tenon::array<tenon::index, 4> strides{{rows * columns * channels, 1, columns * channels, channels}};
  const tenon::view<element, rank<4>, Space> turned(last.data(), extents, strides);
  tenon::run_pooled_convolution(tenon::detail::make_target(turned), node);
  return numbers_of<Space>(turned);
}

/// With a bias for each channel and a function that neither rises nor falls everywhere.
template <class T, class Space>
void check_pooled(const problem& p, double bound) {
  CAPTURE(tenon::compose_text(p.image, p.weight, p.geometry.stride, p.geometry.padding, p.geometry.groups));
  const auto image = tenon_test::random_tensor<T>(rank<4>(p.image), 1),
             weight = tenon_test::random_tensor<T>(rank<4>(p.weight), 2),
             bias = tenon_test::random_tensor<T>(rank<4>(1, p.weight[0], 1, 1), 3);
  const auto x = numbers_of(image), w = numbers_of(weight), b = numbers_of(bias);
  const auto extents = p.result();
  list sums(static_cast<std::size_t>(rank<4>(extents).count()));
  p.for_each_product([&](auto at, auto pixel, auto tap) { sums[at] += x[pixel] * w[tap]; });
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double sum = sums[i] + b[i / static_cast<std::size_t>(extents[2] * extents[3]) % b.size()];
    sums[i] = sum * 0.5 * std::erfc(-sum / std::sqrt(2.0));
  }
  const auto expected = squares_of(sums, extents);
  const auto there = image.template to<Space>(), taps = weight.template to<Space>(), row = bias.template to<Space>();
  const auto node = tenon::as_node(tenon::gelu(tenon::convolve(there, taps, p.geometry) + row));
  static_assert(tenon::can_pool_in_epilogue<std::remove_const_t<decltype(node)>>);
  CHECK(tenon_test::difference(pooled<Space>(node), expected, bound) == "");
  CHECK(tenon_test::difference(pooled<Space>(node, true), expected, bound) == "");
}

}  // namespace

TEMPLATE_TEST_CASE("squares of convolutions, odd and even", "[window_pool]", tenon::host) {
  for (const tenon::index height : {4, 5, 7}) {
    for (const tenon::index width : {4, 9, 37}) {
      check_pooled<float, TestType>({{{2, 3, height, width}}, {{5, 3, 3, 3}}, {.padding = {{1, 1}}}}, 1e-5);
    }
  }
  check_pooled<float, TestType>({{{3, 4, 7, 9}}, {{9, 4, 1, 1}}, {}}, 1e-5);
  check_pooled<float, TestType>({{{2, 6, 13, 8}}, {{4, 3, 3, 2}}, {.stride = {{2, 1}}, .groups = 2}}, 1e-5);
  check_pooled<float, TestType>({{{2, 6, 6, 7}}, {{6, 1, 3, 3}}, {.padding = {{1, 1}}, .groups = 6}}, 1e-5);
  check_pooled<float, TestType>({{{1, 2, 9, 9}}, {{17, 2, 3, 3}}, {.padding = {{2, 0}}, .dilation = {{2, 1}}}}, 1e-5);
  check_pooled<float, TestType>({{{1, 40, 3, 3}}, {{2, 40, 2, 2}}, {}}, 1e-5);  // one square
}

TEMPLATE_TEST_CASE("squares of short and long floats", "[window_pool]", tenon::host) {
  const problem some{{{2, 3, 7, 9}}, {{20, 3, 3, 3}}, {.padding = {{1, 1}}}};
  check_pooled<tenon::half, TestType>(some, 3e-3);
  check_pooled<tenon::bfloat16, TestType>(some, 3e-2);
  check_pooled<double, TestType>(some, 1e-12);
}

TEMPLATE_TEST_CASE("the places of the greatest in their squares", "[window_pool]", tenon::host) {
  for (const tenon::index width : {2, 5, 31, 70}) {
    CAPTURE(width);
    const auto image = tenon_test::random_tensor<float>(rank<4>(2, 3, 7, width), 1).template to<TestType>(),
               weight = tenon_test::random_tensor<float>(rank<4>(5, 3, 3, 3), 2).template to<TestType>();
    const auto node = tenon::as_node(tenon::relu(tenon::convolve(image, weight, {.padding = {{1, 1}}})));
    const auto extents = halved(node.shape().to_array());
    list expected;
    const auto whole = numbers_of<TestType>(tenon::evaluated_tensor<TestType>(node));
    const auto greatest = squares_of(whole, node.shape().to_array(), &expected);
    const auto check = [&] {
      tenon::tensor<float, rank<4>, TestType> result(extents);
      tenon::tensor<std::uint8_t, rank<4>, TestType> places(extents);
      tenon::run_pooled_convolution(tenon::detail::make_target(result.write_view()), node,
                                    tenon::kept_places<4>{tenon::detail::make_target(places.write_view())});
      CHECK(numbers_of<TestType>(result) == greatest);
      CHECK(numbers_of<TestType>(places) == expected);
    };
    check();
    const tenon::single_thread_scope alone;  // has all rows of an image in one strip
    check();
  }
}

TEST_CASE("squares of many strips and of several threads", "[window_pool]") {
  check_pooled<float, tenon::host>({{{1, 2, 151, 90}}, {{3, 2, 3, 3}}, {.padding = {{1, 1}}}}, 1e-5);
  check_pooled<float, tenon::host>({{{3, 2, 71, 40}}, {{3, 2, 1, 1}}, {}}, 1e-5);
  check_pooled<float, tenon::host>({{{1, 3, 5, 2500}}, {{2, 3, 2, 2}}, {}}, 1e-5);
  for (const tenon::index width : {31, 70, 2500}) {  // of single channels
    check_pooled<float, tenon::host>({{{1, 3, 95, width}}, {{3, 1, 3, 3}}, {.padding = {{1, 1}}, .groups = 3}}, 1e-5);
  }
  const auto image = tenon_test::random_tensor<float>(rank<4>(3, 2, 71, 41), 1),
             weight = tenon_test::random_tensor<float>(rank<4>(5, 2, 3, 3), 2);
  const auto node = tenon::as_node(tenon::relu(tenon::convolve(image, weight)));
  const auto expected = squares_of(numbers_of(node), node.shape().to_array());
  CHECK(tenon_test::is_same_on_any_threads([&] { return pooled<tenon::host>(node); }));
  CHECK(pooled<tenon::host>(node) == expected);
}

TEMPLATE_TEST_CASE("a square with a NaN is NaN", "[window_pool]", tenon::host) {
  for (int place = 0; place < 4; ++place) {
    auto image = tenon_test::counting<float>(rank<4>(1, 1, 2, 4), 1);
    image(0, 0, place / 2, place % 2) = std::numeric_limits<float>::quiet_NaN();
    const auto there = image.template to<TestType>();
    const auto one = tenon_test::counting<float, TestType>(rank<4>(1, 1, 1, 1), 1);
    const auto node = tenon::as_node(tenon::convolve(there, one));
    const auto found = pooled<TestType>(node);
    CHECK(std::isnan(found[0]));
    CHECK(found[1] == 8);
    tenon::tensor<float, rank<4>, TestType> result(rank<4>(1, 1, 1, 2));
    tenon::tensor<std::uint8_t, rank<4>, TestType> places(result.shape());
    tenon::run_pooled_convolution(tenon::detail::make_target(result.write_view()), node,
                                  tenon::kept_places<4>{tenon::detail::make_target(places.write_view())});
    CHECK(numbers_of<TestType>(places) == list{static_cast<double>(place), 3});
  }
}

TEST_CASE("which statements pool as they leave", "[window_pool]") {
  const auto pools = []<class E>(const E&) { return tenon::can_pool_in_epilogue<tenon::node_of<E>>; };
  const tenon::tensor<float, rank<4>> image({1, 1, 2, 2}), weight({1, 1, 1, 1});
  const tenon::tensor<std::int8_t, rank<4>> bytes({1, 1, 1, 1});
  const tenon::tensor<float, rank<3>> lines({1, 1, 2}), taps({1, 1, 1});
  CHECK(pools(tenon::convolve(image, weight)));
  CHECK(pools(tenon::relu(tenon::convolve(image * 2, weight) + 1)));
  CHECK(!pools(tenon::convolve(image.to<tenon::emulated>(), weight.to<tenon::emulated>())));
  CHECK(!pools(tenon::convolve(bytes, bytes)));
  CHECK(!pools(tenon::cast<tenon::half>(tenon::convolve(image, weight))));
  CHECK(!pools(tenon::convolve(lines, taps)));
  CHECK(!pools(tenon::relu(image)));
  CHECK(!pools(tenon::matmul(image, image)));
  CHECK(!pools(tenon::convolve(tenon::softmax(image, tenon::axis<1>), weight)));
}
