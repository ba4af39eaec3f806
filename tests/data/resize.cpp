// tests/data/resize.cpp: images of another size.
// Each against sums in double over all elements of the image; parts that are drawn are checked by their bounds.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/resize.hpp>

#include <limits>
#include <tenon/evaluate.hpp>

#include "support/random.hpp"
#include "support/text_of.hpp"

namespace data = tenon::data;

namespace {

using byte_image = tenon::tensor<std::uint8_t, tenon::rank<3>>;
using float_image = tenon::tensor<float, tenon::rank<3>>;

byte_image drawn_image(tenon::index channels, tenon::index height, tenon::index width) {
  byte_image image({channels, height, width});
  tenon_test::random_source random(static_cast<std::uint64_t>(height * 100 + width));
  for (tenon::index i = 0; i < image.size(); ++i) image.data()[i] = static_cast<std::uint8_t>(random.below(256));
  return image;
}

/// What element `from` counts in element `to` of an axis, of linear filters: as wide as the step where `is_wide`,
/// divided by the sum; otherwise between neighbours, of which the last repeats.
double linear_weight(tenon::index to, tenon::index from, double extent, double output, bool is_wide) {
  const double step = extent / output, centre = (static_cast<double>(to) + 0.5) * step - 0.5;
  const double width = is_wide && step > 1 ? step : 1;
  const auto hat = [&](double at) { return std::max(0.0, 1 - std::abs(at - centre) / width); };
  if (!is_wide) {
    double weight = hat(static_cast<double>(from));
    if (from == 0) weight += hat(-1);
    return static_cast<double>(from) == extent - 1 ? weight + hat(extent) : weight;
  }
  double total = 0;
  for (double at = 0; at < extent; ++at) total += hat(at);
  return hat(static_cast<double>(from)) / total;
}

/// Element (c, y, x) of the image in another size.
template <class Image>
double resized(const Image& image, const data::image_size& size, tenon::index c, tenon::index y, tenon::index x,
               bool is_wide) {
  const auto extent = [&](int axis) { return static_cast<double>(image.extent(axis)); };
  double total = 0;
  for (tenon::index i = 0; i < image.extent(1); ++i) {
    const double of_row = linear_weight(y, i, extent(1), static_cast<double>(size.height), is_wide);
    for (tenon::index j = 0; of_row != 0 && j < image.extent(2); ++j) {
      total += of_row * linear_weight(x, j, extent(2), static_cast<double>(size.width), is_wide) *
               static_cast<double>(image(c, i, j));
    }
  }
  return total;
}

/// The greatest distance of elements from what they should be.
template <class Found, class Image>
double distance(const Found& found, const Image& image, bool is_wide) {
  const data::image_size size = data::size_of(found);
  double worst = 0;
  for (tenon::index c = 0; c < found.extent(0); ++c) {
    for (tenon::index y = 0; y < size.height; ++y) {
      for (tenon::index x = 0; x < size.width; ++x) {
        const double expected = resized(image, size, c, y, x, is_wide);
        worst = std::max(worst, std::abs(static_cast<double>(found(c, y, x)) - expected));
      }
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("images are resized as sums of their elements say", "[resize]") {
  for (const auto& [height, width] : {std::pair<tenon::index, tenon::index>{7, 11}, {1, 5}, {16, 3}}) {
    const byte_image image = drawn_image(3, height, width);
    const float_image values = tenon::cast<float>(image);
    for (const data::image_size size : {data::image_size{3, 4}, {7, 11}, {1, 1}, {20, 9}, {5, 30}}) {
      CAPTURE(height, width, size.height, size.width);
      const float_image wide = data::resize(values, size), narrow = data::resize<tenon::linear_filter>(values, size);
      REQUIRE(wide.shape() == tenon::rank<3>(3, size.height, size.width));
      CHECK(distance(wide, values, true) < 3e-4);
      CHECK(distance(narrow, values, false) < 3e-4);
      const byte_image bytes = data::resize(image, size);
      CHECK(distance(bytes, image, true) < 0.5 + 3e-4);  // rounded
      const tenon::tensor<double, tenon::rank<3>> exact = data::resize(tenon::cast<double>(image), size);
      CHECK(distance(exact, image, true) < 1e-11);
    }
  }
}

TEST_CASE("an image of its own size stays as it is", "[resize]") {
  const byte_image image = drawn_image(2, 5, 6);
  const byte_image same = data::resize(image, {5, 6}), nearest = data::resize<tenon::nearest_filter>(image, {5, 6});
  for (tenon::index i = 0; i < image.size(); ++i) {
    CHECK(same.data()[i] == image.data()[i]);
    CHECK(nearest.data()[i] == image.data()[i]);
  }
}

TEST_CASE("labels are resized by their nearest elements", "[resize]") {
  tenon::tensor<std::int32_t, tenon::rank<2>> labels({3, 5});
  for (tenon::index i = 0; i < 15; ++i) labels.data()[i] = static_cast<std::int32_t>(1000000 + i);
  const tenon::tensor<std::int32_t, tenon::rank<2>> found = data::resize<tenon::nearest_filter>(labels, {7, 2});
  for (tenon::index y = 0; y < 7; ++y) {
    for (tenon::index x = 0; x < 2; ++x) CHECK(found(y, x) == labels(y * 3 / 7, x * 5 / 2));
  }
}

TEST_CASE("cubic filters go beyond bytes, bytes do not", "[resize]") {
  const byte_image edge(tenon::rank<3>(1, 1, 4), {0, 0, 255, 255});
  using filter = tenon::antialiased<tenon::cubic_filter<2>>;
  const float_image values = tenon::cast<float>(edge);
  const float_image beyond = data::resize<filter>(values, {1, 12});
  const byte_image within = data::resize<filter>(edge, {1, 12});
  bool is_beyond = false;
  for (tenon::index i = 0; i < 12; ++i) {
    const float each = beyond.data()[i];
    is_beyond = is_beyond || each < -1 || each > 256;
    CHECK(static_cast<float>(within.data()[i]) == std::nearbyint(std::clamp(each, 0.0f, 255.0f)));
  }
  CHECK(is_beyond);
}

TEST_CASE("the shorter edge decides, proportions stay", "[resize]") {
  const auto is_size = [](const data::image_size& found, tenon::index height, tenon::index width) {
    return found.height == height && found.width == width;
  };
  CHECK(is_size(data::with_shorter_edge({375, 500}, 256), 256, 341));
  CHECK(is_size(data::with_shorter_edge({500, 375}, 256), 341, 256));
  CHECK(is_size(data::with_shorter_edge({4, 4}, 9), 9, 9));
  CHECK(is_size(data::size_of(data::resize_shorter_edge(drawn_image(1, 4, 10), 2)), 2, 5));
  CHECK(is_size(data::covering_size({100, 300}, {50, 60}), 50, 150));
  CHECK(is_size(data::covering_size({300, 100}, {50, 60}), 180, 60));
  CHECK(is_size(data::covering_size({3, 3}, {2, 7}), 7, 7));
}

TEST_CASE("what has no elements has no other size", "[resize]") {
  const byte_image none({1, 0, 4}), some({1, 2, 4});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { data::resize(none, {2, 2}); }) ==
        "resize: axis 1: 2 elements from 0, expected at least 1 (image [1, 0, 4])");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { data::resize(some, {2, 0}); }) ==
        "resize: axis 2: 0 elements from 4, expected at least 1 (image [1, 2, 4])");
  const byte_image of_none = data::resize(byte_image({0, 2, 4}), {3, 3});
  CHECK(of_none.size() == 0);
}

