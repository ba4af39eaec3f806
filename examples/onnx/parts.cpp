// examples/onnx/parts.cpp: operators that take parts of values, or join them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

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
/// Those between bounds of which one hangs on extents; what such a bound is at run time is not cut to the axis.
part part_between(const extent& whole, const extent& begin, const extent& end) {
  enum class sign { plus, minus, both };
  const auto sign_of = [](const extent& bound) {
    const auto is_minus = [](const auto& term) { return term.second < 0; };
    if (std::none_of(bound.terms.begin(), bound.terms.end(), is_minus)) return sign::plus;
    return std::all_of(bound.terms.begin(), bound.terms.end(), is_minus) ? sign::minus : sign::both;
  };
  const auto place_of = [&](const extent& bound) { return sign_of(bound) == sign::minus ? whole + bound : bound; };
  const bool is_open = end.known && (*end.known >= INT32_MAX || (whole.known && *end.known >= *whole.known));
  const std::string code = "tn::range(" + begin.code + ", " + (is_open ? "tn::open_end" : end.code) + ")";
  if (sign_of(begin) == sign::both || sign_of(end) == sign::both) return {code, unknown_extent()};
  return {code, (is_open ? whole : place_of(end)) - place_of(begin)};
}

part part_of(const call& each, const extent& whole, const extent& first_bound, const extent& last_bound,
             std::int64_t step) {
  const bool is_known = first_bound.known && last_bound.known;
  const bool is_whole =
      is_known && (*first_bound.known == -1 || *first_bound.known >= INT32_MAX) && *last_bound.known <= INT32_MIN;
  if (step == -1 && is_whole && !whole.known) return {"tn::range(-1, tn::open_end, -1)", whole};
  if (step < 1 && (step == 0 || !is_known || !whole.known))
    each.refuse("has a step of " + std::to_string(step) + ", which is not supported");
  if (step > 0 && first_bound.known && *first_bound.known >= INT32_MAX) return {"tn::range(0, 0)", 0};
  if (!is_known) {
    if (step != 1) each.refuse("has a step of " + std::to_string(step) + " between bounds that are known at run time");
    return part_between(whole, first_bound, last_bound);
  }
  const std::int64_t begin = *first_bound.known, end = *last_bound.known;
  const auto text = [&](const std::string& first, const std::string& last) {
    const std::string stride = step == 1 ? "" : ", " + std::to_string(step);
    return "tn::range(" + first + ", " + last + stride + ")";
  };
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
  if (begin < 0 || end - begin < 2) return {text(std::to_string(begin), last), extent(end - begin)};
  each.net.include("algorithm");  // an axis that ends before is taken to its end
  const extent stop("std::min<tn::index>(" + whole.code + ", " + last + ")");
  return {text(std::to_string(begin), stop.code), stop - extent(begin)};
}

/// A bound that lies a number of elements before the end, or at or behind it, whatever the extent is.
extent from_back(const extent& bound, const extent& whole) {
  const extent beyond = bound - whole;
  if (bound.known || !beyond.known) return bound;
  return *beyond.known < 0 ? beyond : extent(INT64_MAX);
}

void write_slice(const call& each) {
  const bool is_old = each.has_attribute("starts");
  extents made = each.in(0).extents;
  std::vector<std::string> ranges(made.size(), "tn::all_of");
  const auto bounds_of = [&](std::size_t i, const char* what) {
    if (!is_old) return each.whole_numbers(i, what);
    const lengths all = each.integers(what);
    return extents(all.begin(), all.end());
  };
  const extents begins = bounds_of(1, "starts"), ends = bounds_of(2, "ends");
  const auto axes = each.axes(3);
  std::size_t last = 0;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const auto axis =
        static_cast<std::size_t>(each.axis_of(axes ? axes->at(i) : static_cast<std::int64_t>(i), each.in(0).rank()));
    const std::int64_t step = each.has(4) ? each.known_integers(4, "steps").at(i) : 1;
    const part taken =
        part_of(each, made[axis], from_back(begins[i], made[axis]), from_back(ends.at(i), made[axis]), step);
    const bool is_all = taken.count == made[axis] && begins[i].is(0);
    if (!is_all) ranges[axis] = taken.code, last = std::max(last, axis + 1);
    made[axis] = taken.count;
  }
  if (last == 0) return write_reshaped(each, made);
  ranges.resize(last);
  each.result(made, "tn::slice(" + each.code(0) + ", " + joined(ranges) + ")");
}

