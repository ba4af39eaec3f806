// examples/onnx/fold_elements.cpp: known elements through operators, in double, which holds what models have.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>

#include "fold.hpp"

namespace onnx_in {

namespace {

using lengths = std::vector<std::int64_t>;

std::int64_t count_of(const lengths& all) {
  std::int64_t count = 1;
  for (const std::int64_t each : all) count *= each;
  return count;
}

/// Known elements as numbers.
struct known_array {
  int element = float32;
  lengths extents;
  std::vector<double> numbers;

  explicit known_array(const constant& from) : element(from.element), extents(from.extents), numbers(from.numbers()) {}
  known_array(int type, lengths all)
      : element(type), extents(std::move(all)), numbers(static_cast<std::size_t>(count_of(extents))) {}
  int rank() const { return static_cast<int>(extents.size()); }
  constant elements() const { return constant::of(element, extents, numbers); }
};

/// Calls `body(place, position)` for every position, in order.
template <class Body>
void for_each_position(const lengths& all, const Body& body) {
  const std::int64_t count = count_of(all);
  lengths position(all.size());
  for (std::int64_t place = 0; place < count; ++place) {
    body(static_cast<std::size_t>(place), position);
    for (std::size_t axis = all.size(); axis-- > 0;) {
      if (++position[axis] < all[axis]) break;
      position[axis] = 0;
    }
  }
}

/// Where a position lies; axes are aligned at the back, and those of extent 1 repeat.
std::size_t place_of(const lengths& all, const lengths& position) {
  std::int64_t place = 0;
  const std::size_t more = position.size() - all.size();
  for (std::size_t axis = 0; axis < all.size(); ++axis) {
    place = place * all[axis] + (all[axis] == 1 ? 0 : position[axis + more]);
  }
  return static_cast<std::size_t>(place);
}

known_array array_of(const call& now, std::size_t i) { return known_array(now.known(i, "operand")); }

using unary = double (*)(double);
unary unary_of(const std::string& operation) {
  static const std::map<std::string, unary> all = {
      {"Sqrt", [](double x) { return std::sqrt(x); }},      {"Neg", [](double x) { return -x; }},
      {"Abs", [](double x) { return std::abs(x); }},        {"Floor", [](double x) { return std::floor(x); }},
      {"Ceil", [](double x) { return std::ceil(x); }},      {"Exp", [](double x) { return std::exp(x); }},
      {"Log", [](double x) { return std::log(x); }},        {"Sin", [](double x) { return std::sin(x); }},
      {"Cos", [](double x) { return std::cos(x); }},        {"Reciprocal", [](double x) { return 1 / x; }},
      {"Not", [](double x) { return x == 0 ? 1.0 : 0.0; }},
  };
  const auto found = all.find(operation);
  return found == all.end() ? nullptr : found->second;
}

using binary = double (*)(double, double);
struct binary_rule {
  binary compute;
  bool is_test;
};
const binary_rule* binary_of(const std::string& operation) {
  static const std::map<std::string, binary_rule> all = {
      {"Add", {[](double a, double b) { return a + b; }, false}},
      {"Sub", {[](double a, double b) { return a - b; }, false}},
      {"Mul", {[](double a, double b) { return a * b; }, false}},
      {"Div", {[](double a, double b) { return a / b; }, false}},
      {"Pow", {[](double a, double b) { return std::pow(a, b); }, false}},
      {"Mod", {[](double a, double b) { return a - b * std::floor(a / b); }, false}},
      {"Max", {[](double a, double b) { return std::fmax(a, b); }, false}},
      {"Min", {[](double a, double b) { return std::fmin(a, b); }, false}},
      {"Equal", {[](double a, double b) { return a == b ? 1.0 : 0.0; }, true}},
      {"Less", {[](double a, double b) { return a < b ? 1.0 : 0.0; }, true}},
      {"LessOrEqual", {[](double a, double b) { return a <= b ? 1.0 : 0.0; }, true}},
      {"Greater", {[](double a, double b) { return a > b ? 1.0 : 0.0; }, true}},
      {"GreaterOrEqual", {[](double a, double b) { return a >= b ? 1.0 : 0.0; }, true}},
      {"And", {[](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }, true}},
      {"Or", {[](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }, true}},
  };
  const auto found = all.find(operation);
  return found == all.end() ? nullptr : &found->second;
}

lengths broadcast_of(const call& now, const lengths& a, const lengths& b) {
  lengths made;
  const extents left(a.begin(), a.end()), right(b.begin(), b.end());
  for (const extent& each : broadcast(now, left, right)) made.push_back(*each.known);
  return made;
}

constant fold_binary(const call& now, const binary_rule& rule) {
  const known_array a = array_of(now, 0), b = array_of(now, 1);
  known_array made(rule.is_test ? boolean : a.element, broadcast_of(now, a.extents, b.extents));
  for_each_position(made.extents, [&](std::size_t place, const lengths& position) {
    double number = rule.compute(a.numbers[place_of(a.extents, position)], b.numbers[place_of(b.extents, position)]);
    if (!type_of(made.element).is_floating) number = std::trunc(number);
    made.numbers[place] = number;
  });
  return made.elements();
}

constant fold_transposed(const call& now) {
  const known_array from = array_of(now, 0);
  lengths order = now.integers("perm");
  if (order.empty()) {
    for (int axis = from.rank(); axis-- > 0;) order.push_back(axis);
  }
  lengths all;
  for (const std::int64_t axis : order) all.push_back(from.extents.at(static_cast<std::size_t>(axis)));
  known_array made(from.element, all);
  lengths before(order.size());
  for_each_position(made.extents, [&](std::size_t place, const lengths& position) {
    for (std::size_t axis = 0; axis < order.size(); ++axis)
      before[static_cast<std::size_t>(order[axis])] = position[axis];
    made.numbers[place] = from.numbers[place_of(from.extents, before)];
  });
  return made.elements();
}

constant fold_gather(const call& now) {
  const known_array from = array_of(now, 0), indices = array_of(now, 1);
  const auto axis = static_cast<std::size_t>(now.axis_of(now.integer("axis", 0), from.rank()));
  lengths all(from.extents.begin(), from.extents.begin() + static_cast<std::ptrdiff_t>(axis));
  all.insert(all.end(), indices.extents.begin(), indices.extents.end());
  all.insert(all.end(), from.extents.begin() + static_cast<std::ptrdiff_t>(axis) + 1, from.extents.end());
  known_array made(from.element, all);
  const std::size_t more = indices.extents.size();
  for_each_position(made.extents, [&](std::size_t place, const lengths& position) {
    lengths before(position.begin(), position.begin() + static_cast<std::ptrdiff_t>(axis));
    const lengths at(position.begin() + static_cast<std::ptrdiff_t>(axis),
                     position.begin() + static_cast<std::ptrdiff_t>(axis + more));
    auto index = static_cast<std::int64_t>(indices.numbers[place_of(indices.extents, at)]);
    if (index < 0) index += from.extents[axis];
    if (index < 0 || index >= from.extents[axis]) now.refuse("has an index outside of axis " + std::to_string(axis));
    before.push_back(index);
    before.insert(before.end(), position.begin() + static_cast<std::ptrdiff_t>(axis + more), position.end());
    made.numbers[place] = from.numbers[place_of(from.extents, before)];
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
    made.numbers[place] = from.numbers[place_of(from.extents, before)];
  });
  return made.elements();
}

constant fold_concatenation(const call& now) {
  known_array made = array_of(now, 0);
  const auto axis = static_cast<std::size_t>(now.axis_of(now.integer("axis", 0), made.rank()));
  for (std::size_t i = 1; i < now.count(); ++i) {
    const known_array first = made, next = array_of(now, i);
    lengths all = first.extents;
    all[axis] += next.extents.at(axis);
    made = known_array(first.element, all);
    for_each_position(all, [&](std::size_t place, lengths position) {
      const bool is_first = position[axis] < first.extents[axis];
      if (!is_first) position[axis] -= first.extents[axis];
      const known_array& from = is_first ? first : next;
      made.numbers[place] = from.numbers[place_of(from.extents, position)];
    });
  }
  return made.elements();
}

constant fold_range(const call& now) {
  const double first = array_of(now, 0).numbers.at(0), stop = array_of(now, 1).numbers.at(0);
  const double step = array_of(now, 2).numbers.at(0);
  const auto count = static_cast<std::int64_t>(std::fmax(0, std::ceil((stop - first) / step)));
  known_array made(now.in(0).element, {count});
  for (std::size_t i = 0; i < made.numbers.size(); ++i) made.numbers[i] = first + static_cast<double>(i) * step;
  return made.elements();
}

constant fold_triangle(const call& now) {
  known_array made = array_of(now, 0);
  const std::int64_t offset = now.has(1) ? now.known_integers(1, "k").at(0) : 0;
  const bool is_upper = now.integer("upper", 1) != 0;
  const std::size_t rows = made.extents.size() - 2;
  for_each_position(made.extents, [&](std::size_t place, const lengths& position) {
    const std::int64_t diagonal = position[rows + 1] - position[rows];
    if (is_upper ? diagonal < offset : diagonal > offset) made.numbers[place] = 0;
  });
  return made.elements();
}

constant fold_choice(const call& now) {
  const known_array test = array_of(now, 0), a = array_of(now, 1), b = array_of(now, 2);
  known_array made(a.element, broadcast_of(now, broadcast_of(now, test.extents, a.extents), b.extents));
  for_each_position(made.extents, [&](std::size_t place, const lengths& position) {
    const known_array& from = test.numbers[place_of(test.extents, position)] != 0 ? a : b;
    made.numbers[place] = from.numbers[place_of(from.extents, position)];
  });
  return made.elements();
}

constant fold_expanded(const call& now) {
  const known_array from = array_of(now, 0);
  known_array made(from.element, broadcast_of(now, from.extents, now.known_integers(1, "shape")));
  for_each_position(made.extents, [&](std::size_t place, const lengths& position) {
    made.numbers[place] = from.numbers[place_of(from.extents, position)];
  });
  return made.elements();
}

/// The same bytes under other extents, where the operator says which.
std::optional<lengths> lengths_under(const call& now) {
  lengths all = now.in(0).data->extents;
  const int rank = static_cast<int>(all.size());
  if (now.at.operation == "Reshape") {
    lengths wanted = now.known_integers(1, "shape");
    const std::int64_t count = count_of(all);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] == 0 && now.integer("allowzero", 0) == 0) wanted[i] = all.at(i);
    }
    for (std::int64_t& each : wanted) {
      if (each == -1) each = count / std::max(std::int64_t{1}, -count_of(wanted));
    }
    if (count_of(wanted) != count)
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
      {"Transpose", fold_transposed}, {"Gather", fold_gather},  {"Slice", fold_slice},  {"Concat", fold_concatenation},
      {"Range", fold_range},          {"Trilu", fold_triangle}, {"Where", fold_choice}, {"Expand", fold_expanded}};
  const std::string& operation = now.at.operation;
  if (const auto found = all.find(operation); found != all.end()) return found->second(now);
  if (const auto under = lengths_under(now)) {
    constant made = *now.in(0).data;
    made.extents = *under;
    return made;
  }
  if (operation == "Cast") {
    const constant& from = *now.in(0).data;
    return constant::of(static_cast<int>(now.integer("to", from.element)), from.extents, from.numbers());
  }
  if (const binary_rule* rule = binary_of(operation); rule != nullptr && now.count() == 2)
    return fold_binary(now, *rule);
  if (const unary compute = unary_of(operation)) {
    known_array made = array_of(now, 0);
    std::transform(made.numbers.begin(), made.numbers.end(), made.numbers.begin(), compute);
    return made.elements();
  }
  return std::nullopt;
}

}  // namespace

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
