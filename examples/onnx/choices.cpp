// examples/onnx/choices.cpp: operators that look for elements: places of extremes, one-hot rows, selections.
// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"
#include "windows.hpp"

namespace onnx_in {

namespace {

/// The place of the greatest or least along an axis, which stays with extent 1 or goes.
std::string place_code(const call& each, const char* name, std::int64_t axis, bool keeps) {
  const std::string folded = axis_text({axis}, keeps ? "tn::axis" : "tn::drop");
  if (each.integer("select_last_index", 0) == 0) return name + each.code(0) + ", " + folded + ")";
  const extent last = each.in(0).extents[static_cast<std::size_t>(axis)] - extent(1);
  return last.operand() + " - " + name + "tn::flip(" + each.code(0) + ", " + axis_text({axis}) + "), " + folded + ")";
}

void write_place(const call& each) {
  const std::int64_t axis = each.axis_of(each.integer("axis", 0), each.in(0).rank());
  const bool keeps = each.integer("keepdims", 1) != 0;
  extents made = each.in(0).extents;
  if (keeps) made[static_cast<std::size_t>(axis)] = 1;
  else made.erase(made.begin() + axis);
  const char* name = each.at.operation == "ArgMax" ? "tn::argmax(" : "tn::argmin(";
  const bool is_last = each.integer("select_last_index", 0) != 0;
  each.result(made, place_code(each, name, axis, keeps), is_last ? binding::sum : binding::tight, int64);
}

/// The last axis of an expression moved to another place.
std::string moved(const std::string& code, std::int64_t axis, std::int64_t last) {
  return axis == last ? code : "tn::move_axis(" + code + ", tn::axis<-1>, " + axis_text({axis}) + ")";
}

void write_hardmax(const call& each) {
  const int rank = each.in(0).rank();
  const std::int64_t axis = each.axis_of(each.integer("axis", each.opset < 13 ? 1 : -1), rank);
  if (each.opset < 13 && axis != rank - 1) each.refuse("folds several axes, which is not supported");
  const extent depth = each.in(0).extents[static_cast<std::size_t>(axis)];
  const std::string places = place_code(each, "tn::argmax(", axis, false);
  const std::string hot =
      std::string("tn::one_hot<") + type_of(each.in(0).element).name + ">(" + places + ", " + depth.code + ")";
  each.result(each.in(0).extents, moved(hot, axis, rank - 1));
}

void write_one_hot(const call& each) {
  const constant& values = each.known(2, "values");
  const int rank = each.in(0).rank(), element = each.in(2).element;
  const std::int64_t depth = each.known_integers(1, "depth").at(0),
                     axis = each.axis_of(each.integer("axis", -1), rank + 1);
  extents made = each.in(0).extents;
  made.insert(made.begin() + axis, depth);
  const std::string numbers = "tn::cast<std::int64_t>(" + each.code(0) + ")", count = std::to_string(depth);
  const std::string places = "tn::where(" + numbers + " < 0, " + numbers + " + " + count + ", " + numbers + ")";
  const std::string hot = moved("tn::one_hot<bool>(" + places + ", " + count + ")", axis, rank);
  const std::string code = "tn::where(" + hot + ", " + literal(values.one(1)) + ", " + literal(values.one(0)) + ")";
  each.result(made, std::string("tn::cast<") + type_of(element).name + ">(" + code + ")", binding::tight, element);
}

void write_top(const call& each) {
  const std::int64_t axis = each.axis_of(each.integer("axis", -1), each.in(0).rank());
  const extent count = each.has(1) ? each.whole_numbers(1, "k").at(0) : extent(each.integer("k", 1));
  const std::string options = each.integer("largest", 1) != 0 ? "" : ", {.largest = false}";
  extents made = each.in(0).extents;
  made[static_cast<std::size_t>(axis)] = count;
  const std::string found = each.net.named(
      "tn::topk(" + each.code(0) + ", " + count.code + ", " + axis_text({axis}) + options + ")", "const auto");
  if (each.wants(0)) each.result(made, found + ".values");
  if (each.wants(1)) each.result(made, found + ".indices", binding::tight, int64, 1);
}

void write_compressed(const call& each) {
  const bool has_axis = each.has_attribute("axis");
  std::string code = "tn::compress(" + each.code(0) + ", " + each.code(1);
  extents made{unknown_extent()};
  if (has_axis) {
    const std::int64_t axis = each.axis_of(each.integer("axis", 0), each.in(0).rank());
    made = each.in(0).extents, made[static_cast<std::size_t>(axis)] = unknown_extent();
    code += ", " + axis_text({axis});
  }
  each.result(made, code + ")");
}

void write_nonzero(const call& each) {
  each.result({each.in(0).rank(), unknown_extent()}, "tn::nonzero(" + each.code(0) + ")", binding::tight, int64);
}

void write_unique(const call& each) {
  if (each.integer("sorted", 1) == 0) each.refuse("keeps the order of first places, which is not supported");
  std::string code = "tn::unique(" + each.code(0);
  extents made{unknown_extent()};
  if (each.has_attribute("axis")) {
    const std::int64_t axis = each.axis_of(each.integer("axis", 0), each.in(0).rank());
    made = each.in(0).extents, made[static_cast<std::size_t>(axis)] = unknown_extent();
    code += ", " + axis_text({axis});
  }
  const std::string found = each.net.named(code + ")", "const auto");
  if (each.wants(0)) each.result(made, found + ".values");
  const char* const names[] = {".indices", ".inverse", ".counts"};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!each.wants(i + 1)) continue;
    const bool is_flat = i == 1 && !each.has_attribute("axis") && each.in(0).rank() != 1;
    const extents all{is_flat ? product(each.in(0).extents) : unknown_extent()};
    const std::string places = found + names[i];
    each.result(all, is_flat ? "tn::reshape(" + places + ", " + shape_of(all) + ")" : places, binding::tight, int64,
                i + 1);
  }
}