/// What is left of an input where paddings below 0, which become 0, take its borders; and the extents of that.
std::string cropped(const call& each, lengths& before, lengths& after, bool may_crop, extents& made) {
  std::vector<std::string> ranges(made.size(), "tn::all_of");
  bool crops = false;
  for (std::size_t axis = 0; axis < made.size(); ++axis) {
    if (before[axis] >= 0 && after[axis] >= 0) continue;
    const std::int64_t first = std::max<std::int64_t>(0, -before[axis]), rest = std::min<std::int64_t>(0, after[axis]);
    made[axis] = made[axis] + extent(rest - first), crops = true;
    if (!may_crop || (made[axis].known && *made[axis].known < 0))
      each.refuse("axis " + std::to_string(axis) + ": padding below 0, which is not supported");
    ranges[axis] =
        "tn::range(" + std::to_string(first) + ", " + (rest == 0 ? "tn::open_end" : std::to_string(rest)) + ")";
    before[axis] = std::max<std::int64_t>(0, before[axis]), after[axis] = std::max<std::int64_t>(0, after[axis]);
  }
  return crops ? "tn::slice(" + each.code(0) + ", " + joined(ranges) + ")" : each.code(0);
}

/// Paddings of which some hang on extents.
void write_open_pad(const call& each, const extents& before, const extents& after, const std::string& filler) {
  extents made = each.in(0).extents;
  std::vector<std::string> widths;
  for (std::size_t axis = 0; axis < made.size(); ++axis) {
    made[axis] = made[axis] + before[axis] + after[axis];
    widths.push_back("{" + before[axis].code + ", " + after[axis].code + "}");
  }
  each.result(made, "tn::pad(" + each.code(0) + ", {{" + joined(widths) + "}}, " + filler + ")");
}

