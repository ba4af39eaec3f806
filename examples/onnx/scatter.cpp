// examples/onnx/scatter.cpp: elements and slices that are written into a copy of a value.
// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"
#include "windows.hpp"

namespace onnx_in {

namespace {

constexpr const char* scattered_function =
    "template <class X, class Axis, class Indices, class Updates, class... Operation>\n"
    "auto scattered(const X& x, Axis axis, const Indices& indices, const Updates& updates, Operation... operation) {\n"
    "  auto made = tn::evaluated_tensor(x);\n"
    "  tn::scatter(made, axis, tn::evaluated_tensor(indices), tn::evaluated_tensor(updates), operation...);\n"
    "  return made;\n}\n\n";
constexpr const char* scattered_slices_function =
    "template <class X, class Places, class Updates, class... Operation>\n"
    "auto scattered_slices(const X& x, const Places& places, const Updates& updates, Operation... operation) {\n"
    "  auto made = tn::evaluated_tensor(x);\n"
    "  tn::scatter_nd(made, tn::evaluated_tensor(places), tn::evaluated_tensor(updates), operation...);\n"
    "  return made;\n}\n\n";

std::string reduction_of(const call& each) {
  static const std::map<std::string, std::string> all = {{"none", ""},
                                                         {"add", ", tn::add"},
                                                         {"mul", ", tn::multiply"},
                                                         {"max", ", tn::maximum"},
                                                         {"min", ", tn::minimum"}};
  const auto found = all.find(each.text("reduction", "none"));
  if (found == all.end()) each.refuse("has reduction " + each.text("reduction", "none") + ", which is not supported");
  return found->second;
}

void write_scattered(const call& each) {
  const std::int64_t axis = each.axis_of(each.integer("axis", 0), each.in(0).rank());
  each.net.want(scattered_function);
  each.result(each.in(0).extents, "scattered(" + each.code(0) + ", " + axis_text({axis}) + ", " + each.code(1) + ", " +
                                      each.code(2) + reduction_of(each) + ")");
}

/// Rows of places may have any number of axes before them; here they are the rows of one matrix.
void write_scattered_slices(const call& each) {
  const extents &all = each.in(0).extents, &rows = each.in(1).extents;
  if (rows.empty() || !rows.back().known) each.refuse("has places of a length that is known at run time");
  const auto named = static_cast<std::size_t>(*rows.back().known);
  extents slices(all.begin() + static_cast<std::ptrdiff_t>(named), all.end());
  const extent count = product(rows, 0, rows.size() - 1);
  slices.insert(slices.begin(), count);
  const std::string places = "tn::reshape(" + each.code_in_memory(1) + ", " + shape_of({count, rows.back()}) + ")";
  const std::string updates = "tn::reshape(" + each.code_in_memory(2) + ", " + shape_of(slices) + ")";
  each.net.want(scattered_slices_function);
  each.result(all, "scattered_slices(" + joined({each.code(0), places, updates}) + reduction_of(each) + ")");
}

constexpr row scatter_table[] = {
    {"Scatter", write_scattered},
    {"ScatterElements", write_scattered},
    {"ScatterND", write_scattered_slices},
};

}  // namespace

std::span<const row> scatter_rows() { return scatter_table; }

}  // namespace onnx_in
