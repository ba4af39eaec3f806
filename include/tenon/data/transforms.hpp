// tenon/data/transforms.hpp: what is done to images before a network sees them, as expressions.
// Rows and columns are the last two axes; transforms change where elements are read, and fuse into one loop.
// Floor 6: may include base, expr, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/data/random_draws.hpp>
#include <tenon/expr/operations/rounding.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/views/index_map.hpp>
#include <tenon/expr/views/interpolation.hpp>
#include <tenon/expr/views/pad.hpp>
#include <tenon/expr/views/reshape.hpp>

namespace tenon::data {

/// An image of bytes 0 to 255 as floats 0 to 1, of the same extents.
/// source    torchvision.transforms.ToTensor
template <tensor_operand Image>
auto unit_floats(const Image& image) {
  return cast<float>(image) * (1.0f / 255.0f);
}

/// A number, or what stands beside an image: of one axis a value for each channel.
template <tensor_operand Image, class Values>
decltype(auto) beside_channels(const Values& values) {
  if constexpr (!tensor_operand<Values>) {
    return (values);
  } else if constexpr (node_of<Values>::shape_type::rank == 1 && node_of<Image>::shape_type::rank >= 3) {
    return new_axis<1>(new_axis<1>(values));
  } else {
    return (values);
  }
}

/// (image - mean) / deviation, as floats. Mean and deviation are numbers, or tensors [channels] or [channels, 1, 1],
/// which must outlive the expression.
/// extents   [..., channels, height, width]; beside fewer axes, tensors that repeat over the image
/// throws    shape_error where there are other channels
/// source    torchvision.transforms.Normalize
template <tensor_operand Image, class Mean, class Deviation>
auto normalise(const Image& image, const Mean& mean, const Deviation& deviation) {
  return (cast<float>(image) - beside_channels<Image>(mean)) / beside_channels<Image>(deviation);
}

/// The image reversed along each of the axes where `condition` holds; else the image unchanged.
template <tensor_operand Image, int... Axes>
auto flip_if(bool condition, const Image& image, axis_list<Axes...> axes) {
  using shape_type = typename Image::shape_type;
  constexpr int rank = shape_type::rank;
  const auto flipped = axis_set<rank>(axes);
  const shape_type extents = image.shape();
  auto map = identity_map<rank>();
  for (int along = 0; along < rank; ++along) {
    if (!condition || !flipped[along] || extents.extent(along) == 0) continue;
    map.start[along] = extents.extent(along) - 1;
    map.step[along] = -1;
  }
  return make_index_map<same_moved_axes<rank>>(image, extents, map);
}

/// Reverses an image with a probability, 0.5 by default; along `axis<-1>`, the default, that mirrors left and right.
/// source    torchvision.transforms.RandomHorizontalFlip
template <tensor_operand Image, int... Axes>
auto random_flip(const Image& image, random_draws& draws, axis_list<Axes...> axes, double probability = 0.5) {
  return flip_if(draws.chance(probability), image, axes);
}
template <tensor_operand Image>
auto random_flip(const Image& image, random_draws& draws) {
  return random_flip(image, draws, axis<-1>);
}

/// Rows and columns of an image.
struct image_size {
  index height = 0, width = 0;
};

/// The part of an image that begins at row `top` and column `left`. Places beyond the image hold `outside`.
/// extents   [..., height, width]
template <tensor_operand Image>
auto crop(const Image& image, index top, index left, const image_size& size, typename Image::element outside = {}) {
  constexpr int rank = Image::shape_type::rank;
  static_assert(rank >= 2, "tenon: an image has rows and columns");
  const auto source = image.shape().to_array();
  auto extents = source;
  array<index, rank> before{};
  before[rank - 2] = -top, before[rank - 1] = -left;
  extents[rank - 2] = size.height, extents[rank - 1] = size.width;
  return make_remap(pad_constant_map<decltype(outside), rank>{before, source, outside}, tenon::rank<rank>(extents),
                    as_node(image));
}

/// A random part of `size` of an image, which is first padded on all sides with `padding` elements of `outside`.
/// extents   [..., height, width]
/// throws    shape_error when the padded image is smaller than the part
/// source    torchvision.transforms.RandomCrop
template <tensor_operand Image>
auto random_crop(const Image& image, random_draws& draws, const image_size& size, index padding = 0,
                 typename Image::element outside = {}) {
  constexpr int rank = Image::shape_type::rank;
  const auto extents = image.shape().to_array();
  const auto place = [&](int along, index cropped) {
    const index room = extents[along] + 2 * padding - cropped;
    if (room < 0 || cropped < 0) {
      throw shape_error(compose_text("random_crop: axis ", along, ": extent ", cropped, ", expected at most ",
                                     extents[along] + 2 * padding, " (image ", extents, ", padding ", padding, ")"));
    }
    return draws.below(room + 1) - padding;
  };
  const index top = place(rank - 2, size.height), left = place(rank - 1, size.width);
  return crop(image, top, left, size, outside);
}

/// The middle part of `size` of an image [..., height, width]; a smaller image gets `outside` around it. Where there is
/// no middle, a part begins at the even one of two places, as in torchvision.
/// source    torchvision.transforms.CenterCrop
template <tensor_operand Image>
auto centre_crop(const Image& image, const image_size& size, typename Image::element outside = {}) {
  constexpr int rank = Image::shape_type::rank;
  const auto margin = [](index whole, index part) {
    const index room = whole - part;
    return room / 2 + (room > 0 && room % 4 == 3 ? 1 : 0);
  };
  const auto extents = image.shape().to_array();
  return crop(image, margin(extents[rank - 2], size.height), margin(extents[rank - 1], size.width), size, outside);
}

/// Means of elements, as elements of this type again: bytes are rounded to even, floats stay as they are.
template <dtype Element, class Node>
auto mean_as(const Node& means) {
  static_assert(!std::is_integral_v<Element> || std::is_same_v<Element, std::uint8_t> || must_hold<Element>,
                "tenon: means of elements are bytes or floating; cast the image first, or take nearest_filter");
  if constexpr (std::is_same_v<Element, std::uint8_t>) return cast<Element>(rint(means));
  else return means;
}

/// The place in an image of each element of the rotated image; the image turns around its middle.
struct rotation {
  index height, width;
  double cosine, sine;

