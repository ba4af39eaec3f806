// examples/onnx/parts.cpp: operators that take parts of values, or join them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "call.hpp"
#include "windows.hpp"

namespace onnx_in {

namespace {

void write_concatenation(const call& each) {
  const std::int64_t axis = each.axis_of(each.integer("axis", 0), each.in(0).rank());
  const auto at = static_cast<std::size_t>(axis);
  extents made = each.in(0).extents;
  std::vector<std::string> codes{axis_text({axis})};
  for (std::size_t i = 0; i < each.count(); ++i) {
    if (each.in(i).rank() != each.in(0).rank()) each.refuse("joins values of other ranks");
    if (i > 0) made[at] = made[at] + each.in(i).extents[at];
    codes.push_back(each.code(i));
  }
  if (each.count() == 1) return write_reshaped(each, made);
  each.result(made, "tn::concatenate(" + joined(codes) + ")");
}

void write_split(const call& each) {
  const std::int64_t axis = each.axis_of(each.integer("axis", 0), each.in(0).rank());
  const extent whole = each.in(0).extents[static_cast<std::size_t>(axis)];
  const auto count = static_cast<std::int64_t>(each.at.outputs.size());
  lengths parts = each.has(1) ? each.known_integers(1, "split") : each.integers("split");
  if (parts.empty()) {
    if (!whole.known) each.refuse("axis " + std::to_string(axis) + ": an extent that is known at run time is split");
    const std::int64_t most = (*whole.known + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i)
      parts.push_back(std::clamp(*whole.known - i * most, std::int64_t{0}, most));
  }
  const std::string x = each.net.name_of(each.in(0));
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    extents made = each.in(0).extents;
    made[static_cast<std::size_t>(axis)] = parts[i];
    each.result(made, "tn::narrow(" + x + ", " + axis_text({axis}) + ", " + listed({begin, parts[i]}) + ")",
                binding::tight, -1, i);
    begin += parts[i];
  }
}

/// The positions that a slice takes of an axis.
struct part {
  std::string code;
  extent count;
};
part part_of(const call& each, const extent& whole, std::int64_t begin, std::int64_t end, std::int64_t step) {
  const auto text = [&](const std::string& first, const std::string& last) {
    const std::string stride = step == 1 ? "" : ", " + std::to_string(step);
    return "tn::range(" + first + ", " + last + stride + ")";
  };
  if (step < 1 && !(step == -1 && whole.known))
    each.refuse("has a step of " + std::to_string(step) + ", which is not supported");
  if (whole.known) {
    const std::int64_t least = step > 0 ? 0 : -1, most = step > 0 ? *whole.known : *whole.known - 1;
    const auto clamped = [&](std::int64_t at) { return std::clamp(at < 0 ? at + *whole.known : at, least, most); };
    const std::int64_t first = clamped(begin), last = end <= INT32_MIN ? least : clamped(end);
    const std::int64_t span = step > 0 ? last - first : first - last, stride = std::abs(step);
    const std::int64_t count = span <= 0 ? 0 : (span + stride - 1) / stride;
    if (count == 0) return {"tn::range(0, 0)", 0};
    return {text(std::to_string(first), last == -1 ? "tn::open_end" : std::to_string(last)), count};
  }
  const bool is_open = end >= INT32_MAX;
  if (step != 1 || (!is_open && (end >= 0) != (begin >= 0)))
    return {text(std::to_string(begin), is_open ? "tn::open_end" : std::to_string(end)), unknown_extent()};
  const std::string last = is_open ? "tn::open_end" : std::to_string(end);
  if (is_open) return {text(std::to_string(begin), last), begin < 0 ? extent(-begin) : whole - extent(begin)};
  return {text(std::to_string(begin), last), extent(end - begin)};
}

void write_slice(const call& each) {
  const bool is_old = each.has_attribute("starts");
  extents made = each.in(0).extents;
  std::vector<std::string> ranges(made.size(), "tn::all_of");
  const lengths begins = is_old ? each.integers("starts") : each.known_integers(1, "starts");
  const auto axes = each.axes(3);
  const bool has_whole_end = !is_old && each.in(2).whole.has_value();  // ends at an extent: the whole rest
  const lengths ends = is_old          ? each.integers("ends")
                       : has_whole_end ? lengths(begins.size(), INT64_MAX)
                                       : each.known_integers(2, "ends");
  std::size_t last = 0;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const auto axis =
        static_cast<std::size_t>(each.axis_of(axes ? axes->at(i) : static_cast<std::int64_t>(i), each.in(0).rank()));
    std::int64_t end = ends.at(i);
    if (has_whole_end) {
      const extent& given = each.in(2).whole->at(i);
      if (given.known) end = *given.known;
      else if (!(given == made[axis])) each.refuse("ends at " + given.code + ", which is not supported");
    }
    const part taken =
        part_of(each, made[axis], begins[i], end, each.has(4) ? each.known_integers(4, "steps").at(i) : 1);
    const bool is_all = taken.count == made[axis] && begins[i] == 0;
    if (!is_all) ranges[axis] = taken.code, last = std::max(last, axis + 1);
    made[axis] = taken.count;
  }
  if (last == 0) return write_reshaped(each, made);
  ranges.resize(last);
  each.result(made, "tn::slice(" + each.code(0) + ", " + joined(ranges) + ")");
}

