// examples/mnist/digits.hpp: digits that the program draws itself.
// Strokes of ten glyphs, randomly shifted, turned, slanted, scaled and thickened; a function of seed and number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <tenon/train.hpp>
#include <vector>

namespace mnist {

using tenon::index;

struct point {
  float x, y;
};

/// The glyphs as polylines in a box from -1 to 1, y downwards; a pen lift starts a new line.
inline const std::vector<std::vector<point>>& strokes_of(int digit) {
  const auto arc = [](point centre, point radius, float from, float to) {
    std::vector<point> line;
    for (int i = 0; i <= 12; ++i) {
      const float angle = (from + (to - from) * static_cast<float>(i) / 12.0f) * 6.2831853f;
      line.push_back({centre.x + radius.x * std::cos(angle), centre.y + radius.y * std::sin(angle)});
    }
    return line;
  };
  static const std::vector<std::vector<std::vector<point>>> glyphs = {
      {arc({0, 0}, {0.6f, 1.0f}, 0, 1)},
      {{{-0.35f, -0.6f}, {0.1f, -1}, {0.1f, 1}}},
      {arc({0, -0.45f}, {0.6f, 0.55f}, 0.5f, 1.1f), {{0.45f, -0.1f}, {-0.6f, 1}, {0.65f, 1}}},
      {arc({-0.05f, -0.5f}, {0.6f, 0.5f}, 0.55f, 1.25f), arc({-0.05f, 0.5f}, {0.65f, 0.5f}, 0.75f, 1.45f)},
      {{{0.35f, 1}, {0.35f, -1}, {-0.65f, 0.35f}, {0.7f, 0.35f}}},
      {{{0.55f, -1}, {-0.45f, -1}, {-0.5f, -0.1f}}, arc({-0.02f, 0.4f}, {0.6f, 0.6f}, 0.63f, 1.42f)},
      {arc({0.5f, 0.2f}, {1.0f, 1.2f}, 0.5f, 0.73f), arc({0, 0.45f}, {0.52f, 0.55f}, 0, 1)},
      {{{-0.6f, -1}, {0.6f, -1}, {-0.15f, 1}}},
      {arc({0, -0.5f}, {0.48f, 0.48f}, 0, 1), arc({0, 0.5f}, {0.58f, 0.5f}, 0, 1)},
      {arc({0, -0.42f}, {0.52f, 0.55f}, 0, 1), {{0.52f, -0.42f}, {0.42f, 0.4f}, {0.2f, 1}}},
  };
  return glyphs[static_cast<std::size_t>(digit)];
}

/// Numbers of one drawing, in a fixed order.
class dice {
 public:
  dice(std::uint64_t seed, index number) : seed_(seed), position_(static_cast<std::uint64_t>(number) << 16) {}
  float between(float low, float high) {
    if (used_ == 4) bits_ = tenon::philox_bits(seed_, position_++), used_ = 0;
    return low + (high - low) * tenon::uniform_from_bits(bits_[used_++]);
  }

 private:
  std::uint64_t seed_, position_;
  tenon::array<std::uint32_t, 4> bits_{};
  int used_ = 4;
};

inline float distance_to_segment(point p, point a, point b) {
  const float dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const float share = length == 0 ? 0 : std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0f, 1.0f);
  return std::hypot(p.x - a.x - share * dx, p.y - a.y - share * dy);
}

/// Draws digit `label` as drawing `number` of `seed` into 28 x 28 bytes.
inline void draw_digit(std::uint64_t seed, index number, int label, std::uint8_t* pixels) {
  dice random(seed, number);
  const float turn = random.between(-0.35f, 0.35f), slant = random.between(-0.35f, 0.35f);
  const point scale{random.between(6.0f, 9.5f), random.between(7.0f, 10.0f)};
  const point centre{13.5f + random.between(-2.5f, 2.5f), 13.5f + random.between(-2.0f, 2.0f)};
  const float thickness = random.between(0.6f, 1.7f), ink = random.between(0.7f, 1.0f),
              noise = random.between(0.0f, 0.25f);
  const auto place = [&](point p) {
    const point wobbly{p.x + random.between(-0.07f, 0.07f), p.y + random.between(-0.07f, 0.07f)};
    const point sheared{(wobbly.x - slant * wobbly.y) * scale.x, wobbly.y * scale.y};
    return point{centre.x + std::cos(turn) * sheared.x - std::sin(turn) * sheared.y,
                 centre.y + std::sin(turn) * sheared.x + std::cos(turn) * sheared.y};
  };
  float nearest[28 * 28];
  std::fill(std::begin(nearest), std::end(nearest), 100.0f);
  for (const auto& line : strokes_of(label)) {
    point last = place(line.front());
    for (std::size_t i = 1; i < line.size(); ++i) {
      const point next = place(line[i]);
      const int left = std::max(0, static_cast<int>(std::min(last.x, next.x)) - 3);
      const int right = std::min(27, static_cast<int>(std::max(last.x, next.x)) + 4);
      const int top = std::max(0, static_cast<int>(std::min(last.y, next.y)) - 3);
      const int bottom = std::min(27, static_cast<int>(std::max(last.y, next.y)) + 4);
      for (int y = top; y <= bottom; ++y) {
        for (int x = left; x <= right; ++x) {
          const float distance = distance_to_segment({static_cast<float>(x), static_cast<float>(y)}, last, next);
          nearest[y * 28 + x] = std::min(nearest[y * 28 + x], distance);
        }
      }
      last = next;
    }
  }
  for (int i = 0; i < 28 * 28; ++i) {
    const float cover = std::clamp(thickness + 0.5f - nearest[i], 0.0f, 1.0f) * ink;
    const float grey = cover + noise * random.between(-0.5f, 0.5f);
    pixels[i] = static_cast<std::uint8_t>(std::clamp(grey, 0.0f, 1.0f) * 255.0f);
  }
}

/// `count` drawn digits, every label equally often.
inline tenon::data::labelled_images draw_digits(index count, std::uint64_t seed) {
  tenon::tensor<std::uint8_t, tenon::rank<3>> images({count, 28, 28});
  tenon::tensor<std::uint8_t, tenon::rank<1>> labels({count});
  tenon::parallel_for(count, 64, [&](index first, index last) {
    for (index i = first; i < last; ++i) {
      labels(i) = static_cast<std::uint8_t>(i % 10);
      draw_digit(seed, i, static_cast<int>(i % 10), images.data() + i * 28 * 28);
    }
  });
  return {std::move(images), std::move(labels)};
}

/// Images of MNIST's files in a folder, at most `limit` of them.
/// throws    file_error where there are none
inline auto read_images(const std::string& folder, bool for_training, index limit) {
  const std::string path = folder + (for_training ? "/train" : "/t10k") + "-images-idx3-ubyte";
  auto images = tenon::io::read_idx<3>(path);
  if (images.extent(0) == 0) throw tenon::file_error(path + ": it holds no images, expected at least 1");
  const index count = std::min(limit, images.extent(0));
  return tenon::evaluated_tensor(tenon::slice(std::move(images), tenon::range(0, count)));
}

}  // namespace mnist
