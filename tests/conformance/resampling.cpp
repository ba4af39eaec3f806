// tests/conformance/resampling.cpp: images of another size, along one axis after the other.
// ONNX has six ways to say where an element lies; tables tell which elements of the input it is made of.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <tenon/nn/resampling.hpp>

#include "conformance/lines.hpp"

namespace conformance {

namespace {

namespace nn = tn::nn;

/// What a case says of an axis.
struct resized_axis {
  index from, to;
  double scale, start, end;  // the last two: which part of the input is wanted, by tf_crop_and_resize
};

/// Where element `i` of the result lies among those of the input.
double position_of(const call& from, const resized_axis& axis, index i) {
  const std::string mode = from.attributes.text("coordinate_transformation_mode", "half_pixel");
  const double place = static_cast<double>(i), last = static_cast<double>(axis.from - 1);
  const double between_corners = axis.to == 1 ? 0 : last / static_cast<double>(axis.to - 1);
  const double half_pixel = (place + 0.5) / axis.scale - 0.5;
  if (mode == "half_pixel") return half_pixel;
  if (mode == "pytorch_half_pixel") return axis.to == 1 ? 0 : half_pixel;
  if (mode == "half_pixel_symmetric") {
    const double extent = static_cast<double>(axis.from);
    return half_pixel + extent / 2 * (1 - static_cast<double>(axis.to) / (axis.scale * extent));
  }
  if (mode == "asymmetric") return place / axis.scale;
  if (mode == "align_corners") return place * between_corners;
  if (mode != "tf_crop_and_resize") throw tn::shape_error("not told by this test: " + mode);
  if (axis.to == 1) return (axis.start + axis.end) / 2 * last;
  return axis.start * last + place * (axis.end - axis.start) * between_corners;
}

/// The whole number that the nearest element is.
double nearest_place(const call& from, double position) {
  const std::string mode = from.attributes.text("nearest_mode", "round_prefer_floor");
  if (mode == "floor") return std::floor(position);
  if (mode == "ceil") return std::ceil(position);
  return mode == "round_prefer_ceil" ? std::floor(position + 0.5) : std::ceil(position - 0.5);
}

/// What an element at a distance counts.
double share_of(const call& from, double distance) {
  if (from.attributes.text("mode", "nearest") == "linear") return tenon::linear_filter::value(distance);
  return tenon::cubic_convolution(distance, from.attributes.number("cubic_coeff_a", -0.75));
}

/// The elements that make each of the result's, what they count, and which of the result lie beside the input.
struct tap_table {
  index taps;
  std::vector<index> places;
  std::vector<float> weights;
  std::vector<float> beside;

  tap_table(const call& from, const resized_axis& axis) {
    const std::string mode = from.attributes.text("mode", "nearest");
    const bool is_antialiased = from.attributes.integer("antialias", 0) != 0;
    const double width = is_antialiased ? std::max(1 / axis.scale, 1.0) : 1, reach = mode == "linear" ? 1 : 2;
    taps = mode == "nearest" ? 1 : static_cast<index>(2 * std::ceil(reach * width));
    for (index i = 0; i < axis.to; ++i) {
      const double position = position_of(from, axis, i);
      const bool is_cropped = from.attributes.text("coordinate_transformation_mode", "") == "tf_crop_and_resize";
      beside.push_back(is_cropped && (position < 0 || position > static_cast<double>(axis.from - 1)) ? 1.0f : 0.0f);
      const double first =
          mode == "nearest" ? nearest_place(from, position) : std::floor(position) + 1 - static_cast<double>(taps / 2);
      add_row(from, axis, static_cast<index>(first), [&](index place) {
        return mode == "nearest" ? 1 : share_of(from, (static_cast<double>(place) - position) / width);
      });
    }
  }