void write_pad(const call& each) {
  const int rank = each.in(0).rank();
  const lengths given = each.has(1) ? each.known_integers(1, "pads") : each.integers("pads");
  lengths before(static_cast<std::size_t>(rank)), after = before;
  const auto axes = each.has(3) ? std::optional(each.known_integers(3, "axes")) : std::nullopt;
  for (std::size_t i = 0; i < given.size() / 2; ++i) {
    const auto axis = static_cast<std::size_t>(each.axis_of(axes ? axes->at(i) : static_cast<std::int64_t>(i), rank));
    before[axis] = given[i], after[axis] = given[i + given.size() / 2];
    if (before[axis] < 0 || after[axis] < 0)
      each.refuse("axis " + std::to_string(axis) + ": padding below 0, which is not supported");
  }
  static const std::map<std::string, std::string> modes = {
      {"reflect", "tn::reflect"}, {"edge", "tn::replicate"}, {"wrap", "tn::circular"}};
  const std::string mode = each.text("mode", "constant");
  const double number = each.has(2) ? each.known(2, "value").numbers().at(0) : each.number("value", 0);
  if (mode != "constant" && !modes.contains(mode)) each.refuse("has mode " + mode + ", which is not supported");
  std::vector<std::string> widths;
  extents made = each.in(0).extents;
  for (std::size_t axis = 0; axis < before.size(); ++axis) {
    const bool is_even = before[axis] == after[axis];
    const std::int64_t wider = std::max(before[axis], after[axis]), kept = mode == "reflect" ? 1 : 0;
    if ((mode == "wrap" || mode == "reflect") && made[axis].known &&
        wider > std::max<std::int64_t>(0, *made[axis].known - kept))
      each.refuse("axis " + std::to_string(axis) + ": padding of " + std::to_string(wider) + " with mode " + mode +
                  ", expected at most " + std::to_string(*made[axis].known - kept) + " for an extent of " +
                  made[axis].code);
    widths.push_back(is_even ? std::to_string(before[axis]) : "{" + listed({before[axis], after[axis]}) + "}");
    made[axis] = made[axis] + extent(before[axis] + after[axis]);
  }
  each.result(made, "tn::pad(" + each.code(0) + ", {{" + joined(widths) + "}}, " +
                        (mode == "constant" ? literal(each.in(0).element, number) : modes.at(mode)) + ")");
}

/// Along the other axes indices are for the first elements, as many as there are.
void write_gather_elements(const call& each) {
  const extents &all = each.in(0).extents, &wanted = each.in(1).extents;
  const std::int64_t along = each.axis_of(each.integer("axis", 0), each.in(0).rank());
  if (all.size() != wanted.size()) each.refuse("has indices " + text_of(wanted) + " for an input " + text_of(all));
  std::string code = each.code(0);
  for (std::size_t axis = 0; axis < all.size(); ++axis) {
    const auto number = static_cast<std::int64_t>(axis);
    if (number == along || all[axis] == wanted[axis]) continue;
    if (all[axis].known && wanted[axis].known && *wanted[axis].known > *all[axis].known)
      each.refuse("axis " + std::to_string(axis) + ": " + wanted[axis].code + " rows of indices, expected at most " +
                  all[axis].code);
    code = "tn::narrow(" + code + ", " + axis_text({number}) + ", 0, " + wanted[axis].code + ")";
  }
  each.result(wanted, "tn::take_along_axis(" + code + ", " + each.code(1) + ", " + axis_text({along}) + ")");
}

void write_range(const call& each) {
  const auto bound = [&](std::size_t i) {
    value& number = each.in(i);
    return number.whole ? number.whole->at(0) : extent(each.known_integers(i, "bound").at(0));
  };
  if (!bound(0).is(0) || !bound(2).is(1))
    each.refuse("begins elsewhere than at 0, or has a step, which is not supported");
  const std::string type = type_of(each.in(1).element).name;
  each.result({bound(1)}, "tn::arange<" + type + ">(" + bound(1).code + ")");
}

void write_triangle(const call& each) {
  const std::int64_t offset = each.has(1) ? each.known_integers(1, "k").at(0) : 0;
  const char* name = each.integer("upper", 1) != 0 ? "tn::triu(" : "tn::tril(";
  each.result(each.in(0).extents, name + each.code(0) + ", " + std::to_string(offset) + ")");
}

