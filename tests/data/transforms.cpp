// tests/data/transforms.cpp: what is done to images.
// Each against a plain loop, on images of odd sizes; what is drawn stays within bounds and follows its draws.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/transforms.hpp>

#include <tenon/evaluate.hpp>

#include "support/text_of.hpp"

namespace data = tenon::data;

namespace {

using byte_image = tenon::tensor<std::uint8_t, tenon::rank<3>>;
using place = tenon::index;

byte_image numbered_image(place channels, place height, place width) {
  byte_image image({channels, height, width});
  for (place i = 0; i < image.size(); ++i) image.data()[i] = static_cast<std::uint8_t>(1 + i);
  return image;
}

/// Compares with `reference(c, y, x)`.
template <class Reference>
void check_image(const byte_image& image, Reference&& reference) {
  for (place c = 0; c < image.extent(0); ++c) {
    for (place y = 0; y < image.extent(1); ++y) {
      for (place x = 0; x < image.extent(2); ++x) {
        INFO(c << " " << y << " " << x);
        CHECK(static_cast<int>(image(c, y, x)) == static_cast<int>(reference(c, y, x)));
      }
    }
  }
}

std::uint8_t at_or(const byte_image& image, place c, place y, place x, std::uint8_t outside) {
  const bool is_inside = y >= 0 && x >= 0 && y < image.extent(1) && x < image.extent(2);
  return is_inside ? image(c, y, x) : outside;
}

}  // namespace

TEST_CASE("bytes become floats, normalised by channel", "[transforms]") {
  const byte_image image = numbered_image(2, 3, 5);
  const tenon::tensor<float, tenon::shape<2, 1, 1>> mean({}, {0.5f, 0.25f}), deviation({}, {2.0f, 0.5f});
  const tenon::tensor<float, tenon::rank<3>> x = data::normalise(data::unit_floats(image), mean, deviation);
  const tenon::tensor<float, tenon::rank<3>> y = data::normalise(image, 1, 2);
  for (place i = 0; i < image.size(); ++i) {
    const double unit = (1.0 + static_cast<double>(i)) / 255;
    const double expected = i < 15 ? (unit - 0.5) / 2 : (unit - 0.25) / 0.5;
    CHECK(std::abs(static_cast<double>(x.data()[i]) - expected) < 1e-6);
    CHECK(y.data()[i] == static_cast<float>(i) / 2);
  }
}

TEST_CASE("a mean and a deviation of each channel stand beside images and batches", "[transforms]") {
  const tenon::tensor<float, tenon::rank<4>> images = tenon::iota<float>(tenon::rank<4>(3, 2, 5, 3));
  const tenon::tensor<float, tenon::rank<1>> mean = {10, 20}, deviation = {2, 4};  // where rows have as many elements
  const tenon::tensor<float, tenon::rank<4>> x = data::normalise(images, mean, deviation);
  const tenon::tensor<float, tenon::rank<3>> one = data::normalise(images[1], mean, 2);
  for (tenon::index n = 0; n < 3; ++n) {
    for (tenon::index c = 0; c < 2; ++c) {
      for (tenon::index i = 0; i < 15; ++i) {
        const float value = images(n, c, i / 3, i % 3), centred = value - (c == 0 ? 10.0f : 20.0f);
        CHECK(x(n, c, i / 3, i % 3) == centred / (c == 0 ? 2.0f : 4.0f));
        if (n == 1) CHECK(one(c, i / 3, i % 3) == centred / 2);
      }
    }
  }
  const tenon::tensor<float, tenon::rank<1>> three = {1, 2, 3};
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { data::normalise(images[0], three, 1); }) ==
        "subtract: axis 0: extents 2 and 3 differ, expected equal or one of them 1 (operands [2, 5, 3] and [3, 1, 1])");
  const tenon::tensor<float, tenon::rank<1>> line = data::normalise(three, three, three);  // features, not channels
  for (tenon::index i = 0; i < 3; ++i) CHECK(line(i) == 0);
}

TEST_CASE("images are flipped on a condition", "[transforms]") {
  const byte_image image = numbered_image(2, 3, 5);
  const byte_image mirrored = data::flip_if(true, image, tenon::axis<-1>);
  const byte_image turned = data::flip_if(true, image, tenon::axis<-2, -1>);
  check_image(mirrored, [&](place c, place y, place x) { return image(c, y, 4 - x); });
  check_image(turned, [&](place c, place y, place x) { return image(c, 2 - y, 4 - x); });
  check_image(data::flip_if(false, image, tenon::axis<-1>), [&](place c, place y, place x) { return image(c, y, x); });
  CHECK(data::flip_if(true, byte_image({1, 0, 3}), tenon::axis<-2>).shape().count() == 0);
  int flips = 0;
  for (place number = 0; number < 400; ++number) {
    data::random_draws draws(1, number), again(1, number);
    const byte_image found = data::random_flip(image, draws);
    const bool is_flipped = found(0, 0, 0) == image(0, 0, 4);
    CHECK(is_flipped == again.chance(0.5));
    flips += is_flipped ? 1 : 0;
  }
  CHECK(std::abs(flips - 200) < 50);
}

