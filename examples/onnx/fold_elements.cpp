// examples/onnx/fold_elements.cpp: known elements through operators that arrange them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "fold.hpp"

namespace onnx_in {

namespace {

/// Known elements, each with its bytes in a word.
struct known_array {
  int element = float32;
  lengths extents;
  std::vector<std::uint64_t> words;

  explicit known_array(const constant& from) : known_array(from.element, from.extents) {
    const std::size_t width = type_of(element).bytes;
    for (std::size_t i = 0; i < words.size(); ++i) std::memcpy(&words[i], &from.bytes[i * width], width);
  }
  known_array(int type, lengths all)
      : element(type), extents(std::move(all)), words(static_cast<std::size_t>(size_of(extents))) {}
  int rank() const { return static_cast<int>(extents.size()); }
  constant elements() const {
    constant made{element, extents, {}};
    for (const std::uint64_t& word : words) {
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(&word);
      made.bytes.insert(made.bytes.end(), bytes, bytes + type_of(element).bytes);
    }
    return made;
  }
};

known_array array_of(const call& now, std::size_t i) { return known_array(now.known(i, "operand")); }

constant fold_transposed(const call& now) {
  const known_array from = array_of(now, 0);
  lengths order = now.integers("perm");
  if (order.empty()) {
    for (int axis = from.rank(); axis-- > 0;) order.push_back(axis);
  }
  if (order.size() != from.extents.size())
    now.refuse("has perm [" + listed(order) + "], expected one number for each of " + std::to_string(from.rank()) +
               " axes");
  lengths all;
  for (const std::int64_t axis : order) all.push_back(from.extents.at(static_cast<std::size_t>(axis)));
  known_array made(from.element, all);
  lengths before(order.size());
  for_each_position(made.extents, [&](std::size_t place, const lengths& position) {
    for (std::size_t axis = 0; axis < order.size(); ++axis)
      before[static_cast<std::size_t>(order[axis])] = position[axis];
    made.words[place] = from.words[place_of(from.extents, before)];
  });
  return made.elements();
}

constant fold_gather(const call& now) {
  const known_array from = array_of(now, 0);
  const constant& places = now.known(1, "indices");
  const lengths numbers = places.integers();
  const auto axis = static_cast<std::size_t>(now.axis_of(now.integer("axis", 0), from.rank()));
  lengths all(from.extents.begin(), from.extents.begin() + static_cast<std::ptrdiff_t>(axis));
  all.insert(all.end(), places.extents.begin(), places.extents.end());
  all.insert(all.end(), from.extents.begin() + static_cast<std::ptrdiff_t>(axis) + 1, from.extents.end());
  known_array made(from.element, all);
  const std::size_t more = places.extents.size();
  for_each_position(made.extents, [&](std::size_t place, const lengths& position) {
    lengths before(position.begin(), position.begin() + static_cast<std::ptrdiff_t>(axis));
    const lengths at(position.begin() + static_cast<std::ptrdiff_t>(axis),
                     position.begin() + static_cast<std::ptrdiff_t>(axis + more));
    std::int64_t index = numbers[place_of(places.extents, at)];
    if (index < 0) index += from.extents[axis];
    if (index < 0 || index >= from.extents[axis]) now.refuse("has an index outside of axis " + std::to_string(axis));
    before.push_back(index);
    before.insert(before.end(), position.begin() + static_cast<std::ptrdiff_t>(axis + more), position.end());
    made.words[place] = from.words[place_of(from.extents, before)];
  });
  return made.elements();
}

constant fold_slice(const call& now) {
  const known_array from = array_of(now, 0);
  lengths begin(from.extents.size(), 0), step(from.extents.size(), 1), all = from.extents;
  const bool is_old = now.has_attribute("starts");
  const lengths starts = is_old ? now.integers("starts") : now.known_integers(1, "starts");
  const lengths ends = is_old ? now.integers("ends") : now.known_integers(2, "ends");
  const auto axes = now.axes(3);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto axis =
        static_cast<std::size_t>(now.axis_of(axes ? axes->at(i) : static_cast<std::int64_t>(i), from.rank()));
    const std::int64_t count = from.extents[axis];
    step[axis] = now.has(4) ? now.known_integers(4, "steps").at(i) : 1;
    if (step[axis] == 0) now.refuse("has a step of 0");
    const std::int64_t least = step[axis] > 0 ? 0 : -1, most = step[axis] > 0 ? count : count - 1;
    const auto clamped = [&](std::int64_t at) { return std::clamp(at < 0 ? at + count : at, least, most); };
    begin[axis] = clamped(starts[i]);
    const std::int64_t end = ends[i] == INT64_MIN ? least : clamped(ends[i]);
    const std::int64_t span = step[axis] > 0 ? end - begin[axis] : begin[axis] - end, stride = std::abs(step[axis]);
    all[axis] = span <= 0 ? 0 : (span + stride - 1) / stride;
  }
  known_array made(from.element, all);
  lengths before(all.size());
  for_each_position(all, [&](std::size_t place, const lengths& position) {
    for (std::size_t axis = 0; axis < all.size(); ++axis) before[axis] = begin[axis] + step[axis] * position[axis];
    made.words[place] = from.words[place_of(from.extents, before)];
  });
  return made.elements();
}

constant fold_concatenated(const call& now) {
  known_array made = array_of(now, 0);
  const auto axis = static_cast<std::size_t>(now.axis_of(now.integer("axis", 0), made.rank()));
  for (std::size_t i = 1; i < now.count(); ++i) {
    const known_array first = made, next = array_of(now, i);
    lengths all = first.extents, other = next.extents;
    other.at(axis) = all[axis];
    if (other != all) now.refuse("joins [" + listed(first.extents) + "] and [" + listed(next.extents) + "]");
    all[axis] += next.extents[axis];
    made = known_array(first.element, all);
    for_each_position(all, [&](std::size_t place, lengths position) {
      const bool is_first = position[axis] < first.extents[axis];
      if (!is_first) position[axis] -= first.extents[axis];
      const known_array& from = is_first ? first : next;
      made.words[place] = from.words[place_of(from.extents, position)];
    });
  }
  return made.elements();
}

constant fold_triangle(const call& now) {
  known_array made = array_of(now, 0);
  const std::int64_t offset = now.has(1) ? now.known_integers(1, "k").at(0) : 0;
  const bool is_upper = now.integer("upper", 1) != 0;
  if (made.rank() < 2) now.refuse("has an input of " + std::to_string(made.rank()) + " axes, expected two");
  const std::size_t rows = made.extents.size() - 2;
  for_each_position(made.extents, [&](std::size_t place, const lengths& position) {
    const std::int64_t diagonal = position[rows + 1] - position[rows];
    if (is_upper ? diagonal < offset : diagonal > offset) made.words[place] = 0;
  });
  return made.elements();
}

lengths broadcast_of(const call& now, const lengths& a, const lengths& b) {
  lengths made;
  const extents left(a.begin(), a.end()), right(b.begin(), b.end());
  for (const extent& each : broadcast(now, left, right)) made.push_back(*each.known);
  return made;
}

constant fold_choice(const call& now) {
  const known_array test = array_of(now, 0), a = array_of(now, 1), b = array_of(now, 2);
  known_array made(a.element, broadcast_of(now, broadcast_of(now, test.extents, a.extents), b.extents));
  for_each_position(made.extents, [&](std::size_t place, const lengths& position) {
    const known_array& from = test.words[place_of(test.extents, position)] != 0 ? a : b;
    made.words[place] = from.words[place_of(from.extents, position)];
  });
  return made.elements();
}

/// Elements at the positions of other extents, over which their own repeat.
constant repeated(const known_array& from, const lengths& to) {
  static_cast<void>(size_of(to, std::max(most_computed, size_of(from.extents))));
  known_array made(from.element, to);
  for_each_position(to, [&](std::size_t place, const lengths& position) {
    made.words[place] = from.words[place_of(from.extents, position)];
  });
  return made.elements();
}
constant fold_expanded(const call& now) {
  const known_array from = array_of(now, 0);
  return repeated(from, broadcast_of(now, from.extents, now.known_integers(1, "shape")));
}

/// scale * (integer - zero point), of one scale or of one for each position along an axis.
constant fold_dequantised(const call& now) {
  const constant &from = now.known(0, "operand"), &scale = now.known(1, "scale");
  if (now.integer("block_size", 0) != 0) now.refuse("has blocks along an axis, which is not supported");
  const std::vector<double> scales = scale.numbers(), numbers = from.numbers();
  const std::vector<double> points = now.has(2) ? now.known(2, "zero point").numbers() : std::vector<double>{0};
  const auto rank = static_cast<int>(from.extents.size());
  const bool is_single = scales.size() == 1 && points.size() == 1;
  const auto along = static_cast<std::size_t>(is_single ? 0 : now.axis_of(now.integer("axis", 1), rank));
  for (const std::size_t count : {scales.size(), points.size()}) {
    if (count != 1 && static_cast<std::int64_t>(count) != from.extents[along])
      now.refuse("axis " + std::to_string(along) + ": " + std::to_string(count) +
                 " scales or zero points for an extent of " + std::to_string(from.extents[along]));
  }
  std::vector<double> made(numbers.size());
  for_each_position(from.extents, [&](std::size_t place, const lengths& position) {
    const auto at = [&](const std::vector<double>& all) {
      return all[all.size() == 1 ? 0 : static_cast<std::size_t>(position[along])];
    };
    made[place] = at(scales) * (numbers[place] - at(points));
  });
  return constant::of(scale.element, from.extents, made);
}

/// The same bytes under other extents, where the operator says which.
std::optional<lengths> lengths_under(const call& now) {
  lengths all = now.in(0).data->extents;
  const int rank = static_cast<int>(all.size());
  if (now.at.operation == "Reshape") {
    lengths wanted = now.known_integers(1, "shape");
    const std::int64_t count = size_of(all);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] == 0 && now.integer("allowzero", 0) == 0) wanted[i] = all.at(i);
    }
    const auto open = std::find(wanted.begin(), wanted.end(), -1);
    if (open != wanted.end()) {
      *open = 1;
      *open = count / std::max(std::int64_t{1}, size_of(wanted));
    }
    if (size_of(wanted) != count)
      now.refuse("has " + std::to_string(count) + " elements, expected [" + listed(wanted) + "]");
    return wanted;
  }
  const auto axes = now.axes(1);
  if (now.at.operation == "Squeeze") {
    lengths made;
    std::set<std::int64_t> gone;
    if (axes) {
      for (const std::int64_t each : *axes) gone.insert(now.axis_of(each, rank));
    }
    for (int axis = 0; axis < rank; ++axis) {
      const bool goes = axes ? gone.contains(axis) : all[static_cast<std::size_t>(axis)] == 1;
      if (!goes) made.push_back(all[static_cast<std::size_t>(axis)]);
    }
    return made;
  }
  if (now.at.operation != "Unsqueeze" || !axes) return std::nullopt;
  std::set<std::int64_t> fresh;
  for (const std::int64_t each : *axes) fresh.insert(now.axis_of(each, rank + static_cast<int>(axes->size())));
  for (const std::int64_t axis : fresh) all.insert(all.begin() + axis, 1);
  return all;
}

