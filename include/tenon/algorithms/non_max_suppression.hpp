// tenon/algorithms/non_max_suppression.hpp: of boxes that overlap, those of the highest scores.
// Boxes are visited from the highest score down; one stays where it overlaps none of those that stay.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <tenon/algorithms/lines.hpp>
#include <vector>

namespace tenon {

/// Options of non_max_suppression: `non_max_suppression(boxes, scores, {.iou_threshold = 0.5})`
struct suppression_options {
  double iou_threshold = 0;  ///< a box goes whose area shared with a better one is a greater part of the area of both
  std::optional<double> score_threshold = std::nullopt;  ///< only boxes of higher scores stay
  index most = std::numeric_limits<index>::max();        ///< how many stay at most, of each class
  bool is_centred = false;  ///< whether a box is x, y of its centre, width and height; else two opposite corners
};

namespace detail {

/// A box as two intervals.
template <class Number>
struct placed_box {
  Number low[2], high[2], area;

  template <class At>
  placed_box(const At& at, bool is_centred) {
    for (index side = 0; side < 2; ++side) {
      const Number first = at(side), second = at(side + 2);
      low[side] = is_centred ? first - second / 2 : std::min(first, second);
      high[side] = is_centred ? first + second / 2 : std::max(first, second);
    }
    area = (high[0] - low[0]) * (high[1] - low[1]);
  }
  bool overlaps(const placed_box& other, double threshold) const {
    const Number width = std::min(high[0], other.high[0]) - std::max(low[0], other.low[0]);
    const Number height = std::min(high[1], other.high[1]) - std::max(low[1], other.low[1]);
    if (!(width > 0 && height > 0)) return false;
    const Number shared = width * height;
    return static_cast<double>(shared / (area + other.area - shared)) > threshold;
  }
};

/// The places of boxes that stay, best first.
template <class Number>
std::vector<index> kept_boxes(const std::vector<placed_box<Number>>& boxes, const std::vector<Number>& scores,
                              const suppression_options& options) {
  const auto at = [](index place) { return static_cast<std::size_t>(place); };
  std::vector<index> order, kept;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool is_high = !options.score_threshold || static_cast<double>(scores[i]) > *options.score_threshold;
    if (is_high && scores[i] == scores[i]) order.push_back(static_cast<index>(i));
  }
  const auto is_better = [&](index a, index b) {
    return scores[at(a)] > scores[at(b)] || (scores[at(a)] == scores[at(b)] && a < b);
  };
  std::sort(order.begin(), order.end(), is_better);
  for (const index place : order) {
    if (static_cast<index>(kept.size()) >= options.most) break;
    const bool goes = std::any_of(kept.begin(), kept.end(), [&](index better) {
      return boxes[at(place)].overlaps(boxes[at(better)], options.iou_threshold);
    });
    if (!goes) kept.push_back(place);
  }
  return kept;
}

/// throws    shape_error where boxes and scores do not fit
template <class Boxes, class Scores>
void check_suppression(const Boxes& boxes, const Scores& scores) {
  constexpr int rank = Boxes::rank;
  static_assert(
      (Scores::rank == rank - 1 && rank == 2) || (Scores::rank == rank && rank == 3) || must_hold<Boxes, Scores>,
      "tenon: non_max_suppression takes boxes [n, 4] and scores [n], or [batches, n, 4] and "
      "[batches, classes, n]");
  const auto compare = [](int axis, index found, index expected, const char* what) {
    if (found == expected) return;
    throw shape_error(compose_text("non_max_suppression: axis ", axis, ": extent ", found, " of the ", what,
                                   ", expected ", expected));
  };
  compare(rank - 1, boxes.extent(rank - 1), 4, "boxes");
  compare(Scores::rank - 1, scores.extent(Scores::rank - 1), boxes.extent(rank - 2), "scores, one for each box");
  if constexpr (rank == 3) compare(0, scores.extent(0), boxes.extent(0), "scores, one for each batch");
}

}  // namespace detail

/// Non-maximum suppression: the places of boxes, from the highest score down, that share no more than a part of their
/// area with one that was taken before. Of equal scores the first comes first; boxes whose score is NaN go. Boxes
/// without an area share none.
/// extents   [kept] of boxes [n, 4] and scores [n], as torchvision.ops.nms; of boxes [batches, n, 4] and scores
///           [batches, classes, n] rows of batch, class and place [kept, 3], as ONNX has it
/// types     int64, of real numbers
/// throws    shape_error where extents differ from these
/// cost      O(n log n), and O(n kept) of overlaps, on one thread
/// example   const auto places = non_max_suppression(boxes, scores, {.iou_threshold = 0.5, .most = 100});
template <tensor_operand Boxes, tensor_operand Scores>
auto non_max_suppression(Boxes&& boxes, Scores&& scores, const suppression_options& options = {}) {
  using box_node = node_of<Boxes>;
  using score_node = node_of<Scores>;
  using number = compute_type<
      std::common_type_t<compute_type<typename box_node::element>, compute_type<typename score_node::element>, float>>;
  static_assert((algorithm_space<Boxes>::host_accessible && algorithm_space<Scores>::host_accessible) ||
                    must_hold<box_node, score_node>,
                "tenon: non_max_suppression runs on the host: copy its operands first, x.to<tenon::host>()");
  detail::check_suppression(boxes.shape(), scores.shape());
  const auto numbers_of = [](const auto& source) {
    std::vector<number> read;
    visit_elements(source.view(), 0, source.shape().count(),
                   [&](index, auto each) { read.push_back(static_cast<number>(each)); });
    return read;
  };
  const std::vector<number> sides = numbers_of(in_memory("non_max_suppression", boxes));
  const std::vector<number> marks = numbers_of(in_memory("non_max_suppression", scores));
  constexpr int rank = score_node::shape_type::rank;
  const index count = scores.shape().extent(rank - 1), classes = rank == 3 ? scores.shape().extent(rank - 2) : 1;
  const index batches = rank == 3 ? scores.shape().extent(0) : 1;
  std::vector<index> found;
  for (index batch = 0; batch < batches; ++batch) {
    std::vector<detail::placed_box<number>> placed;
    for (index i = 0; i < count; ++i) {
      const auto at = [&](index k) { return sides[static_cast<std::size_t>((batch * count + i) * 4 + k)]; };
      placed.emplace_back(at, options.is_centred);
    }
    for (index kind = 0; kind < classes; ++kind) {
      const auto first = marks.begin() + (batch * classes + kind) * count;
      for (const index place : detail::kept_boxes(placed, std::vector<number>(first, first + count), options)) {
        if constexpr (rank == 3) found.insert(found.end(), {batch, kind});
        found.push_back(place);
      }
    }
  }
  using shape_of_kept = std::conditional_t<rank == 3, shape<dyn, 3>, shape<dyn>>;
  tensor<index, shape_of_kept> result(shape_of_kept(static_cast<index>(found.size()) / (rank == 3 ? 3 : 1)));
  std::copy(found.begin(), found.end(), result.data());
  return result;
}

}  // namespace tenon
