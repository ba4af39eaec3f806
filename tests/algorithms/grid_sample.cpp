// tests/algorithms/grid_sample.cpp: images read at places against sums over all elements, weighted by their distance.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/grid_sample.hpp>
#include <tenon/expr/affine_grid.hpp>
#include <tenon/grad/value_and_gradient.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"
#include "support/gradient.hpp"
#include "support/text_of.hpp"
#include "support/threads.hpp"

namespace {

using tenon::axis;
using tenon::grid_mode;
using tenon::grid_padding;
using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;
using decimals = std::vector<double>;

/// All options, one after another.
template <class Body>
void for_each_sampling(const Body& body) {
  for (const auto mode : {grid_mode::bilinear, grid_mode::nearest, grid_mode::bicubic}) {
    for (const auto padding : {grid_padding::zeros, grid_padding::border, grid_padding::reflection}) {
      for (const bool align : {false, true}) body(tenon::grid_sample_options{mode, padding, align});
    }
  }
}

/// A place or an element that lies beside an image, moved to where it is read: from mirror to mirror, to the border.
double kept_within(double place, double last, const tenon::grid_sample_options& options) {
  const double edge = options.align_corners ? 0 : 0.5;
  if (options.padding_mode == grid_padding::zeros) return place;
  while (options.padding_mode == grid_padding::reflection && last > 0 && (place < -edge || place > last + edge)) {
    place = place < -edge ? -2 * edge - place : 2 * (last + edge) - place;
  }
  return std::fmin(std::fmax(place, 0), last);
}
/// The cubic curve that falls by 3/4 at a distance of 1.
double curve_at(double distance) {
  const double x = std::fabs(distance);
  if (x <= 1) return 1.25 * x * x * x - 2.25 * x * x + 1;
  return x < 2 ? -0.75 * (x * x * x - 5 * x * x + 8 * x - 4) : 0;
}

/// What an element counts at a place that is `at` in [-1, 1] along an axis.
double share_of(double at, tenon::index element, tenon::index extent, const tenon::grid_sample_options& options) {
  const auto last = static_cast<double>(extent - 1), own = static_cast<double>(element);
  const double plain = options.align_corners ? (at + 1) / 2 * last : ((at + 1) * (last + 1) - 1) / 2;
  if (options.mode == grid_mode::bicubic) {
    double sum = 0;
    for (double tap = std::floor(plain) - 1; tap < plain + 2; ++tap) {
      if (kept_within(tap, last, options) == own) sum += curve_at(plain - tap);
    }
    return sum;
  }
  const double place = kept_within(plain, last, options);
  const double distance = std::fabs((options.mode == grid_mode::nearest ? std::nearbyint(place) : place) - own);
  return distance < 1 ? 1 - distance : 0;
}

/// The images [n, c, h, w] at the places [n, rows, columns, 2].
decimals sampled_by_definition(const decimals& image, const tenon::array<tenon::index, 4>& extents,
                               const decimals& grid, tenon::index places, const tenon::grid_sample_options& options) {
  decimals result;
  for (tenon::index plane = 0; plane < extents[0] * extents[1]; ++plane) {
    for (tenon::index place = 0; place < places; ++place) {
      const auto at = static_cast<std::size_t>(2 * (plane / extents[1] * places + place));
      double sum = 0;
      for (tenon::index i = 0; i < extents[2] * extents[3]; ++i) {
        sum += image[static_cast<std::size_t>(plane * extents[2] * extents[3] + i)] *
               share_of(grid[at], i % extents[3], extents[3], options) *
               share_of(grid[at + 1], i / extents[3], extents[2], options);
      }
      result.push_back(sum);
    }
  }
  return result;
}

template <class Image, class Grid>
void check_sampling(const Image& image, const Grid& grid, double bound) {
  for_each_sampling([&](const tenon::grid_sample_options& options) {
    CAPTURE(static_cast<int>(options.mode), static_cast<int>(options.padding_mode), options.align_corners);
    const auto expected = sampled_by_definition(numbers_of(image), image.shape().to_array(), numbers_of(grid),
                                                grid.shape().extent(1) * grid.shape().extent(2), options);
    CHECK(difference(numbers_of(tenon::grid_sample(image, grid, options)), expected, bound) == "");
  });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("images are read at the places of grids", "[grid_sample]", tenon_test::algorithm_spaces) {
  for (const auto& extents : {rank<4>(2, 3, 5, 7), rank<4>(1, 9, 1, 4), rank<4>(3, 1, 6, 1), rank<4>(2, 0, 2, 2)}) {
    CAPTURE(extents.extent(1), extents.extent(2), extents.extent(3));
    const auto image = tenon_test::made_tensor<double, TestType>(extents, tenon_test::far_scattered);
    const auto grid = tenon_test::made_tensor<double, TestType>(
        rank<4>(extents.extent(0), 5, 11, 2), [](tenon::index i) { return 1.7 * tenon_test::scattered(i); });
    check_sampling(image, grid, 1e-12);
    check_sampling(tenon::flip(image, axis<3>), tenon::permute(grid * 1.0, axis<0, 2, 1, 3>), 1e-12);
    check_sampling(tenon::permute(image, axis<0, 1, 3, 2>), tenon::slice(grid, tenon::all_of, tenon::range(0, 5, 2)),
                   1e-12);
  }
  const auto image = tenon_test::made_tensor<float, TestType>(rank<4>(1, 2, 4, 4), tenon_test::far_scattered);
  const tenon::tensor<float, rank<4>, TestType> none({1, 0, 3, 2});
  CHECK(numbers_of(tenon::grid_sample(image, none)).empty());
}

TEMPLATE_LIST_TEST_CASE("samples have the elements of both, and half of them is computed in float", "[grid_sample]",
                        tenon_test::algorithm_spaces) {
  const auto grid = tenon_test::tensor_of<TestType, float>(rank<4>(1, 1, 2, 2), {0.1f, 0, -0.5f, 0});
  const auto image = tenon_test::tensor_of<TestType, int>(rank<4>(1, 1, 1, 2), {10, 20});
  static_assert(std::is_same_v<typename decltype(tenon::grid_sample(image, grid))::element, float>);
  CHECK(difference(numbers_of(tenon::grid_sample(image, grid)), {16, 10}, 1e-6) == "");
  const tenon::tensor<tenon::half, rank<4>, TestType> halves = tenon::cast<tenon::half>(image);
  CHECK(difference(numbers_of(tenon::cast<float>(tenon::grid_sample(halves, tenon::cast<tenon::half>(grid)))), {16, 10},
                   1e-3) == "");
  tenon::tensor<float, rank<4>, TestType> y = tenon::cast<float>(image);
  y = 2 * tenon::grid_sample(y, grid) + 1;
  CHECK(difference(numbers_of(y), {33, 21}, 1e-6) == "");
}

TEMPLATE_LIST_TEST_CASE("what is NaN or infinite in a grid", "[grid_sample]", tenon_test::algorithm_spaces) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const auto image = tenon_test::tensor_of<TestType, float>(rank<4>(1, 1, 2, 2), {1, 2, 3, 4});
  const auto grid = tenon_test::tensor_of<TestType, float>(
      rank<4>(1, 1, 5, 2), {nan, -1, -0.5f, nan, infinity, -0.5f, -1e30f, 1e30f, 1e30f, -infinity});
  const double n = tenon_test::nan_value;
  for (const auto mode : {grid_mode::bilinear, grid_mode::nearest, grid_mode::bicubic}) {
    const auto read = [&](grid_padding padding) {
      return numbers_of(tenon::grid_sample(image, grid, {.mode = mode, .padding_mode = padding}));
    };
    CHECK(difference(read(grid_padding::zeros), {n, n, 0, 0, 0}) == "");
    CHECK(difference(read(grid_padding::border), {n, n, 2, 3, 2}) == "");
    const auto mirrored = read(grid_padding::reflection);
    CHECK((std::isnan(mirrored[2]) && std::isnan(mirrored[4]) && mirrored[3] >= 0 && mirrored[3] <= 5));
  }
}

TEST_CASE("samples have the gradients of image and grid, and of the image's gradient", "[grid_sample]") {
  auto image = tenon_test::drawn(rank<4>(2, 9, 3, 4), 1), grid = tenon_test::drawn(rank<4>(2, 5, 7, 2), 2, -1.3f, 1.3f);
  for_each_sampling([&](const tenon::grid_sample_options& options) {
    CAPTURE(static_cast<int>(options.mode), static_cast<int>(options.padding_mode), options.align_corners);
    const auto sampled = [&](const auto& x, const auto& at) { return tenon::grid_sample(x, at, options); };
    CHECK(tenon_test::gradient_difference(sampled, image, grid) == "");
    CHECK(tenon_test::second_difference([&](const auto& x) { return tenon::square(sampled(x, grid)); }, image) == "");
    auto seed = tenon_test::drawn(rank<4>(2, 9, 5, 7), 3);
    const auto added = [&](const auto& g, const auto& at) {
      return tenon::make_own_pass<double>(tenon::grid_image_gradient_algorithm{options}, image.shape(), g, at);
    };
    CHECK(tenon_test::gradient_difference(added, seed, grid) == "");
  });
}

TEST_CASE("gradients of samples are the same in every space and for any number of threads", "[grid_sample]") {
  const auto image = tenon_test::counting<float>(rank<4>(2, 11, 6, 5));
  const tenon::tensor<float, rank<4>> grid = tenon::uniform<float>({2, 6, 5, 2}, 4, -1.2f, 1.2f);
  const auto gradients = [&]<class Space>(std::type_identity<Space>) {
    const auto x = image.template to<Space>();
    const auto at = grid.template to<Space>();
    const auto v = tenon::variable<0>(x);
    const auto u = tenon::variable<1>(at);
    const tenon::tensor<float, rank<4>, Space> from = x + 1;
    const auto [of_x, of_at] = tenon::vjp(tenon::grid_sample(v, u), from, tenon::wrt(v, u));
    auto all = numbers_of<Space>(of_x);
    for (const double each : numbers_of<Space>(of_at)) all.push_back(each);
    return all;
  };
  const auto expected = gradients(std::type_identity<tenon::host>{});
  CHECK(difference(gradients(std::type_identity<tenon::emulated>{}), expected, 1e-5) == "");
  CHECK(difference(gradients(std::type_identity<tenon_test::distant>{}), expected, 1e-5) == "");
  CHECK(tenon_test::is_same_on_any_threads([&] { return gradients(std::type_identity<tenon::host>{}); }));
}

TEST_CASE("affine grids sample what transforms say", "[grid_sample]") {
  const tenon::tensor<double, rank<4>> image = tenon::uniform<double>({1, 2, 3, 4}, 1);
  const tenon::tensor<double, rank<3>> same({1, 2, 3}, {1, 0, 0, 0, 1, 0}), mirror({1, 2, 3}, {-1, 0, 0, 0, 1, 0});
  for (const bool align : {false, true}) {
    const auto read = [&](const auto& theta) {
      return tenon::grid_sample(image, tenon::affine_grid(theta, image.shape(), align), {.align_corners = align});
    };
    CHECK(difference(numbers_of(read(same)), numbers_of(image), 1e-12) == "");
    CHECK(difference(numbers_of(read(mirror)), numbers_of(tenon::flip(image, axis<3>)), 1e-12) == "");
  }
}

TEST_CASE("images and grids that do not fit are refused", "[grid_sample]") {
  using tenon_test::text_of;
  tenon::tensor<float, rank<4>> image({2, 3, 4, 5}), flat({2, 3, 0, 5}), grid({2, 6, 7, 2}), wide({2, 6, 7, 3}),
      other({1, 6, 7, 2});
  CHECK(text_of<tenon::shape_error>([&] { tenon::grid_sample(image, other); }) ==
        "grid_sample: axis 0: extents 2 and 1 of image and grid differ, expected equal");
  CHECK(text_of<tenon::shape_error>([&] { tenon::grid_sample(image, wide); }) ==
        "grid_sample: axis 3: extent 3 of the grid, expected 2: x and y");
  CHECK(text_of<tenon::shape_error>([&] { tenon::grid_sample(flat, grid); }) ==
        "grid_sample: axis 2: extent 0 of the image, expected at least 1");
}