void write_suppressed(const call& each) {
  const auto number = [&](std::size_t i, const char* what) { return literal(each.known(i, what).one()); };
  std::string options = "{.iou_threshold = " + (each.has(3) ? number(3, "iou_threshold") : "0");
  if (each.has(4)) options += ", .score_threshold = " + number(4, "score_threshold");
  options += ", .most = " + (each.has(2) ? number(2, "max_output_boxes_per_class") : "0");
  if (each.integer("center_point_box", 0) != 0) options += ", .is_centred = true";
  each.net.include("tenon/algorithms/non_max_suppression.hpp");
  each.result({unknown_extent(), 3}, "tn::non_max_suppression(" + joined({each.code(0), each.code(1), options}) + "})",
              binding::tight, int64);
}

/// The nodes of the graph that a condition chooses when the model is converted.
void write_branch(const call& each) {
  if (!each.in(0).data) each.refuse("has a condition that the network computes, expected one that is known");
  const bool is_true = each.known(0, "condition").numbers().at(0) != 0;
  const auto found = each.at.attributes.find(is_true ? "then_branch" : "else_branch");
  if (found == each.at.attributes.end() || found->second.part == nullptr) each.refuse("has no graph for its condition");
  const graph& chosen = *found->second.part;
  each.net.read(chosen);
  for (std::size_t i = 0; i < each.at.outputs.size(); ++i)
    each.net.define(each.at.outputs[i], each.net.of(chosen.outputs.at(i)));
}

constexpr row choice_table[] = {
    {"ArgMax", write_place},
    {"ArgMin", write_place},
    {"Compress", write_compressed},
    {"Hardmax", write_hardmax},
    {"NonZero", write_nonzero},
    {"If", write_branch},
    {"NonMaxSuppression", write_suppressed},
    {"OneHot", write_one_hot},
    {"TopK", write_top},
    {"Unique", write_unique},
};

}  // namespace

std::span<const row> choice_rows() { return choice_table; }

}  // namespace onnx_in
