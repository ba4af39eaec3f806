// tests/algorithms/non_max_suppression.cpp: boxes that stay against a walk over all pairs, and known cases.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/non_max_suppression.hpp>

#include "algorithms/line_cases.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon_test::numbers_of;
using kept_places = std::vector<double>;

/// A box stays when no better one that stays shares more than a part of the area of both; boxes are x, y, x, y.
kept_places boxes_that_stay(const std::vector<double>& boxes, const std::vector<double>& scores, double threshold) {
  const std::size_t count = scores.size();
  std::vector<int> state(count, 0);  // 1: stays, 2: goes
  kept_places kept;
  for (std::size_t step = 0; step < count; ++step) {
    std::size_t best = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (state[i] == 0 && (best == count || scores[i] > scores[best])) best = i;
    }
    if (best == count) break;
    state[best] = 1, kept.push_back(static_cast<double>(best));
    for (std::size_t i = 0; i < count; ++i) {
      const double *a = &boxes[4 * best], *b = &boxes[4 * i];
      const double width = std::fmin(a[2], b[2]) - std::fmax(a[0], b[0]),
                   height = std::fmin(a[3], b[3]) - std::fmax(a[1], b[1]);
      const double shared = width > 0 && height > 0 ? width * height : 0;
      const double both = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared;
      if (state[i] == 0 && shared / both > threshold) state[i] = 2;
    }
  }
  return kept;
}

}  // namespace

TEST_CASE("boxes stay that overlap no better one", "[non_max_suppression]") {
  for (const tenon::index count : {1, 7, 40}) {
    const tenon::tensor<double, rank<2>> corners = tenon::uniform<double>({count, 2}, 3, 0.0, 3.0);
    const tenon::tensor<double, rank<2>> sides = tenon::uniform<double>({count, 2}, 5, 0.5, 2.0);
    const tenon::tensor<double, rank<1>> scores = tenon::uniform<double>({count}, 7);
    const tenon::tensor<double, rank<2>> boxes = tenon::concatenate(tenon::axis<1>, corners, corners + sides);
    for (const double threshold : {0.0, 0.2, 0.5, 1.0}) {
      CAPTURE(count, threshold);
      const kept_places expected = boxes_that_stay(numbers_of(boxes), numbers_of(scores), threshold);
      const auto found = [&](const auto& all, bool is_centred = false) {
        return numbers_of(
            tenon::non_max_suppression(all, scores, {.iou_threshold = threshold, .is_centred = is_centred}));
      };
      CHECK(found(boxes) == expected);
      CHECK(found(tenon::concatenate(tenon::axis<1>, corners + sides, corners)) == expected);
      CHECK(found(tenon::concatenate(tenon::axis<1>, corners + sides / 2, sides), true) == expected);
      const tenon::tensor<double, rank<2>> columns = tenon::permute(boxes, tenon::axis<1, 0>);
      CHECK(found(tenon::permute(columns, tenon::axis<1, 0>)) == expected);
    }
  }
}

TEST_CASE("batches and classes are suppressed apart, up to a number of boxes", "[non_max_suppression]") {
  tenon::tensor<float, rank<3>> boxes({2, 3, 4}), scores({2, 2, 3});
  const float corners[] = {0, 0, 2, 2, 0, 0, 2, 1.9f, 5, 5, 6, 6, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 4, 4};
  const float marks[] = {0.1f, 0.9f, 0.5f, 0.8f, 0.2f, 0.8f, 0.5f, 0.5f, 0.9f, std::nanf(""), 0.25f, 0.4f};
  std::copy(std::begin(corners), std::end(corners), boxes.data());
  std::copy(std::begin(marks), std::end(marks), scores.data());
  const auto found = [&](const tenon::suppression_options& options) {
    return numbers_of(tenon::non_max_suppression(boxes, scores, options));
  };
  CHECK(found({.iou_threshold = 0.5}) ==
        kept_places{0, 0, 1, 0, 0, 2, 0, 1, 0, 0, 1, 2, 1, 0, 2, 1, 0, 0, 1, 0, 1, 1, 1, 2, 1, 1, 1});
  CHECK(found({.iou_threshold = 0.5, .score_threshold = 0.5, .most = 1}) == kept_places{0, 0, 1, 0, 1, 0, 1, 0, 2});
  CHECK(found({.most = 0}).empty());
  const auto halves = tenon::non_max_suppression(tenon::cast<tenon::half>(boxes), scores, {.most = 1});
  CHECK(halves.shape().extent(0) == 4);
  CHECK(halves.shape().extent(1) == 3);
}

TEST_CASE("suppression of no boxes, and of those that do not fit", "[non_max_suppression]") {
  const tenon::tensor<float, rank<2>> none({0, 4}), three({3, 4}), wide({3, 5});
  const tenon::tensor<float, rank<1>> no_scores({0}), two({2}), marks({3});
  CHECK(tenon::non_max_suppression(none, no_scores).size() == 0);
  const auto text = [](const auto& boxes, const auto& scores) {
    return tenon_test::text_of<tenon::shape_error>([&] { tenon::non_max_suppression(boxes, scores); });
  };
  CHECK(text(wide, marks) == "non_max_suppression: axis 1: extent 5 of the boxes, expected 4");
  CHECK(text(three, two) == "non_max_suppression: axis 0: extent 2 of the scores, one for each box, expected 3");
  const tenon::tensor<float, rank<3>> boxes({2, 3, 4}), scores({1, 2, 3});
  CHECK(text(boxes, scores) == "non_max_suppression: axis 0: extent 1 of the scores, one for each batch, expected 2");
}
