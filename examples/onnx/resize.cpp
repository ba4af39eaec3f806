// examples/onnx/resize.cpp: images in other extents: by layers where factors are whole, else by tables of each axis.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "call.hpp"
#include "windows.hpp"

namespace onnx_in {

namespace {

/// An axis that gets another extent, and which part of it is wanted.
struct resized_axis {
  std::int64_t number, from, to;
  double scale, start = 0, end = 1;
};

/// Operators without attributes that say where elements lie: element `i` is at `i / scale`.
bool is_old(const call& each) { return each.at.operation == "Upsample" || each.opset < 11; }
std::string places_of(const call& each) {
  return each.text("coordinate_transformation_mode", is_old(each) ? "asymmetric" : "half_pixel");
}
std::string rounding_of(const call& each) {
  return each.text("nearest_mode", is_old(each) ? "floor" : "round_prefer_floor");
}

/// Where element `i` of the result lies among those of the input.
double position_of(const call& each, const resized_axis& axis, std::int64_t i) {
  const std::string mode = places_of(each);
  const double place = static_cast<double>(i), last = static_cast<double>(axis.from - 1), whole = last + 1;
  const double between_corners = axis.to == 1 ? 0 : last / static_cast<double>(axis.to - 1);
  const double half_pixel = (place + 0.5) / axis.scale - 0.5;
  if (mode == "half_pixel") return half_pixel;
  if (mode == "pytorch_half_pixel") return axis.to == 1 ? 0 : half_pixel;
  if (mode == "half_pixel_symmetric") {
    return half_pixel + whole / 2 * (1 - static_cast<double>(axis.to) / (axis.scale * whole));
  }
  if (mode == "asymmetric") return place / axis.scale;
  if (mode == "align_corners") return place * between_corners;
  if (mode != "tf_crop_and_resize") each.refuse("has places " + mode + ", which is not supported");
  if (axis.to == 1) return (axis.start + axis.end) / 2 * last;
  return axis.start * last + place * (axis.end - axis.start) * between_corners;
}

/// The whole number that the nearest element is. Old operators take the next one where there are fewer elements.
double nearest_place(const call& each, const resized_axis& axis, double position) {
  const std::string mode = is_old(each) && axis.scale < 1 ? "ceil" : rounding_of(each);
  if (mode == "floor") return std::floor(position);
  if (mode == "ceil") return std::ceil(position);
  return mode == "round_prefer_ceil" ? std::floor(position + 0.5) : std::ceil(position - 0.5);
}

/// What an element at a distance counts.
/// source    Keys 1981: Cubic convolution interpolation for digital image processing
double share_of(const call& each, double distance) {
  const double x = std::abs(distance), a = each.number("cubic_coeff_a", -0.75);
  if (each.text("mode", "nearest") == "linear") return std::max(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Adds to a row of the matrix [to, from] what each element counts.
void fill_row(const call& each, const resized_axis& axis, double position, double* row) {
  const double width = each.integer("antialias", 0) != 0 ? std::max(1 / axis.scale, 1.0) : 1;
  const double reach = each.text("mode", "nearest") == "linear" ? 1 : 2;
  const auto half = static_cast<std::int64_t>(std::ceil(reach * width));
  const auto first = static_cast<std::int64_t>(std::floor(position)) + 1 - half;
  double sum = 0;
  for (std::int64_t place = first; place < first + 2 * half; ++place) {
    const std::int64_t inside = std::clamp<std::int64_t>(place, 0, axis.from - 1);
    if (place != inside && each.integer("exclude_outside", 0) != 0) continue;
    const double share = share_of(each, (static_cast<double>(place) - position) / width);
    row[inside] += share, sum += share;
  }
  for (std::int64_t i = 0; i < axis.from; ++i) row[i] /= sum;
}

/// A buffer of the network.
std::string buffer_of(const call& each, constant numbers) {
  value made;
  made.element = numbers.element;
  made.extents.assign(numbers.extents.begin(), numbers.extents.end());
  made.data = std::move(numbers);
  return each.net.code_of(made);
}

/// The nearest elements along an axis.
std::string nearest_along(const call& each, const std::string& code, const resized_axis& axis) {
  std::vector<double> places;
  for (std::int64_t i = 0; i < axis.to; ++i) {
    const auto position = static_cast<float>(position_of(each, axis, i));  // whole numbers stay whole: 12 / 2.4f is 5
    const double place = nearest_place(each, axis, static_cast<double>(position));
    places.push_back(std::clamp(place, 0.0, static_cast<double>(axis.from - 1)));
  }
  const std::string all = buffer_of(each, constant::of(int64, {axis.to}, places));
  return "tn::take(" + code + ", tn::trusted(" + all + "), " + axis_text({axis.number}) + ")";
}

/// The product of an axis with a matrix, and the number of what lies beside the input.
std::string filtered_along(const call& each, const std::string& code, const resized_axis& axis) {
  std::vector<double> matrix(static_cast<std::size_t>(axis.from * axis.to)), beside;
  const bool is_cropped = each.text("coordinate_transformation_mode", "") == "tf_crop_and_resize";
  for (std::int64_t i = 0; i < axis.to; ++i) {
    const double position = position_of(each, axis, i);
    const bool is_beside = is_cropped && (position < 0 || position > static_cast<double>(axis.from - 1));
    beside.push_back(is_beside ? 1 : 0);
    if (!is_beside) fill_row(each, axis, position, &matrix[static_cast<std::size_t>(i * axis.from)]);
  }
  const std::string rows = buffer_of(each, constant::of(float32, {axis.to, axis.from}, matrix));
  const std::int64_t last = each.in(0).rank() - 1;
  const bool is_rows = axis.number == last - 1, is_last = axis.number == last;
  const std::string moved = "tn::move_axis(" + code + ", " + axis_text({axis.number}) + ", tn::axis<-1>)";
  std::string made = is_rows ? "tn::matmul(" + rows + ", " + code + ")"
                             : "tn::matmul(" + (is_last ? code : moved) + ", tn::transpose(" + rows + "))";
  if (!is_rows && !is_last) made = "tn::move_axis(" + made + ", tn::axis<-1>, " + axis_text({axis.number}) + ")";
  if (std::find(beside.begin(), beside.end(), 1.0) == beside.end()) return made;
  lengths column(static_cast<std::size_t>(last - axis.number + 1), 1);
  column[0] = axis.to;
  const std::string mask = buffer_of(each, constant::of(boolean, column, beside));
  return "tn::where(" + mask + ", " + literal(float32, each.number("extrapolation_value", 0)) + ", " + made + ")";
}

/// An extent that scales give.
std::int64_t scaled_extent(const call& each, double number) {
  if (!(number >= 0 && number <= static_cast<double>(most_elements)))
    each.refuse("has a scale that leads to an extent of " + std::to_string(number));
  return static_cast<std::int64_t>(std::floor(number));
}

/// The axes that a node names.
lengths named_axes(const call& each) {
  lengths numbers = each.integers("axes");
  for (std::int64_t& axis : numbers) axis = each.axis_of(axis, each.in(0).rank());
  for (int axis = 0; axis < each.in(0).rank() && !each.has_attribute("axes"); ++axis) numbers.push_back(axis);
  return numbers;
}

/// The extents that sizes ask for, of the axes that a node names.
extents sized(const call& each) {
  extents made = each.in(0).extents;
  const lengths axes = named_axes(each);
  const extents sizes = each.whole_numbers(3, "sizes");
  if (sizes.size() != axes.size())
    each.refuse("has " + std::to_string(sizes.size()) + " sizes for " + std::to_string(axes.size()) + " axes");
  for (std::size_t i = 0; i < axes.size(); ++i) made[static_cast<std::size_t>(axes[i])] = sizes[i];
  return made;
}

/// Those axes with their extents, but for extents that stay as they are at run time.
std::vector<resized_axis> axes_of(const call& each) {
  const value& image = each.in(0);
  const lengths numbers = named_axes(each);
  const bool has_sizes = each.has(3);
  const extents sizes = has_sizes ? each.whole_numbers(3, "sizes") : extents{};
  const std::vector<double> scales =
      has_sizes ? std::vector<double>{} : each.known(is_old(each) ? 1 : 2, "scales").numbers();
  const bool has_region =
      !is_old(each) && each.has(1) && each.text("coordinate_transformation_mode", "") == "tf_crop_and_resize";
  const std::vector<double> region = has_region ? each.known(1, "roi").numbers() : std::vector<double>{};
  std::vector<resized_axis> made;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const extent& length = image.extents[static_cast<std::size_t>(numbers[i])];
    const double scale = has_sizes ? 1 : scales.at(i);
    if (!length.known && scale == 1 && (!has_sizes || i < 2 || sizes.at(i) == length)) continue;
    if (!length.known || (has_sizes && !sizes.at(i).known))
      each.refuse("axis " + std::to_string(numbers[i]) + ": an extent that is known at run time is resized");
    const double old = static_cast<double>(*length.known);
    resized_axis axis{numbers[i], *length.known, 0, scale};
    const double product = static_cast<double>(static_cast<float>(old * scale));
    axis.to = has_sizes ? *sizes.at(i).known : scaled_extent(each, product);
    if (has_sizes) axis.scale = static_cast<double>(axis.to) / old;
    if (axis.from == 0) {  // there is nothing to resize
      if (axis.to != 0)
        each.refuse("axis " + std::to_string(axis.number) + ": an extent of 0 is resized to " +
                    std::to_string(axis.to));
      continue;
    }
    if (!region.empty()) axis.start = region.at(i), axis.end = region.at(i + numbers.size());
    made.push_back(axis);
  }
  return made;
}

/// One scale for all axes that keeps proportions, within the sizes wanted or just not below them.
void keep_proportions(const call& each, std::vector<resized_axis>& axes) {
  const std::string policy = each.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || !each.has(3) || axes.empty()) return;
  double scale = axes.front().scale;
  for (const resized_axis& axis : axes)
    scale = policy == "not_larger" ? std::min(scale, axis.scale) : std::max(scale, axis.scale);
  for (resized_axis& axis : axes) {
    axis.scale = scale;
    axis.to = static_cast<std::int64_t>(std::floor(scale * static_cast<double>(axis.from) + 0.5));
  }
}

/// The name of the layer that resizes by a mode along a number of axes behind the channels; "" where there is none.
std::string layer_name(const std::string& mode, std::size_t axes) {
  static const std::map<std::string, std::vector<std::string>> names = {
      {"nearest", {"", "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"}},
      {"linear", {"", "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"}},
      {"cubic", {"", "", "upsample_bicubic2d"}}};
  const auto found = names.find(mode);
  return found == names.end() || axes >= found->second.size() ? "" : found->second[axes];
}

/// Whether the first and last elements keep their places.
bool aligns_corners(const call& each) {
  return each.text("mode", "nearest") != "nearest" && places_of(each) == "align_corners";
}

/// The layer that takes the elements that a node takes; "" where there is none. By whole factors, the nearest elements
/// have two names.
std::string layer_for(const call& each, bool is_whole) {
  const std::string mode = each.text("mode", "nearest"), places = places_of(each), rounding = rounding_of(each);
  const bool is_nearest = mode == "nearest", is_half = places == "half_pixel";
  const bool is_plain = is_nearest ? (places == "asymmetric" && rounding == "floor") ||
                                         (is_whole && is_half && rounding == "round_prefer_floor")
                                   : is_half || places == "pytorch_half_pixel" || places == "align_corners";
  const bool is_usual = each.integer("antialias", 0) == 0 && each.integer("exclude_outside", 0) == 0 &&
                        each.number("cubic_coeff_a", -0.75) == -0.75;
  const int rank = each.in(0).rank();
  return is_plain && is_usual && rank >= 2 ? layer_name(mode, static_cast<std::size_t>(rank - 2)) : "";
}

/// A call of a layer on the image, or a part of it, whose elements keep their type.
void write_layer(const call& each, const extents& made, const std::string& layer, const std::string& image) {
  const std::string whole = layer + "(" + image + ")";
  each.result(made, each.in(0).element == float16 ? "tn::cast<tn::half>(" + whole + ")" : whole);
}

/// A layer that is made in each call, as sizes or scales of extents that are known at run time say.
void write_made_layer(const call& each, const extents& made, const std::string& layer, const std::string& option,
                      const std::vector<std::string>& numbers) {
  const extents& all = each.in(0).extents;
  std::string image = each.code(0);
  for (std::size_t axis = 2; axis < made.size(); ++axis) {
    const extent& size = made[axis];
    if (places_of(each) != "pytorch_half_pixel" || (size.known && *size.known != 1)) continue;
    // A single element is the first one: the others are left out.
    const std::string count = size.known ? "1" : size.code + " == 1 ? 1 : " + all[axis].code;
    image = "tn::narrow(" + image + ", tn::axis<" + std::to_string(axis) + ">, 0, " + count + ")";
  }
  const std::string corners = aligns_corners(each) ? ", .align_corners = true" : "";
  write_layer(each, made, "nn::" + layer + "<>{{" + option + " = {" + joined(numbers) + "}" + corners + "}}", image);
}

/// Sizes that are known at run time.
void write_sized(const call& each) {
  const extents &all = each.in(0).extents, made = sized(each);
  const std::string layer = layer_for(each, false);
  if (layer.empty() || each.text("keep_aspect_ratio_policy", "stretch") != "stretch")
    each.refuse("resizes to sizes that are known at run time, by a mode or from places that no layer has");
  std::vector<std::string> sizes;
  for (std::size_t axis = 0; axis < made.size(); ++axis) {
    if (axis >= 2) sizes.push_back(made[axis].code);
    else if (!(made[axis] == all[axis])) each.refuse("resizes batches or channels, which is not supported");
  }
  write_made_layer(each, made, layer, ".size", sizes);
}

/// The layer that does it, where each axis behind the channels becomes a whole number of times longer; else "".
std::string layer_of(const call& each, const std::vector<resized_axis>& axes) {
  lengths factors(static_cast<std::size_t>(std::max(0, each.in(0).rank() - 2)), 1);
  for (const resized_axis& axis : axes) {
    const bool is_whole = axis.to % axis.from == 0 && axis.scale == static_cast<double>(axis.to / axis.from);
    if (!is_whole || axis.to == 0 || (axis.number < 2 && axis.to != axis.from)) return "";
    if (axis.number >= 2) factors[static_cast<std::size_t>(axis.number - 2)] = axis.to / axis.from;
  }
  const std::string name = layer_for(each, true);
  if (name.empty()) return "";
  const std::string type = "nn::" + name + "<" + listed(factors) + ">";
  const std::string initial = aligns_corners(each) ? "{{.align_corners = true}}" : "";
  return each.net.layer(type + initial, "upsample", member{{}, type, initial, {}});
}

/// The scales of all axes of an image, of which those behind the channels have extents that are known at run time.
std::vector<double> open_scales(const call& each) {
  const std::vector<double> scales = each.known(is_old(each) ? 1 : 2, "scales").numbers();
  const int rank = each.in(0).rank();
  if (scales.size() != each.in(0).extents.size())
    each.refuse("has " + std::to_string(scales.size()) + " scales, expected " + std::to_string(rank));
  if (std::any_of(scales.begin(), scales.begin() + std::min(2, rank), [](double scale) { return scale != 1; }))
    each.refuse("resizes batches or channels beside extents that are known at run time, which is not supported");
  return scales;
}

/// Extents that are known at run time, by scales.
void write_open(const call& each) {
  const std::vector<double> scales = open_scales(each);
  extents made = each.in(0).extents;
  std::vector<resized_axis> axes;
  std::vector<std::string> numbers;
  for (std::size_t i = 2; i < scales.size(); ++i) {
    axes.push_back({static_cast<std::int64_t>(i), 1, scaled_extent(each, scales[i]), scales[i]});
    numbers.push_back(literal(float32, scales[i]));
    numbers.back().pop_back();  // layers compute extents in double, of the number as it is written
    made[i] =
        scales[i] == std::floor(scales[i])
            ? made[i] * extent(axes.back().to)
            : extent("static_cast<tn::index>(static_cast<double>(" + made[i].code + ") * " + numbers.back() + ")");
  }
  if (const std::string layer = layer_of(each, axes); !layer.empty())
    return write_layer(each, made, layer, each.code(0));
  const std::string layer = layer_for(each, false);
  if (layer.empty())
    each.refuse(
        "resizes extents that are known at run time, by factors or from places that no layer has, "
        "which is not supported");
  write_made_layer(each, made, layer, ".scale_factor", numbers);
}

void write_resize(const call& each) {
  const value& image = each.in(0);
  const auto has_open = [&](const extents& all) {
    return std::any_of(all.begin() + std::min(2, image.rank()), all.end(),
                       [](const extent& length) { return !length.known; });
  };
  const bool is_open = has_open(image.extents);
  if (each.has(3) && (is_open || has_open(sized(each)))) return write_sized(each);
  if (is_open) return write_open(each);
  std::vector<resized_axis> axes = axes_of(each);
  keep_proportions(each, axes);
  extents made = image.extents;
  for (const resized_axis& axis : axes) {
    made[static_cast<std::size_t>(axis.number)] = axis.to;
    static_cast<void>(table_size({axis.to, axis.from}));
  }
  const std::string layer = layer_of(each, axes);
  if (!layer.empty()) return write_layer(each, made, layer, each.code(0));
  const bool is_nearest = each.text("mode", "nearest") == "nearest";
  if (!is_nearest && image.element != float32)
    each.refuse(std::string("resizes elements of ") + type_of(image.element).name +
                ", by factors or from places that no layer has, which is not supported");
  std::string code = each.code(0);
  for (const resized_axis& axis : axes) {
    const bool is_cropped = each.text("coordinate_transformation_mode", "") == "tf_crop_and_resize";
    if (axis.to == axis.from && axis.scale == 1 && !is_cropped) continue;
    code = is_nearest ? nearest_along(each, code, axis) : each.net.named(filtered_along(each, code, axis));
  }
  each.result(made, code);
}

constexpr row resize_table[] = {{"Resize", write_resize}, {"Upsample", write_resize}};

}  // namespace

std::span<const row> resize_rows() { return resize_table; }

}  // namespace onnx_in