 private:
  /// The shares of elements from `first` on, of which the border repeats, or what is beside it does not count.
  template <class Share>
  void add_row(const call& from, const resized_axis& axis, index first, const Share& share) {
    const bool excludes_outside = from.attributes.integer("exclude_outside", 0) != 0;
    double sum = 0;
    std::vector<double> row;
    for (index place = first; place < first + taps; ++place) {
      const index inside = std::clamp<index>(place, 0, axis.from - 1);
      places.push_back(inside);
      row.push_back(excludes_outside && place != inside ? 0 : share(place));
      sum += row.back();
    }
    for (const double each : row) weights.push_back(static_cast<float>(each / sum));
  }
};

/// An array of a table's numbers.
template <class T>
array array_from(const std::vector<T>& numbers, std::vector<index> extents) {
  array result{tn::dtype_name<T>(), std::move(extents), {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(numbers.data());
  result.bytes.assign(bytes, bytes + numbers.size() * sizeof(T));
  return result;
}

/// Resizes one axis.
template <class Space>
array resize_axis(const call& from, const array& x, index number, const resized_axis& axis) {
  const tap_table table(from, axis);
  const auto places = tensor_of<index, Space, 2>(array_from(table.places, {axis.to, table.taps}));
  const auto weights = tensor_of<float, Space, 3>(array_from(table.weights, {axis.to, table.taps, 1}));
  const auto beside = tensor_of<float, Space, 2>(array_from(table.beside, {axis.to, 1}));
  const auto taken = tn::take(lines_of<float, Space>(x, number), tn::trusted(places), middle_axis);
  const auto value = static_cast<float>(from.attributes.number("extrapolation_value", 0));
  const tn::tensor<float, tn::rank<3>, Space> lines =
      tn::where(beside != 0, value, tn::sum(taken * weights, tn::drop<2>));
  return array_of_lines(lines, x.extents, number);
}

/// The numbers of an input of float.
std::vector<double> numbers_of(const call& from, std::size_t i) {
  if (!from.has(i)) return {};
  const auto* numbers = from.input(i).elements<float>();
  return {numbers, numbers + from.input(i).size()};
}

/// One scale for all axes that keeps the image's proportions, within the sizes wanted or just not below them.
void keep_proportions(const std::string& policy, std::vector<resized_axis>& axes) {
  if (policy == "stretch") return;
  double scale = axes.front().scale;
  for (const auto& axis : axes) {
    scale = policy == "not_larger" ? std::min(scale, axis.scale) : std::max(scale, axis.scale);
  }
  for (auto& axis : axes) {
    axis.scale = scale;
    axis.to = static_cast<index>(std::floor(scale * static_cast<double>(axis.from) + 0.5));
  }
}

/// The axes to resize, by their numbers.
std::vector<resized_axis> resized_axes(const call& from, const std::vector<index>& numbers) {
  const std::vector<double> scales = numbers_of(from, 2), region = numbers_of(from, 1);
  const std::vector<index> sizes = from.has(3) ? integers_of(from.input(3)) : std::vector<index>();
  std::vector<resized_axis> axes;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const index extent = from.input(0).extents.at(static_cast<std::size_t>(numbers[i]));
    const double old = static_cast<double>(extent);
    resized_axis axis{extent, 0, 0, 0, 1};
    axis.to = sizes.empty() ? static_cast<index>(std::floor(old * scales.at(i))) : sizes.at(i);
    axis.scale = sizes.empty() ? scales.at(i) : static_cast<double>(axis.to) / old;
    if (region.size() == 2 * numbers.size()) axis.start = region[i], axis.end = region[i + numbers.size()];
    axes.push_back(axis);
  }
  if (!sizes.empty()) keep_proportions(from.attributes.text("keep_aspect_ratio_policy", "stretch"), axes);
  return axes;
}

/// Whether the layer does what is asked for.
bool is_bicubic(const call& from) {
  const auto& attributes = from.attributes;
  const std::string mode = attributes.text("coordinate_transformation_mode", "half_pixel");
  return attributes.text("mode", "nearest") == "cubic" && (mode == "half_pixel" || mode == "align_corners") &&
         attributes.number("cubic_coeff_a", -0.75) == -0.75 && attributes.integer("exclude_outside", 0) == 0 &&
         attributes.integer("antialias", 0) == 0 && !attributes.has("axes") && from.input(0).rank() == 4;
}

template <class Space>
array resize_bicubic(const call& from) {
  const auto axes = resized_axes(from, {0, 1, 2, 3});
  nn::upsample_options<2> options{
      .align_corners = from.attributes.text("coordinate_transformation_mode", "half_pixel") == "align_corners"};
  if (from.has(3)) options.size = {axes[2].to, axes[3].to};
  else options.scale_factor = {axes[2].scale, axes[3].scale};
  const auto x = tensor_of<float, Space, 4>(from.input(0));
  return evaluated<Space>(nn::upsample_bicubic2d<>(options).forward(x), 4);
}

template <class Space>
array resize(const call& from) {
  const int rank = from.input(0).rank();
  std::vector<index> numbers;
  for (const index axis : from.attributes.integers("axes")) numbers.push_back(front_axis(axis, rank));
  for (index axis = 0; axis < rank && !from.attributes.has("axes"); ++axis) numbers.push_back(axis);
  array x = from.input(0);
  const auto axes = resized_axes(from, numbers);
  for (std::size_t i = 0; i < axes.size(); ++i) x = resize_axis<Space>(from, x, numbers[i], axes[i]);
  return x;
}

/// The older operation: the nearest elements in front, by scales.
template <class Space>
array upsample(const call& from) {
  const auto scales = numbers_of(from, 1);
  if (from.attributes.text("mode", "nearest") != "nearest") throw tn::shape_error("not told by this test: linear");
  const nn::upsample_nearest2d<> layer({.scale_factor = {scales.at(2), scales.at(3)}});
  return evaluated<Space>(layer.forward(tensor_of<float, Space, 4>(from.input(0))), 4);
}

}  // namespace

void add_resampling(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["Resize"] = either(is_bicubic, resize_bicubic<Space>, resize<Space>);
    table["Upsample"] = upsample<Space>;
  });
}

}  // namespace conformance
