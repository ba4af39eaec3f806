// examples/onnx/sampling.cpp: images read at the places of a grid, and the grids of affine transforms.
// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"

namespace onnx_in {

namespace {

void write_sampled(const call& each) {
  static const std::map<std::string, std::string> modes = {{"bilinear", ""},
                                                           {"linear", ""},
                                                           {"nearest", ".mode = tn::grid_mode::nearest"},
                                                           {"bicubic", ".mode = tn::grid_mode::bicubic"},
                                                           {"cubic", ".mode = tn::grid_mode::bicubic"}};
  static const std::map<std::string, std::string> paddings = {
      {"zeros", ""},
      {"border", ".padding_mode = tn::grid_padding::border"},
      {"reflection", ".padding_mode = tn::grid_padding::reflection"}};
  const extents &image = each.in(0).extents, &grid = each.in(1).extents;
  if (image.size() != 4 || grid.size() != 4)
    each.refuse("has an input " + text_of(image) + " and a grid " + text_of(grid) + ", expected four axes of both");
  std::vector<std::string> options;
  const auto add = [&](const auto& all, const char* attribute, const char* usual) {
    const auto found = all.find(each.text(attribute, usual));
    if (found == all.end())
      each.refuse(std::string("has ") + attribute + " " + each.text(attribute, usual) + ", which is not supported");
    if (!found->second.empty()) options.push_back(found->second);
  };
  add(modes, "mode", "linear"), add(paddings, "padding_mode", "zeros");
  if (each.integer("align_corners", 0) != 0) options.push_back(".align_corners = true");
  each.net.include("tenon/algorithms/grid_sample.hpp");
  each.result({image[0], image[1], grid[1], grid[2]}, "tn::grid_sample(" + each.code(0) + ", " + each.code(1) +
                                                          (options.empty() ? ")" : ", {" + joined(options) + "})"));
}

void write_grid(const call& each) {
  const extents size = each.whole_numbers(1, "size");
  if (size.size() != 4) each.refuse("has a size " + text_of(size) + ", expected four extents");
  std::vector<std::string> codes;
  for (const extent& length : size) codes.push_back(length.code);
  each.net.include("tenon/expr/affine_grid.hpp");
  each.result({size[0], size[2], size[3], 2}, "tn::affine_grid(" + each.code(0) + ", tn::rank<4>(" + joined(codes) +
                                                  (each.integer("align_corners", 0) != 0 ? "), true)" : "))"));
}

constexpr row sampling_table[] = {{"AffineGrid", write_grid}, {"GridSample", write_sampled}};

}  // namespace

std::span<const row> sampling_rows() { return sampling_table; }

}  // namespace onnx_in
