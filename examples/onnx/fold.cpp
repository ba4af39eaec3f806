// examples/onnx/fold.cpp: what is computed while a model is converted: shapes, indices, tables, arranged weights.
// SPDX-License-Identifier: Apache-2.0
#include "fold.hpp"

#include <algorithm>

namespace onnx_in {

namespace {

/// Whole numbers that an input is: known ones, or extents.
std::optional<extents> whole_of(const value& each) {
  if (each.whole) return each.whole;
  if (!each.data || each.rank() > 1 || type_of(each.element).is_floating || each.data->size() > 64) return std::nullopt;
  const std::vector<std::int64_t> all = each.data->integers();
  const bool is_beyond = std::any_of(all.begin(), all.end(), [](std::int64_t number) { return number < 0; });
  if (each.element == uint64 && is_beyond) return std::nullopt;
  return extents(all.begin(), all.end());
}

/// Whole numbers as a value of one axis, or none.
bool keep_whole(const call& now, extents made, bool is_scalar, int element = int64) {
  value all;
  all.element = element;
  if (!is_scalar) all.extents = {static_cast<std::int64_t>(made.size())};
  if (std::all_of(made.begin(), made.end(), [](const extent& each) { return each.known.has_value(); })) {
    lengths numbers, axis;
    for (const extent& each : made) numbers.push_back(*each.known);
    if (!is_scalar) axis.push_back(static_cast<std::int64_t>(made.size()));
    all.data = constant::of_integers(element, axis, numbers);
  } else {
    all.whole = std::move(made);
  }
  now.net.define(now.at.outputs[0], std::move(all));
  return true;
}

bool fold_shape(const call& now) {
  const extents& all = now.in(0).extents;
  const auto rank = static_cast<std::int64_t>(all.size());
  const auto clamped = [&](std::int64_t at) { return std::clamp(at < 0 ? at + rank : at, std::int64_t{0}, rank); };
  const std::int64_t begin = clamped(now.integer("start", 0)), end = std::max(begin, clamped(now.integer("end", rank)));
  return keep_whole(now, extents(all.begin() + begin, all.begin() + end), false);
}

/// A number for each position of two lists that repeat over each other. Where both are known, elements are folded.
template <class Body>
bool fold_pair(const call& now, const Body& body) {
  if (now.in(0).data && now.in(1).data) return false;
  const auto a = whole_of(now.in(0)), b = whole_of(now.in(1));
  if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return false;
  extents made;
  const bool divides_by_zero = std::any_of(b->begin(), b->end(), [](const extent& each) { return each.is(0); });
  if (now.at.operation == "Div" && divides_by_zero) now.refuse("divides by 0");
  for (std::size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
    const auto each = body(a->at(a->size() == 1 ? 0 : i), b->at(b->size() == 1 ? 0 : i));
    if (!each) return false;
    made.push_back(*each);
  }
  return keep_whole(now, made, now.in(0).rank() + now.in(1).rank() == 0,
                    now.at.operation == "Equal" ? boolean : now.in(0).element);
}

std::optional<extent> are_equal(const extent& a, const extent& b) {
  if (a == b) return extent(1);
  if (a.known && b.known) return extent(0);
  const extent& number = a.known ? a : b;
  return number.known && *number.known < 0 ? std::optional(extent(0)) : std::nullopt;  // no extent is negative
}

/// What a division downwards leaves, by a known number above 0.
std::optional<extent> remainder_of(const extent& a, const extent& b) {
  if (!b.known || *b.known < 1) return std::nullopt;
  const auto is_less = [](const auto& term) { return term.second < 0; };
  const std::string rest = "(" + a.operand() + " % " + b.code + ")";
  const bool is_positive = std::none_of(a.terms.begin(), a.terms.end(), is_less);
  return extent(is_positive ? rest : "((" + rest + " + " + b.code + ") % " + b.code + ")");
}

bool fold_where(const call& now) {
  const auto test = whole_of(now.in(0)), a = whole_of(now.in(1)), b = whole_of(now.in(2));
  if (!test || !a || !b || a->size() != test->size() || b->size() != test->size()) return false;
  extents made;
  for (std::size_t i = 0; i < test->size(); ++i) {
    if (!test->at(i).known) return false;
    made.push_back(test->at(i).is(0) ? b->at(i) : a->at(i));
  }
  return keep_whole(now, made, now.in(0).rank() == 0, now.in(1).element);
}

bool fold_part(const call& now) {
  const auto all = whole_of(now.in(0));
  if (!all || now.in(0).rank() != 1) return false;
  const auto count = static_cast<std::int64_t>(all->size());
  const auto positive = [&](std::int64_t at) { return at < 0 ? at + count : at; };
  extents made;
  if (now.at.operation == "Gather") {
    if (!now.in(1).data || now.in(1).rank() > 1) return false;
    for (const std::int64_t at : now.known_integers(1, "indices")) {
      if (positive(at) < 0 || positive(at) >= count) now.refuse("index " + std::to_string(at) + " of " + text_of(*all));
      made.push_back(all->at(static_cast<std::size_t>(positive(at))));
    }
    return keep_whole(now, made, now.in(1).rank() == 0, now.in(0).element);
  }
  const bool is_old = now.has_attribute("starts");
  const std::int64_t begin = is_old ? now.integers("starts").at(0) : now.known_integers(1, "starts").at(0);
  const std::int64_t end = is_old ? now.integers("ends").at(0) : now.known_integers(2, "ends").at(0);
  if (now.has(4) && now.known_integers(4, "steps").at(0) != 1) return false;
  const auto clamped = [&](std::int64_t at) { return std::clamp(positive(at), std::int64_t{0}, count); };
  for (std::int64_t i = clamped(begin); i < clamped(end); ++i) made.push_back(all->at(static_cast<std::size_t>(i)));
  return keep_whole(now, made, false, now.in(0).element);
}

bool fold_concatenation(const call& now) {
  extents made;
  for (std::size_t i = 0; i < now.count(); ++i) {
    const auto each = whole_of(now.in(i));
    if (!each || now.in(i).rank() != 1) return false;
    made.insert(made.end(), each->begin(), each->end());
  }
  return keep_whole(now, made, false, now.in(0).element);
}

/// Operators of extents and whole numbers.
bool fold_whole(const call& now) {
  const std::string& operation = now.at.operation;
  if (operation == "Shape") return fold_shape(now);
  if (operation == "Size") return keep_whole(now, {product(now.in(0).extents)}, true);
  if (!now.has(0) || (now.in(0).data && now.in(0).data->size() > 64)) return false;
  if (operation == "Concat") return fold_concatenation(now);
  if (operation == "Gather" || operation == "Slice") return fold_part(now);
  if (operation == "Where") return fold_where(now);
  const auto pair = [&](auto body) {
    return fold_pair(now, [&](const extent& a, const extent& b) { return std::optional<extent>(body(a, b)); });
  };
  if (operation == "Add") return pair([](const extent& a, const extent& b) { return a + b; });
  if (operation == "Sub") return pair([](const extent& a, const extent& b) { return a - b; });
  if (operation == "Mul") return pair([](const extent& a, const extent& b) { return a * b; });
  if (operation == "Div") return pair([](const extent& a, const extent& b) { return a / b; });
  if (operation == "Equal") return fold_pair(now, are_equal);
  if (operation == "Mod" && now.integer("fmod", 0) == 0) return fold_pair(now, remainder_of);
  if ((operation == "Min" || operation == "Max") && now.count() == 2) {
    const std::string name = operation == "Min" ? "std::min" : "std::max";
    now.net.include("algorithm");
    return pair(
        [&](const extent& a, const extent& b) { return extent(name + "<tn::index>(" + a.code + ", " + b.code + ")"); });
  }
  const auto all = whole_of(now.in(0));
  if (!all || !now.in(0).whole) return false;
  if (operation == "ReduceProd") return keep_whole(now, {product(*all)}, now.integer("keepdims", 1) == 0);
  if (operation == "Unsqueeze" && now.in(0).rank() == 0) return keep_whole(now, *all, false);
  if (operation == "Squeeze") return keep_whole(now, *all, true);
  if (operation == "Reshape") return keep_whole(now, *all, now.known(1, "shape").size() == 0);
  if (operation == "Identity") return keep_whole(now, *all, now.in(0).rank() == 0);
  const auto to = static_cast<int>(now.integer("to", 0));
  if (operation == "Cast" && !type_of(to).is_floating) return keep_whole(now, *all, now.in(0).rank() == 0, to);
  return false;
}

/// One number under extents that may hang on the input's.
bool keep_fill(const call& now, extents made, constant one) {
  value all;
  all.element = one.element, all.extents = std::move(made), all.fill = std::move(one);
  now.net.define(now.at.outputs[0], std::move(all));
  return true;
}

bool fold_fill(const call& now) {
  const std::string& operation = now.at.operation;
  if (operation == "ConstantOfShape") {
    const auto all = whole_of(now.in(0));
    if (!all) return false;
    const auto found = now.at.attributes.find("value");
    const bool is_given = found != now.at.attributes.end() && found->second.tensor.contains(0);
    const constant number = is_given ? found->second.tensor.at(0) : constant::of(float32, {}, {0});
    return keep_fill(now, *all, number.one());
  }
  if (!now.has(0)) return false;
  const value& from = now.in(0);
  const bool is_single = from.data && from.data->size() == 1;
  if (operation == "Expand" && (is_single || from.fill)) {
    const auto all = whole_of(now.in(1));
    if (!all) return false;
    return keep_fill(now, broadcast(now, from.extents, *all), from.fill ? *from.fill : from.data->one());
  }
  if (!from.fill) return false;
  if (operation == "Slice" && now.in(0).rank() > 0 && !now.in(1).whole && !now.in(2).whole) {
    extents made = from.extents;
    const auto axes = now.axes(3);
    const auto begins = now.known_integers(1, "starts"), ends = now.known_integers(2, "ends");
    const auto steps = now.has(4) ? now.known_integers(4, "steps") : lengths{};
    if (std::any_of(steps.begin(), steps.end(), [](std::int64_t step) { return step != 1; })) return false;
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const auto axis = now.axis_of(axes ? axes->at(i) : static_cast<std::int64_t>(i), from.rank());
      extent& each = made[static_cast<std::size_t>(axis)];
      if (begins[i] == 0 && ends[i] == INT64_MAX) continue;
      if (!each.known) return false;
      const auto clamped = [&](std::int64_t at) {
        return std::clamp(at < 0 ? at + *each.known : at, std::int64_t{0}, *each.known);
      };
      each = std::max(std::int64_t{0}, clamped(ends[i]) - clamped(begins[i]));
    }
    return keep_fill(now, made, *from.fill);
  }
  if (operation == "Identity") return keep_fill(now, from.extents, *from.fill);
  return false;
}

bool fold_constant(const call& now) {
  const auto& all = now.at.attributes;
  if (const auto found = all.find("value"); found != all.end() && found->second.tensor.contains(0)) {
    return now.known_result(found->second.tensor.at(0)), true;
  }
  const auto has = [&](const char* name) { return all.contains(name); };
  const auto numbers = [](const auto& list) { return std::vector<double>(list.begin(), list.end()); };
  const auto count = [](const auto& list) { return std::vector<std::int64_t>{static_cast<std::int64_t>(list.size())}; };
  if (has("value_int")) {
    now.known_result(constant::of_integers(int64, {}, {now.integer("value_int", 0)}));
  } else if (has("value_float")) {
    now.known_result(constant::of(float32, {}, {now.number("value_float", 0)}));
  } else if (has("value_ints")) {
    now.known_result(constant::of_integers(int64, count(now.integers("value_ints")), now.integers("value_ints")));
  } else if (has("value_floats")) {
    const auto& list = all.at("value_floats").numbers;
    now.known_result(constant::of(float32, count(list), numbers(list)));
  } else {
    now.refuse("has no value of a supported type");
  }
  return true;
}

}  // namespace

bool fold(const call& now) {
  if (!now.at.domain.empty()) return false;
  if (now.at.operation == "Constant") return fold_constant(now);
  for (std::size_t i = 0; i < now.count(); ++i) {
    if (now.has(i)) static_cast<void>(now.in(i));  // that there is a value
  }
  expect_last_axes(now);
  return fold_whole(now) || fold_fill(now) || fold_elements(now);
}

}  // namespace onnx_in
