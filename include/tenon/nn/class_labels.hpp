// tenon/nn/class_labels.hpp: labels of classes: what losses ask of them, and which they leave out.
// Labels on the host are looked at when a loss is made; those on a device, which nobody waits for, make it NaN instead.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <tenon/nn/layer.hpp>

namespace tenon::nn {

/// The label whose rows losses leave out: PyTorch's `ignore_index`.
inline constexpr std::int64_t ignored_label = -100;

/// In place of such a label: every row counts.
struct nothing_ignored_type {};
inline constexpr nothing_ignored_type nothing_ignored;

namespace detail {

/// Labels [batch, ...] beside scores [batch, classes, ...].
/// throws    shape_error naming the axis of the labels and both extents
template <class Scores, class Labels>
void check_label_extents(const char* name, const Scores& scores, const Labels& labels) {
  constexpr int rank = Scores::rank;
  static_assert(Labels::rank == rank - 1, "tenon: labels have the axes of the scores but for that of the classes");
  for (int axis = 0; axis < rank; ++axis) {
    if (axis == 1) continue;
    const index given = labels.extent(axis < 1 ? axis : axis - 1);
    if (given == scores.extent(axis)) continue;
    throw shape_error(compose_text(name, ": labels: axis ", axis < 1 ? axis : axis - 1, ": extent ", given,
                                   ", expected ", scores.extent(axis), " (scores ", scores.to_array(), ", labels ",
                                   labels.to_array(), ")"));
  }
}

/// Weights of classes beside scores [batch, classes, ...]: one for each, or one for all that says so in its type.
/// throws    shape_error naming both extents
template <class Scores, class Weights>
void check_class_weights(const char* name, const Scores& scores, const Weights& weights) {
  static_assert(Weights::rank == 1 || must_hold<Weights>, "tenon: weights of classes have one axis");
  if constexpr (Weights::static_extent(0) != 1) {
    if (weights.extent(0) == scores.extent(1)) return;
    throw shape_error(compose_text(name, ": weights: axis 0: extent ", weights.extent(0), ", expected ",
                                   scores.extent(1), " (scores ", scores.to_array(), ", weights ", weights.to_array(),
                                   ")"));
  }
}

inline bool is_ignored_number(std::int64_t label, std::int64_t ignored) { return label == ignored; }
inline bool is_ignored_number(std::int64_t, nothing_ignored_type) { return false; }
inline std::string text_of_ignored(std::int64_t ignored) {
  return compose_text(", or ", ignored, ", which is ignored");
}
inline std::string text_of_ignored(nothing_ignored_type) { return ""; }

/// Whether labels are looked at when a loss is made.
template <class Labels>
inline constexpr bool looks_at_labels = std::is_same_v<typename Labels::space, host> ||
                                        std::is_same_v<typename Labels::space, any_space> || TENON_CHECKED != 0;

/// Whether labels lie in the host's memory, where a loop reads them. Builds with TENON_CHECKED first ask whether they
/// live.
template <class Labels>
inline constexpr bool lie_on_host = false;
template <class T, class Shape, class Owner>
inline constexpr bool lie_on_host<leaf<T, Shape, host, Owner>> = TENON_CHECKED == 0;

/// Calls `visit(row, label)` for each label, in row-major order.
/// cost      a statement where the labels are an expression or lie elsewhere
template <class Labels, class Visit>
void for_each_label(const Labels& labels, const Visit& visit) {
  if constexpr (lie_on_host<Labels>) {
    const auto extents = labels.shape().to_array(), strides = labels.view().strides();
    for (index row = 0; row < labels.shape().count(); ++row) {
      index offset = 0, left = row;
      for (int axis = Labels::shape_type::rank - 1; axis >= 0; --axis) {
        offset += left % extents[axis] * strides[axis];
        left /= extents[axis];
      }
      visit(row, static_cast<std::int64_t>(labels.view().data()[offset]));
    }
  } else {
    const auto numbers = evaluated_tensor(cast<std::int64_t>(labels)).template to<host>();
    for (index row = 0; row < numbers.size(); ++row) visit(row, numbers.data()[row]);
  }
}

/// Labels [batch, ...] beside scores [batch, classes, ...]: as many as scores, each a class or ignored, where they are
/// looked at. Returns how many are classes; 0 where they are not looked at.
/// throws    shape_error naming an axis; index_error naming the row, counted over all axes of the labels
/// cost      a pass over the labels on the host
template <class Scores, class Labels, class Ignored>
index check_labels(const char* name, const Scores& scores, const Labels& labels, const Ignored& ignored) {
  static_assert(is_integer<typename Labels::element> || must_hold<typename Labels::element>,
                "tenon: labels of classes are integers");
  check_label_extents(name, scores, labels.shape());
  index count = 0;
  if constexpr (looks_at_labels<Labels>) {
    const std::int64_t classes = scores.extent(1);
    for_each_label(labels, [&](index row, std::int64_t label) {
      const bool is_ignored = is_ignored_number(label, ignored);
      count += is_ignored ? 0 : 1;
      if (is_ignored || (label >= 0 && label < classes)) return;
      throw index_error(compose_text(name, ": labels: row ", row, ": label ", label, ", expected at least 0 and below ",
                                     classes, " classes", text_of_ignored(ignored)));
    });
  }
  return count;
}

/// Scores as the statements of losses take them: of elements in memory only the axes are in the type, so that networks
/// of any number of classes share what is compiled.
template <class Scores>
const Scores& shared_scores(const Scores& scores) {
  return scores;
}
template <class T, class Shape, class Space, class Owner>
auto shared_scores(const leaf<T, Shape, Space, Owner>& scores) {
  return leaf_under(scores, tenon::detail::with_dynamic_extents(scores.view()));
}

/// Labels as losses compare them, with a new axis for the classes: -100 is no byte.
template <int Axis, class Labels>
auto labels_beside(Labels&& labels) {
  const auto beside = as_node(new_axis<Axis>(std::forward<Labels>(labels)));
  if constexpr (std::is_same_v<typename node_of<Labels>::element, std::int64_t>) return beside;
  else return cast<std::int64_t>(beside);
}

/// What counts of rows: `value` where the label is a class, 0 where it is ignored, NaN for any other.
template <class Labels, class Value>
auto where_counted(const Labels& labels, index classes, nothing_ignored_type, const Value& value) {
  return where(labels >= 0 && labels < classes, value, std::numeric_limits<float>::quiet_NaN());
}
template <class Labels, class Value>
auto where_counted(const Labels& labels, index classes, std::int64_t ignored, const Value& value) {
  return where(labels == ignored, 0.0f, where_counted(labels, classes, nothing_ignored, value));
}

}  // namespace detail

}  // namespace tenon::nn