  TENON_HOST_DEVICE double row(index y, index x) const {
    return cosine * from_middle(y, height) + sine * from_middle(x, width) + middle(height);
  }
  TENON_HOST_DEVICE double column(index y, index x) const {
    return cosine * from_middle(x, width) - sine * from_middle(y, height) + middle(width);
  }

 private:
  TENON_HOST_DEVICE static double middle(index extent) { return 0.5 * static_cast<double>(extent - 1); }
  TENON_HOST_DEVICE static double from_middle(index place, index extent) {
    return static_cast<double>(place) - middle(extent);
  }
};

/// Maps an element of the rotated image to one near its place in the image: that place plus `shift`, rounded down, then
/// `down` rows and `right` columns further.
template <class T, int Rank>
struct rotation_map {
  rotation turn;
  double shift;
  index down, right;
  T outside;

  TENON_HOST_DEVICE bool contains(const array<index, Rank>& position) const {
    const auto [y, x] = find(position);
    return y >= 0 && y < turn.height && x >= 0 && x < turn.width;
  }
  TENON_HOST_DEVICE array<index, Rank> operator()(array<index, Rank> position) const {
    const auto [y, x] = find(position);
    position[Rank - 2] = y, position[Rank - 1] = x;
    return position;
  }

 private:
  struct place {
    index row, column;
  };
  TENON_HOST_DEVICE place find(const array<index, Rank>& position) const {
    const index y = position[Rank - 2], x = position[Rank - 1];
    return {static_cast<index>(::floor(turn.row(y, x) + shift)) + down,
            static_cast<index>(::floor(turn.column(y, x) + shift)) + right};
  }
};

/// The bilinear weight of that element among the four around the place.
template <class Number>
struct rotation_weight {
  rotation turn;
  index down, right;

  TENON_HOST_DEVICE Number operator()(index y, index x) const {
    return static_cast<Number>(share(turn.row(y, x), down) * share(turn.column(y, x), right));
  }

 private:
  TENON_HOST_DEVICE static double share(double place, index is_behind) {
    const double past = place - ::floor(place);
    return is_behind != 0 ? past : 1 - past;
  }
};

/// The image rotated counter-clockwise by an angle in degrees; extents stay. Each element is the nearest one, or with
/// `linear_filter` the weighted mean of four. Places beyond the image hold `outside`; bytes are rounded to even.
/// source    torchvision.transforms.functional.rotate, which defaults to the nearest too
/// example   data::rotate<linear_filter>(image, 15)
template <class Filter = nearest_filter, tensor_operand Image>
auto rotate(const Image& image, double degrees, typename Image::element outside = {}) {
  using shape_type = typename Image::shape_type;
  using element = typename Image::element;
  constexpr int rank = shape_type::rank;
  constexpr bool is_nearest = std::is_same_v<Filter, nearest_filter>;
  static_assert(rank >= 2, "tenon: an image has rows and columns");
  static_assert(is_nearest || std::is_same_v<Filter, linear_filter> || must_hold<Filter>,
                "tenon: images are turned with nearest_filter or linear_filter");
  const shape_type extents = image.shape();
  const double angle = degrees * (3.14159265358979323846 / 180);
  const rotation turn{extents.extent(rank - 2), extents.extent(rank - 1), std::cos(angle), std::sin(angle)};
  const auto elements = [&](double shift, index down, index right) {
    return make_remap(rotation_map<element, rank>{turn, shift, down, right, outside}, extents, as_node(image));
  };
  if constexpr (is_nearest) {
    return elements(0.5, 0, 0);
  } else {
    using number = std::conditional_t<std::is_same_v<element, double>, double, float>;
    const tenon::rank<2> plane(turn.height, turn.width);
    const auto part = [&](index down, index right) {
      return cast<number>(elements(0, down, right)) * map(rotation_weight<number>{turn, down, right},
                                                          index_grid<index>(plane, axis<0>),
                                                          index_grid<index>(plane, axis<1>));
    };
    return mean_as<element>(part(0, 0) + part(0, 1) + part(1, 0) + part(1, 1));
  }
}

/// The image rotated as by `rotate`, by an angle drawn from [-degrees, degrees).
/// source    torchvision.transforms.RandomRotation
template <class Filter = nearest_filter, tensor_operand Image>
auto random_rotation(const Image& image, random_draws& draws, double degrees, typename Image::element outside = {}) {
  return rotate<Filter>(image, draws.uniform(-degrees, degrees), outside);
}

}  // namespace tenon::data