void write_pad(const call& each) {
  const int rank = each.in(0).rank();
  const lengths old = each.integers("pads");
  const extents given = each.has(1) ? each.whole_numbers(1, "pads") : extents(old.begin(), old.end());
  extents first(static_cast<std::size_t>(rank), 0), last = first;
  const auto axes = each.has(3) ? std::optional(each.known_integers(3, "axes")) : std::nullopt;
  for (std::size_t i = 0; i < given.size() / 2; ++i) {
    const auto axis = static_cast<std::size_t>(each.axis_of(axes ? axes->at(i) : static_cast<std::int64_t>(i), rank));
    first[axis] = given[i], last[axis] = given[i + given.size() / 2];
  }
  static const std::map<std::string, std::string> modes = {
      {"reflect", "tn::reflect"}, {"edge", "tn::replicate"}, {"wrap", "tn::circular"}};
  const std::string mode = each.text("mode", "constant");
  const double number = each.has(2) ? each.known(2, "value").numbers().at(0) : each.number("value", 0);
  if (mode != "constant" && !modes.contains(mode)) each.refuse("has mode " + mode + ", which is not supported");
  const std::string filler = mode == "constant" ? literal(each.in(0).element, number) : modes.at(mode);
  lengths before, after;
  for (std::size_t axis = 0; axis < first.size(); ++axis) {
    if (!first[axis].known || !last[axis].known) return write_open_pad(each, first, last, filler);
    before.push_back(*first[axis].known), after.push_back(*last[axis].known);
  }
  std::vector<std::string> widths;
  extents made = each.in(0).extents;
  const std::string code = cropped(each, before, after, mode == "constant", made);
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
  each.result(made, "tn::pad(" + code + ", {{" + joined(widths) + "}}, " + filler + ")");
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

/// Numbers between bounds that hang on extents, which a cast may have made floats.
void write_range(const call& each) {
  const auto number = [&](std::size_t i, const char* what) -> extent {
    const node* const cast = each.net.maker(each.at.inputs[i], "Cast");
    const value& from = cast == nullptr ? each.in(i) : each.net.of(cast->inputs.at(0));
    if (from.whole) return from.whole->at(0);
    const double known = each.known(i, what).numbers().at(0);
    if (known != std::floor(known)) each.refuse(std::string("has a ") + what + " that is no whole number");
    return static_cast<std::int64_t>(known);
  };
  const extent first = number(0, "start"), step = number(2, "delta");
  if (!step.known || *step.known < 1)
    each.refuse("has a step of " + step.code + ", expected a known one of at least 1");
  const extent count = (number(1, "limit") - first + step - extent(1)) / step;
  const std::string type = type_of(each.in(1).element).name, cast = "static_cast<" + type + ">(";
  std::string code = "tn::arange<" + type + ">(" + count.code + ")";
  if (!step.is(1)) code += " * " + cast + step.code + ")";
  if (!first.is(0)) code += " + " + cast + first.code + ")";
  each.result({count}, code, first.is(0) ? step.is(1) ? binding::tight : binding::product : binding::sum);
}

void write_triangle(const call& each) {
  const extent offset = each.has(1) ? each.whole_numbers(1, "k").at(0) : extent(0);
  const char* name = each.integer("upper", 1) != 0 ? "tn::triu(" : "tn::tril(";
  each.result(each.in(0).extents, name + each.code(0) + ", " + offset.code + ")");
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

/// Slices at places that rows of indices name: the named axes become one, along which each row has a number.
void write_gather_slices(const call& each) {
  const extents &all = each.in(0).extents, &rows = each.in(1).extents;
  if (each.integer("batch_dims", 0) != 0) each.refuse("has batch_dims, which is not supported");
  if (rows.empty() || !rows.back().known) each.refuse("has places of a length that is known at run time");
  const std::int64_t named = *rows.back().known;
  if (named < 1 || named > each.in(0).rank())
    each.refuse("has places " + text_of(rows) + " for an input " + text_of(all));
  const auto begin = static_cast<std::size_t>(named);
  extents made(rows.begin(), rows.end() - 1), flat{product(all, 0, begin)};
  made.insert(made.end(), all.begin() + named, all.end()), flat.insert(flat.end(), all.begin() + named, all.end());
  const std::string places = each.code_in_memory(1);
  std::string number;
  for (std::size_t axis = 0; axis < begin;
       ++axis) {  // a place in 0, 1, ... lies within the axis, or counts from its back
    const std::string column = "tn::select(" + places + ", tn::axis<-1>, " + std::to_string(axis) + ")";
    const std::string place = "tn::take(tn::arange<std::int64_t>(" + all[axis].code + "), " + column + ", tn::axis<0>)";
    const std::string before = axis < 2 ? number : "(" + number + ")";
    number = axis == 0 ? place : before + " * " + all[axis].operand() + " + " + place;
  }
  const std::string whole = "tn::reshape(" + each.code_in_memory(0) + ", " + shape_of(flat) + ")";
  each.result(made, "tn::take(" + whole + ", tn::trusted(" + number + "), tn::axis<0>)");
}

constexpr row part_table[] = {
    {"CenterCropPad", write_center},
    {"Concat", write_concatenation},
    {"EyeLike", write_eye},
    {"GatherElements", write_gather_elements},
    {"GatherND", write_gather_slices},
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

std::span<const row> part_rows() { return part_table; }

}  // namespace onnx_in