TEST_CASE("parts of images, also beside them", "[transforms]") {
  const byte_image image = numbered_image(2, 5, 7);
  check_image(data::crop(image, 1, 2, {3, 4}), [&](place c, place y, place x) { return image(c, y + 1, x + 2); });
  check_image(data::crop(image, -2, 4, {9, 5}, 77),
              [&](place c, place y, place x) { return at_or(image, c, y - 2, x + 4, 77); });
  check_image(data::centre_crop(image, {2, 3}), [&](place c, place y, place x) { return image(c, y + 2, x + 2); });
  check_image(data::centre_crop(image, {8, 9}),
              [&](place c, place y, place x) { return at_or(image, c, y - 1, x - 1, 0); });
  check_image(data::centre_crop(image, {2, 2}),  // between places 1 and 2, and between 2 and 3
              [&](place c, place y, place x) { return image(c, y + 2, x + 2); });
}

TEST_CASE("random parts lie anywhere, within the padding", "[transforms]") {
  const byte_image image = numbered_image(1, 4, 5);
  bool seen[5][4] = {};
  for (place number = 0; number < 600; ++number) {
    data::random_draws draws(3, number);
    const byte_image part = data::random_crop(image, draws, {2, 4}, 1);
    int matches = 0;
    for (place top = -1; top < 4; ++top) {
      for (place left = -1; left < 3; ++left) {
        bool is_here = true;
        for (place i = 0; i < 8; ++i)
          is_here = is_here && part.data()[i] == at_or(image, 0, top + i / 4, left + i % 4, 0);
        matches += is_here ? 1 : 0;
        seen[top + 1][left + 1] = seen[top + 1][left + 1] || is_here;
      }
    }
    CHECK(matches == 1);
  }
  for (const auto& row : seen) {
    for (const bool each : row) CHECK(each);
  }
  data::random_draws draws(3, 0);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { data::random_crop(image, draws, {7, 4}, 1); }) ==
        "random_crop: axis 1: extent 7, expected at most 6 (image [1, 4, 5], padding 1)");
}

TEST_CASE("images are turned about their middle", "[transforms]") {
  const byte_image square = numbered_image(2, 5, 5), wide = numbered_image(1, 3, 7);
  check_image(data::rotate(square, 0), [&](place c, place y, place x) { return square(c, y, x); });
  check_image(data::rotate(square, 90), [&](place c, place y, place x) { return square(c, x, 4 - y); });
  check_image(data::rotate(wide, 180), [&](place c, place y, place x) { return wide(c, 2 - y, 6 - x); });
  const double sine = std::sin(0.5), cosine = std::cos(0.5);
  check_image(data::rotate(wide, 0.5 * 180 / 3.14159265358979323846, 9), [&](place c, place y, place x) {
    const double down = static_cast<double>(y) - 1, right = static_cast<double>(x) - 3;
    const auto row = static_cast<place>(std::floor(cosine * down + sine * right + 1.5));
    return at_or(wide, c, row, static_cast<place>(std::floor(cosine * right - sine * down + 3.5)), 9);
  });
  data::random_draws draws(5, 1), again(5, 1);
  const byte_image turned = data::random_rotation(square, draws, 30),
                   expected = data::rotate(square, again.uniform(-30, 30));
  check_image(turned, [&](place c, place y, place x) { return expected(c, y, x); });
}

TEST_CASE("images are turned between their elements", "[transforms]") {
  const byte_image image = numbered_image(2, 4, 7);
  const tenon::tensor<double, tenon::rank<3>> exact = tenon::cast<double>(image);
  for (const double degrees : {0.0, 30.0, 90.0, -200.0}) {
    const double angle = degrees * 3.14159265358979323846 / 180, sine = std::sin(angle), cosine = std::cos(angle);
    const byte_image bytes = data::rotate<tenon::linear_filter>(image, degrees, 9);
    const tenon::tensor<double, tenon::rank<3>> values = data::rotate<tenon::linear_filter>(exact, degrees, 9);
    for (place i = 0; i < image.size(); ++i) {
      const place c = i / 28, y = i / 7 % 4, x = i % 7;
      const double down = static_cast<double>(y) - 1.5, right = static_cast<double>(x) - 3;
      const double row = cosine * down + sine * right + 1.5, column = cosine * right - sine * down + 3;
      double expected = 0;
      for (place j = -8; j < 15; ++j) {
        for (place k = -8; k < 15; ++k) {
          const double weight = std::max(0.0, 1 - std::abs(row - static_cast<double>(j))) *
                                std::max(0.0, 1 - std::abs(column - static_cast<double>(k)));
          expected += weight * at_or(image, c, j, k, 9);
        }
      }
      CAPTURE(degrees, c, y, x);
      CHECK(std::abs(values(c, y, x) - expected) < 1e-10);
      CHECK(std::abs(static_cast<double>(bytes(c, y, x)) - expected) < 0.5 + 1e-4);
    }
  }
  data::random_draws draws(5, 1), again(5, 1);
  const byte_image turned = data::random_rotation<tenon::linear_filter>(image, draws, 30),
                   expected = data::rotate<tenon::linear_filter>(image, again.uniform(-30, 30));
  check_image(turned, [&](place c, place y, place x) { return expected(c, y, x); });
}
