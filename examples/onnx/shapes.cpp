// examples/onnx/shapes.cpp: operators that leave elements as they are: other extents, other orders of axes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "call.hpp"
#include "windows.hpp"

namespace onnx_in {

namespace {

/// Extents that a reshape asks for, by numbers of which 0 copies and -1 is what is left.
extents wanted_extents(const call& each) {
  extents wanted = each.whole_numbers(1, "shape");
  const extents& all = each.in(0).extents;
  for (std::size_t axis = 0; axis < wanted.size(); ++axis) {
    if (wanted[axis].is(0) && each.integer("allowzero", 0) == 0 && axis < all.size()) wanted[axis] = all[axis];
  }
  const auto open = std::find_if(wanted.begin(), wanted.end(), [](const extent& length) { return length.is(-1); });
  if (open != wanted.end()) {
    extents others = wanted;
    others.erase(others.begin() + (open - wanted.begin()));
    *open = product(all) / product(others);
  }
  const extent before = product(all), after = product(wanted);
  if (before.known && after.known && !(before == after)) {
    each.refuse("has an input " + text_of(all) + ", which does not fit under " + text_of(wanted));
  }
  return wanted;
}

/// The result is a value that is there already.
void pass_on(const call& each, const std::string& code, const extents& made, bool is_name) {
  value same;
  same.element = each.in(0).element, same.extents = made, same.code = code, same.is_name = is_name;
  each.net.define(each.at.outputs[0], std::move(same));
}

void write_transpose(const call& each) {
  const value from = each.in(0);
  lengths order = each.integers("perm");
  if (order.empty()) {
    for (int axis = from.rank(); axis-- > 0;) order.push_back(axis);
  }
  if (static_cast<int>(order.size()) != from.rank()) each.refuse("has an order of other axes than its input");
  extents made;
  for (const std::int64_t axis : order)
    made.push_back(from.extents[static_cast<std::size_t>(each.axis_of(axis, from.rank()))]);
  const bool has_origin = !from.origin.empty() && !from.order.empty();
  lengths whole = order;
  if (has_origin) {
    for (std::int64_t& axis : whole) axis = from.order[static_cast<std::size_t>(axis)];
  }
  const std::string origin = has_origin ? from.origin : each.code(0);
  const bool is_name = has_origin || from.is_name;
  const bool is_cheap = is_name || !from.origin.empty();  // a name, or the same elements under another shape
  if (std::is_sorted(whole.begin(), whole.end())) return pass_on(each, origin, made, is_name);
  each.result(made, "tn::permute(" + origin + ", " + axis_text(whole) + ")");
  value& now = each.net.of(each.at.outputs[0]);
  if (is_cheap)
    now.origin = origin, now.order = whole, now.origin_extents = has_origin ? from.origin_extents : from.extents;
}

void write_squeeze(const call& each) {
  const extents& all = each.in(0).extents;
  const auto axes = each.axes(1);
  extents made;
  lengths gone;
  if (axes) {
    for (const std::int64_t axis : *axes) gone.push_back(each.axis_of(axis, each.in(0).rank()));
  }
  for (std::size_t axis = 0; axis < all.size(); ++axis) {
    const bool is_named = std::find(gone.begin(), gone.end(), static_cast<std::int64_t>(axis)) != gone.end();
    if (is_named && all[axis].known && !all[axis].is(1)) {
      each.refuse("axis " + std::to_string(axis) + ": extent " + all[axis].code + ", expected 1");
    }
    if (axes ? !is_named : !all[axis].is(1)) made.push_back(all[axis]);
  }
  write_reshaped(each, made);
}

void write_unsqueeze(const call& each) {
  extents made = each.in(0).extents;
  const auto axes = each.axes(1);
  if (!axes) each.refuse("has no axes");
  lengths fresh;
  for (const std::int64_t axis : *axes) {
    fresh.push_back(each.axis_of(axis, each.in(0).rank() + static_cast<int>(axes->size())));
  }
  std::sort(fresh.begin(), fresh.end());
  for (const std::int64_t axis : fresh) made.insert(made.begin() + axis, 1);
  write_reshaped(each, made);
}

void write_flatten(const call& each) {
  const extents& all = each.in(0).extents;
  const std::int64_t axis = each.integer("axis", 1);
  const auto at = static_cast<std::size_t>(axis < 0 ? axis + each.in(0).rank() : axis);
  write_reshaped(each, {product(all, 0, at), product(all, at)});
}

/// A value whose elements repeat along axes of one element.
void write_stretched(const call& each, const extents& made) {
  if (made == each.in(0).extents) return pass_on(each, each.code(0, binding::tight), made, each.in(0).is_name);
  each.result(made, "tn::broadcast_to(" + each.code(0) + ", " + shape_of(made) + ")");
}

void write_expand(const call& each) {
  write_stretched(each, broadcast(each, each.in(0).extents, each.whole_numbers(1, "shape")));
}

void write_tile(const call& each) {
  const extents repeats = each.whole_numbers(1, "repeats"), &all = each.in(0).extents;
  if (repeats.size() != all.size()) each.refuse("has repeats " + text_of(repeats) + " for an input " + text_of(all));
  extents made;
  std::vector<std::string> codes;
  bool is_stretched = true;
  for (std::size_t axis = 0; axis < all.size(); ++axis) {
    made.push_back(all[axis] * repeats[axis]), codes.push_back(repeats[axis].code);
    is_stretched = is_stretched && (all[axis].is(1) || repeats[axis].is(1));
  }
  if (is_stretched) return write_stretched(each, made);
  each.result(made, "tn::tile(" + each.code(0) + ", {{" + joined(codes) + "}})");
}

void write_identity(const call& each) {
  value same = each.in(0);
  if (!same.is_name) each.net.name_of(same);
  each.net.define(each.at.outputs[0], std::move(same));
}

/// Blocks of pixels become channels, or the other way round.
void write_blocks(const call& each) {
  const bool is_to_depth = each.at.operation == "SpaceToDepth";
  const std::int64_t block = each.integer("blocksize", 1);
  if (block < 1) each.refuse("blocksize is " + std::to_string(block) + ", expected at least 1");
  const extents& all = each.in(0).extents;
  if (each.in(0).rank() != 4) each.refuse("has an input " + text_of(all) + ", expected four axes");
  const extent b = block, area = block * block;
  const std::string x = each.net.name_of(each.in(0));
  const auto permuted = [&](const extents& inner, const lengths& order, const extents& made) {
    const std::string base = "tn::traced(" + x + ").reshape(" + shape_of(inner) + ")";
    const std::string turned = each.net.named("tn::permute(" + base + ", " + axis_text(order) + ")");
    each.result(made, turned + ".reshape(" + shape_of(made) + ")");
  };
  if (is_to_depth) {
    const extent height = all[2] / b, width = all[3] / b;
    return permuted({all[0], all[1], height, b, width, b}, {0, 3, 5, 1, 2, 4}, {all[0], all[1] * area, height, width});
  }
  const extent channels = all[1] / area;
  const bool is_column = each.text("mode", "DCR") == "CRD";
  const extents inner =
      is_column ? extents{all[0], channels, b, b, all[2], all[3]} : extents{all[0], b, b, channels, all[2], all[3]};
  permuted(inner, is_column ? lengths{0, 1, 4, 2, 5, 3} : lengths{0, 3, 4, 1, 5, 2},
           {all[0], channels, all[2] * b, all[3] * b});
}

constexpr row shape_table[] = {
    {"DepthToSpace", write_blocks},
    {"Expand", write_expand},
    {"Flatten", write_flatten},
    {"Identity", write_identity},
    {"Reshape", [](const call& each) { write_reshaped(each, wanted_extents(each)); }},
    {"SpaceToDepth", write_blocks},
    {"Squeeze", write_squeeze},
    {"Tile", write_tile},
    {"Transpose", write_transpose},
    {"Unsqueeze", write_unsqueeze},
};

}  // namespace

void write_reshaped(const call& each, extents made) {
  const value from = each.in(0);
  const bool has_origin = !from.origin.empty() && from.order.empty();
  const extents before = has_origin ? from.origin_extents : from.extents;
  if (made == before) return pass_on(each, has_origin ? from.origin : each.code(0), made, has_origin || from.is_name);
  const std::string base = has_origin ? from.origin : each.net.name_of(each.in(0));
  each.result(made, (base[0] == 'h' ? base : "tn::traced(" + base + ")") + ".reshape(" + shape_of(made) + ")");
  value& now = each.net.of(each.at.outputs[0]);
  now.origin = base, now.origin_extents = before, now.order.clear();
}

std::span<const row> shape_rows() { return shape_table; }

}  // namespace onnx_in