TEST_CASE("random parts have shares and ratios as asked for", "[resize]") {
  bool is_flat = false, is_tall = false, is_small = false;
  for (tenon::index number = 0; number < 500; ++number) {
    data::random_draws draws(3, number);
    const auto [top, left, size] = data::random_part({40, 60}, draws);
    CHECK((top >= 0 && left >= 0 && top + size.height <= 40 && left + size.width <= 60));
    const double area = static_cast<double>(size.height * size.width) / 2400;
    const double ratio = static_cast<double>(size.width) / static_cast<double>(size.height);
    CHECK((area > 0.06 && area <= 1));
    CHECK((ratio > 0.65 && ratio < 1.55));  // of whole elements
    is_flat = is_flat || ratio > 1.2, is_tall = is_tall || ratio < 0.85, is_small = is_small || area < 0.15;
  }
  CHECK((is_flat && is_tall && is_small));
}

TEST_CASE("images that no random part fits give their middle", "[resize]") {
  data::random_draws draws(3, 1);
  const auto line = data::random_part({1, 100}, draws), pillar = data::random_part({101, 4}, draws);
  CHECK((line.top == 0 && line.left == 49 && line.size.height == 1 && line.size.width == 1));
  CHECK((pillar.top == 48 && pillar.left == 0 && pillar.size.height == 5 && pillar.size.width == 4));
}

TEST_CASE("ranges of parts that are none are refused by name", "[resize]") {
  data::random_draws draws(1, 1);
  const auto refusal = [&](const data::part_options& options) {
    return tenon_test::text_of<tenon::shape_error>([&] { data::random_part({4, 6}, draws, options); });
  };
  CHECK(refusal({.least_ratio = 0}) ==
        "random_part: least_ratio 0, greatest_ratio 1.33333, expected finite "
        "numbers above 0, the least first");
  CHECK(refusal({.least_share = -1}) ==
        "random_part: least_share -1, greatest_share 1, expected finite "
        "numbers of at least 0, the least first");
  CHECK(refusal({.greatest_share = 0}).find("least_share 0.08, greatest_share 0") != std::string::npos);
  CHECK_FALSE(refusal({.greatest_ratio = std::numeric_limits<double>::infinity()}).empty());
  CHECK_FALSE(refusal({.least_ratio = std::nan("")}).empty());
  const auto [top, left, size] = data::random_part({4, 6}, draws, {.least_ratio = 1e-300, .greatest_ratio = 1e300});
  CHECK((top >= 0 && left >= 0 && top + size.height <= 4 && left + size.width <= 6));
}

TEST_CASE("a random part of an image is resized", "[resize]") {
  const byte_image image = drawn_image(3, 20, 30);
  data::random_draws draws(9, 4), again(9, 4);
  const byte_image found = data::random_resized_crop(image, draws, {6, 5});
  const auto part = data::random_part({20, 30}, again);
  const byte_image cut = data::crop(image, part.top, part.left, part.size), expected = data::resize(cut, {6, 5});
  for (tenon::index i = 0; i < expected.size(); ++i) CHECK(found.data()[i] == expected.data()[i]);
  const float_image scaled = data::unit_floats(data::centre_crop(data::resize_shorter_edge(image, 10), {8, 8}));
  CHECK(scaled.shape() == tenon::rank<3>(3, 8, 8));
}
