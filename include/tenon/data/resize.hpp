// tenon/data/resize.hpp: images made larger and smaller before a network sees them, as expressions.
// Filters are those of expr/views/interpolation.hpp; the default one takes account of every element of an image.
// Floor 6: may include base, host, contraction, expr, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/contraction/execute.hpp>
#include <tenon/data/transforms.hpp>
#include <tenon/host/interpolation.hpp>

namespace tenon::data {

/// The image resized to `size` rows and columns. By default the filter is linear along both axes, and widened where the
/// image becomes smaller (antialiasing). Bytes stay bytes, rounded to even.
/// extents   [..., height, width]
/// throws    shape_error when the image or the new size has no rows or columns
/// cost      as `interpolate`
/// source    torchvision.transforms.Resize of tensors; with linear_filter, the same with antialias=False
/// example   data::resize(image, {224, 224}), data::resize<nearest_filter>(labels, {224, 224})
template <class Filter = antialiased<linear_filter>, tensor_operand Image>
auto resize(const Image& image, const image_size& size) {
  using element = typename Image::element;
  constexpr int rank = Image::shape_type::rank;
  static_assert(rank >= 2, "tenon: an image has rows and columns");
  using number = std::conditional_t<std::is_same_v<element, double> && Filter::reach != 0, double, float>;
  interpolated_places<number, 2, Filter> places{{}, {{size.height, size.width}}, {}, Filter::reach == 0 ? 0 : 1};
  for (int axis = 0; axis < 2; ++axis) {
    const index from = image.shape().extent(rank - 2 + axis), to = places.output[axis];
    if (from < 1 || to < 1) {
      throw shape_error(compose_text("resize: axis ", rank - 2 + axis, ": ", to, " elements from ", from,
                                     ", expected at least 1 (image ", image.shape().to_array(), ")"));
    }
    places.image[axis] = from, places.step[axis] = number(from) / number(to);
  }
  if constexpr (Filter::reach == 0) return interpolate(image, places);
  else return mean_as<element>(interpolate(cast<number>(image), places));
}

/// The size of an image whose shorter edge becomes `edge`, in the same proportions, rounded down.
/// source    torchvision.transforms.Resize of one number
inline image_size with_shorter_edge(const image_size& size, index edge) {
  if (size.height <= size.width) return {edge, size.height == 0 ? 0 : edge * size.width / size.height};
  return {size.width == 0 ? 0 : edge * size.height / size.width, edge};
}

/// The smallest size of these proportions, rounded down, that covers another one.
inline image_size covering_size(const image_size& whole, const image_size& covered) {
  const bool is_wide = covered.height * whole.width >= covered.width * whole.height;
  if (is_wide) return {covered.height, whole.height == 0 ? 0 : covered.height * whole.width / whole.height};
  return {whole.width == 0 ? 0 : covered.width * whole.height / whole.width, covered.width};
}

/// The rows and columns of an image.
template <tensor_operand Image>
image_size size_of(const Image& image) {
  constexpr int rank = Image::shape_type::rank;
  static_assert(rank >= 2, "tenon: an image has rows and columns");
  return {image.shape().extent(rank - 2), image.shape().extent(rank - 1)};
}

/// Resizes an image [..., height, width] in proportion, so that its shorter edge has `edge` elements.
template <class Filter = antialiased<linear_filter>, tensor_operand Image>
auto resize_shorter_edge(const Image& image, index edge) {
  return resize<Filter>(image, with_shorter_edge(size_of(image), edge));
}

/// The range of parts that `random_resized_crop` draws from.
struct part_options {
  double least_share = 0.08, greatest_share = 1;           ///< of the image's area
  double least_ratio = 3.0 / 4, greatest_ratio = 4.0 / 3;  ///< width / height
};

namespace detail {

/// throws    shape_error where a range of `random_part` is none
inline void check_range(const char* what, double least, double greatest, bool takes_zero) {
  const bool begins = takes_zero ? least >= 0 : least > 0;
  if (begins && least <= greatest && std::isfinite(greatest)) return;
  throw shape_error(compose_text("random_part: least_", what, " ", least, ", greatest_", what, " ", greatest,
                                 ", expected finite numbers ", takes_zero ? "of at least 0" : "above 0",
                                 ", the least first"));
}

}  // namespace detail

/// A rectangle of an image: where it begins, and its size.
struct image_part {
  index top = 0, left = 0;
  image_size size{};
};

/// A part drawn as `options` say: its share of the area uniformly, its ratio by its logarithm. A part that does not fit
/// is drawn again, up to ten times; then the largest part in the middle with an allowed ratio is taken.
/// throws    shape_error for a negative share, a ratio that is not positive, and ranges that end before they begin
/// source    torchvision.transforms.RandomResizedCrop; Szegedy and others 2015
inline image_part random_part(const image_size& whole, random_draws& draws, const part_options& options = {}) {
  detail::check_range("share", options.least_share, options.greatest_share, true);
  detail::check_range("ratio", options.least_ratio, options.greatest_ratio, false);
  const auto height = static_cast<double>(whole.height), width = static_cast<double>(whole.width);
  const auto rounded = [](double extent) { return static_cast<index>(std::nearbyint(std::fmin(extent, 1e15))); };
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = height * width * draws.uniform(options.least_share, options.greatest_share);
    const double ratio = std::exp(draws.uniform(std::log(options.least_ratio), std::log(options.greatest_ratio)));
    const image_size size{rounded(std::sqrt(area / ratio)), rounded(std::sqrt(area * ratio))};
    if (size.height < 1 || size.width < 1 || size.height > whole.height || size.width > whole.width) continue;
    const index top = draws.below(whole.height - size.height + 1);
    return {top, draws.below(whole.width - size.width + 1), size};
  }
  image_size size = whole;
  if (width < height * options.least_ratio) size.height = rounded(width / options.least_ratio);
  if (width > height * options.greatest_ratio) size.width = rounded(height * options.greatest_ratio);
  return {(whole.height - size.height) / 2, (whole.width - size.width) / 2, size};
}

/// A random part of an image, drawn as `options` say and resized to `size`.
/// extents   [..., height, width]
/// throws    as random_part and resize
/// source    torchvision.transforms.RandomResizedCrop
template <class Filter = antialiased<linear_filter>, tensor_operand Image>
auto random_resized_crop(const Image& image, random_draws& draws, const image_size& size,
                         const part_options& options = {}) {
  constexpr int rank = Image::shape_type::rank;
  const image_part part = random_part(size_of(image), draws, options);
  auto extents = image.shape().to_array();
  auto map = identity_map<rank>();
  map.start[rank - 2] = part.top, map.start[rank - 1] = part.left;
  extents[rank - 2] = part.size.height, extents[rank - 1] = part.size.width;
  return resize<Filter>(make_index_map<same_moved_axes<rank>>(image, tenon::rank<rank>(extents), map), size);
}

}  // namespace tenon::data