/// The middle of each axis, or zeros around it; where a side gets one more, it is the last.
void write_center(const call& each) {
  const lengths wanted = each.known_integers(1, "shape");
  const extents& all = each.in(0).extents;
  extents made = all;
  std::vector<std::string> ranges(all.size(), "tn::all_of"), widths(all.size(), "0");
  bool cuts = false, adds = false;
  const lengths given = each.integers("axes");
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::int64_t named = given.empty() ? static_cast<std::int64_t>(i) : given.at(i);
    const auto axis = static_cast<std::size_t>(each.axis_of(named, each.in(0).rank()));
    if (!all[axis].known) each.refuse("axis " + std::to_string(axis) + " has an extent that is known at run time");
    const std::int64_t length = *all[axis].known, more = wanted[i] - length, first = std::abs(more) / 2;
    made[axis] = wanted[i];
    if (more < 0) cuts = true, ranges[axis] = "tn::range(" + listed({first, first + wanted[i]}) + ")";
    if (more > 0) adds = true, widths[axis] = "{" + listed({first, more - first}) + "}";
  }
  std::string code = each.code(0);
  if (cuts) code = "tn::slice(" + code + ", " + joined(ranges) + ")";
  if (adds) code = "tn::pad(" + code + ", {{" + joined(widths) + "}}, " + literal(each.in(0).element, 0) + ")";
  each.result(made, code);
}

/// The first elements of each sequence in the other order; the rest stays.
void write_reversed(const call& each) {
  const extents& all = each.in(0).extents;
  const auto rank = static_cast<int>(all.size());
  const auto axis = [&](const char* name, std::int64_t usual) { return each.axis_of(each.integer(name, usual), rank); };
  const std::int64_t time = axis("time_axis", 0), batch = axis("batch_axis", 1);
  extents aligned(all.size(), 1);
  aligned[static_cast<std::size_t>(batch)] = all[static_cast<std::size_t>(batch)];
  const std::string ends = "tn::reshape(" + each.code(1) + ", " + shape_of(aligned) + ")";
  const std::string places = "tn::index_grid<std::int64_t>(" + shape_of(all) + ", " + axis_text({time}) + ")";
  const std::string turned =
      "tn::where(" + places + " < " + ends + ", " + ends + " - 1 - " + places + ", " + places + ")";
  each.result(all, "tn::take_along_axis(" + each.code(0) + ", " + turned + ", " + axis_text({time}) + ")");
}

void write_eye(const call& each) {
  const extents& all = each.in(0).extents;
  if (all.size() != 2) each.refuse("has an input " + text_of(all) + ", expected a matrix");
  const auto element = static_cast<int>(each.integer("dtype", each.in(0).element));
  const std::string offset = std::to_string(each.integer("k", 0));
  each.result(all,
              std::string("tn::eye<") + type_of(element).name + ">(" + joined({all[0].code, all[1].code, offset}) + ")",
              binding::tight, element);
}

constexpr row rows[] = {
    {"CenterCropPad", write_center},
    {"Concat", write_concatenation},
    {"EyeLike", write_eye},
    {"GatherElements", write_gather_elements},
    {"Pad", write_pad},
    {"Range", write_range},
    {"ReverseSequence", write_reversed},
    {"Slice", write_slice},
    {"Split", write_split},
    {"Trilu", write_triangle},
};

}  // namespace

void write_gather(const call& each) {
  const value& from = each.in(0);
  const std::int64_t axis = each.axis_of(each.integer("axis", 0), from.rank());
  const auto at = static_cast<std::ptrdiff_t>(axis);
  value& indices = each.in(1);
  extents made(from.extents.begin(), from.extents.begin() + at);
  made.insert(made.end(), indices.extents.begin(), indices.extents.end());
  made.insert(made.end(), from.extents.begin() + at + 1, from.extents.end());
  if (indices.data && indices.rank() == 0) {
    const std::int64_t index = each.known_integers(1, "indices")[0];
    return each.result(made,
                       "tn::select(" + each.code(0) + ", " + axis_text({axis}) + ", " + std::to_string(index) + ")");
  }
  const extent& whole = from.extents[static_cast<std::size_t>(axis)];
  const bool is_inside = indices.data && whole.known;
  for (const std::int64_t index : is_inside ? each.known_integers(1, "indices") : lengths{}) {
    if (index < -*whole.known || index >= *whole.known) {
      each.refuse("axis " + std::to_string(axis) + ": index " + std::to_string(index) + ", expected at least -" +
                  whole.code + " and below " + whole.code);
    }
  }
  const std::string places = is_inside ? "tn::trusted(" + each.code(1) + ")" : each.code(1);
  each.result(made, "tn::take(" + each.code(0) + ", " + places + ", " + axis_text({axis}) + ")");
}

std::span<const row> part_rows() { return rows; }

}  // namespace onnx_in