std::optional<constant> folded(const call& now) {
  static const std::map<std::string, constant (*)(const call&)> all = {
      {"Transpose", fold_transposed}, {"Gather", fold_gather},
      {"Slice", fold_slice},          {"Concat", fold_concatenated},
      {"Trilu", fold_triangle},       {"Where", fold_choice},
      {"Expand", fold_expanded},      {"DequantizeLinear", fold_dequantised}};
  const std::string& operation = now.at.operation;
  if (const auto found = all.find(operation); found != all.end()) return found->second(now);
  if (const auto under = lengths_under(now)) {
    constant made = *now.in(0).data;
    made.extents = *under;
    return made;
  }
  if (operation == "Cast") {
    const constant& from = *now.in(0).data;
    return from.as(static_cast<int>(now.integer("to", from.element)));
  }
  return fold_numbers(now);
}

}  // namespace

constant expanded(const call& now, const constant& from, const lengths& to) {
  if (from.extents.size() > to.size() || broadcast_of(now, from.extents, to) != to)
    now.refuse("has a scale or a bias [" + listed(from.extents) + "], expected [" + listed(to) + "]");
  return repeated(known_array(from), to);
}

bool fold_elements(const call& now) {
  if (now.count() == 0) return false;
  for (std::size_t i = 0; i < now.count(); ++i) {
    if (!now.has(i)) continue;
    value& each = now.in(i);
    const bool is_fixed =
        std::all_of(each.extents.begin(), each.extents.end(), [](const extent& e) { return e.known.has_value(); });
    if (each.fill && is_fixed) static_cast<void>(now.known(i, "operand"));
    if (!each.data) return false;
  }
  if (now.at.operation == "Identity") {
    value same = now.in(0);
    now.net.define(now.at.outputs[0], std::move(same));
    return true;
  }
  auto made = folded(now);
  if (made) now.known_result(std::move(*made));
  return made.has_value();
}

}  // namespace onnx_in
