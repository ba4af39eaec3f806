// tenon/algorithms/grid_sample.hpp: images read at the places of a grid.
// A place is found once for all channels; the gradients are passes of the same corners and weights.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/grid_places.hpp>
#include <tenon/algorithms/lines.hpp>
#include <tenon/algorithms/numbered.hpp>
#include <tenon/expr/generate.hpp>
#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/own_pass.hpp>

namespace tenon {

namespace detail {

/// The elements of a plane that make one of the result: where they lie, what they count, and what that grows by when x
/// and y of the grid do.
template <class Number, int Taps>
struct plane_corners {
  index count = 0, offset[Taps * Taps];
  Number weight[Taps * Taps], growth_x[Taps * Taps], growth_y[Taps * Taps];

  template <class Element>
  TENON_HOST_DEVICE Number sum_over(const Element* plane) const {
    Number sum = 0;
    for (index k = 0; k < count; ++k) sum += weight[k] * as_number<Number>(plane[offset[k]]);
    return sum;
  }
};

/// Elements by four positions, in memory that a kernel reaches.
template <class T>
struct strided_planes {
  T* data;
  array<index, 4> extents, strides;

  template <class View>
  explicit strided_planes(const View& elements)
      : data(elements.data()), extents(elements.shape().to_array()), strides(elements.strides()) {}
  TENON_HOST_DEVICE T* at(index i, index j, index k, index l) const {
    return data + (i * strides[0] + j * strides[1] + k * strides[2] + l * strides[3]);
  }
};
template <class View>
strided_planes(const View&) -> strided_planes<std::remove_pointer_t<decltype(std::declval<View>().data())>>;

/// Planes behind batch and channels, and the grid that reads them; `Number` computes, of `Taps` elements along an axis.
/// `Together` places are visited channel by channel, so that neighbours are read and written together.
template <int Together, int Taps, class Number, class Image, class Grid>
struct sampled_planes {
  using number = Number;
  using corners_type = plane_corners<Number, Taps>;
  static constexpr int together = Together;
  strided_planes<Image> image;
  strided_planes<Grid> grid;
  sampled_axis<Number> height, width;

  TENON_HOST_DEVICE index channels() const { return image.extents[1]; }
  /// How many places a batch has, and in how many blocks; the blocks of all batches.
  TENON_HOST_DEVICE index places() const { return grid.extents[1] * grid.extents[2]; }
  TENON_HOST_DEVICE index blocks() const { return (places() + Together - 1) / Together; }
  index all_blocks() const { return grid.extents[0] * blocks(); }
  TENON_HOST_DEVICE TENON_INLINE corners_type corners(const Grid* at) const {
    const auto x = width.template place<Taps>(as_number<Number>(at[0])),
               y = height.template place<Taps>(as_number<Number>(at[grid.strides[3]]));
    const index taps = width.is_nearest ? 1 : Taps;
    corners_type result;
    for (index j = 0; j < taps; ++j) {
      const index down = height.template element<Taps>(y.first + j);
      for (index i = 0; i < taps; ++i) {
        const index right = width.template element<Taps>(x.first + i);
        result.offset[result.count] = down * image.strides[2] + right * image.strides[3];
        result.weight[result.count] = y.weight(j) * x.weight(i);
        result.growth_x[result.count] = y.weight(j) * x.growth(i);
        result.growth_y[result.count] = y.growth(j) * x.weight(i);
        result.count +=
            height.holds(down) && width.holds(right) ? 1 : 0;  // the next corner takes the place of one outside
      }
    }
    return result;
  }
};

/// A block of places of one batch: what makes their elements, and where these lie in a plane of the result.
template <class Planes>
struct sampled_block {
  index count, row[Planes::together], column[Planes::together];
  typename Planes::corners_type corners[Planes::together];

  TENON_HOST_DEVICE sampled_block(const Planes& planes, index batch, index block) {
    const index begin = block * Planes::together, columns = planes.grid.extents[2], rest = planes.places() - begin;
    count = rest < Planes::together ? rest : Planes::together;
    index down = begin / columns, right = begin - down * columns;
    for (index i = 0; i < count; ++i, right = right + 1 < columns ? right + 1 : 0, down += right == 0 ? 1 : 0) {
      row[i] = down, column[i] = right;
      corners[i] = planes.corners(planes.grid.at(batch, row[i], column[i], 0));
    }
  }
};

/// The result at a block of places, in all channels.
template <class Planes, class Target>
struct grid_sample_pass {
  Planes planes;
  strided_planes<Target> target;

  TENON_HOST_DEVICE void operator()(index number) const {
    const index blocks = planes.blocks(), batch = number / blocks;
    const sampled_block block(planes, batch, number - batch * blocks);
    for (index channel = 0; channel < planes.channels(); ++channel) {
      const auto* plane = planes.image.at(batch, channel, 0, 0);
      for (index i = 0; i < block.count; ++i) {
        *target.at(batch, channel, block.row[i], block.column[i]) =
            static_cast<Target>(static_cast<compute_type<Target>>(block.corners[i].sum_over(plane)));
      }
    }
  }
};

/// The gradients of x and y at a block of places, over all channels.
template <class Planes, class Gradient, class Target>
struct grid_gradient_pass {
  Planes planes;
  strided_planes<Gradient> gradient;
  strided_planes<Target> target;

  TENON_HOST_DEVICE void operator()(index number) const {
    using number_type = typename Planes::number;
    const index blocks = planes.blocks(), batch = number / blocks;
    const sampled_block block(planes, batch, number - batch * blocks);
    number_type of_x[Planes::together] = {}, of_y[Planes::together] = {};
    for (index channel = 0; channel < planes.channels(); ++channel) {
      const auto* plane = planes.image.at(batch, channel, 0, 0);
      for (index i = 0; i < block.count; ++i) {
        const auto& corners = block.corners[i];
        const auto from = as_number<number_type>(*gradient.at(batch, channel, block.row[i], block.column[i]));
        for (index k = 0; k < corners.count; ++k) {
          const number_type term = from * as_number<number_type>(plane[corners.offset[k]]);
          of_x[i] += term * corners.growth_x[k], of_y[i] += term * corners.growth_y[k];
        }
      }
    }
    for (index i = 0; i < block.count; ++i) {
      Target* to = target.at(batch, block.row[i], block.column[i], 0);
      to[0] = static_cast<Target>(of_x[i]), to[target.strides[3]] = static_cast<Target>(of_y[i]);
    }
  }
};

/// Some channels of the image's gradient, whose elements begin at 0: places are added in order.
template <class Planes, class Gradient>
struct image_gradient_pass {
  Planes planes;
  strided_planes<Gradient> gradient;
  index channels;

  TENON_HOST_DEVICE void operator()(index number) const {
    using number_type = typename Planes::number;
    const index groups = (planes.channels() + channels - 1) / channels, batch = number / groups;
    const index first = (number - batch * groups) * channels;
    const index end = first + channels < planes.channels() ? first + channels : planes.channels();
    for (index part = 0; part < planes.blocks(); ++part) {
      const sampled_block block(planes, batch, part);
      for (index channel = first; channel < end; ++channel) {
        auto* plane = planes.image.at(batch, channel, 0, 0);
        using element = std::remove_reference_t<decltype(*plane)>;
        for (index i = 0; i < block.count; ++i) {
          const auto& corners = block.corners[i];
          const auto from = as_number<number_type>(*gradient.at(batch, channel, block.row[i], block.column[i]));
          for (index k = 0; k < corners.count; ++k) {
            plane[corners.offset[k]] += static_cast<element>(from * corners.weight[k]);
          }
        }
      }
    }
  }
};

/// How many blocks of places are worth a thread.
inline constexpr index sampling_grain = 16;

/// Calls `body` with images and a grid as passes of `Space` take them. A device has a thread for each place.
template <class Space, class Number, class Image, class Grid, class Body>
void with_sampled(const grid_sample_options& options, const Image& image, const Grid& grid, const Body& body) {
  const strided_planes planes(image);
  const strided_planes places(grid);
  const sampled_axis<Number> height(options, image.extent(2)), width(options, image.extent(3));
  const auto call = [&]<int Taps>(std::integral_constant<int, Taps>) {
    body(sampled_planes<Space::host_accessible ? 16 : 1, Taps, Number, std::remove_pointer_t<decltype(planes.data)>,
                        std::remove_pointer_t<decltype(places.data)>>{planes, places, height, width});
  };
  if (options.mode == grid_mode::bicubic) call(std::integral_constant<int, 4>{});
  else call(std::integral_constant<int, 2>{});
}

/// What sums are computed in.
template <class... Operands>
using sampling_number = compute_type<floating_result::element<Operands...>>;

}  // namespace detail

/// Images read at the places of a grid, within an expression.
struct grid_sample_algorithm {
  static constexpr const char* name = "grid_sample";
  grid_sample_options options;

  bool operator==(const grid_sample_algorithm&) const = default;
  template <class Target, class Image, class Grid>
  void operator()(const Target& target, const Image& image, const Grid& grid) const {
    using space = typename Target::space;
    const auto images = detail::operand_in<space>(name, image);
    const auto grids = detail::operand_in<space>(name, grid);
    const detail::strided_planes made(target);
    using number = detail::sampling_number<Image, Grid>;
    detail::with_sampled<space, number>(options, images.view(), grids.view(), [&](const auto& planes) {
      for_each_number<space>(planes.all_blocks(), detail::sampling_grain, detail::grid_sample_pass{planes, made});
    });
  }
};

/// The gradient of the images, from that of the result and the grid.
struct grid_image_gradient_algorithm {
  static constexpr const char* name = "grid_sample_image_gradient";
  grid_sample_options options;

  bool operator==(const grid_image_gradient_algorithm&) const = default;
  template <class Target, class Gradient, class Grid>
  void operator()(const Target& target, const Gradient& gradient, const Grid& grid) const {
    using space = typename Target::space;
    const auto gradients = detail::operand_in<space>(name, gradient);
    const auto grids = detail::operand_in<space>(name, grid);
    const detail::strided_planes from(gradients.view());
    using number = detail::sampling_number<Gradient, Grid>;
    constexpr index together = space::host_accessible ? 8 : 1;
    const index groups = (target.extent(1) + together - 1) / together;
    target = constants(target.shape(), typename Target::element(0.0f));
    detail::with_sampled<space, number>(options, target, grids.view(), [&](const auto& planes) {
      for_each_number<space>(target.extent(0) * groups, 1, detail::image_gradient_pass{planes, from, together});
    });
  }
};

/// The gradient of the grid, from that of the result, the images and the grid.
struct grid_gradient_algorithm {
  static constexpr const char* name = "grid_sample_grid_gradient";
  grid_sample_options options;

  bool operator==(const grid_gradient_algorithm&) const = default;
  template <class Target, class Gradient, class Image, class Grid>
  void operator()(const Target& target, const Gradient& gradient, const Image& image, const Grid& grid) const {
    using space = typename Target::space;
    const auto gradients = detail::operand_in<space>(name, gradient);
    const auto images = detail::operand_in<space>(name, image);
    const auto grids = detail::operand_in<space>(name, grid);
    const detail::strided_planes from(gradients.view());
    const detail::strided_planes made(target);
    using number = detail::sampling_number<Gradient, Grid>;
    detail::with_sampled<space, number>(options, images.view(), grids.view(), [&](const auto& planes) {
      for_each_number<space>(planes.all_blocks(), detail::sampling_grain,
                             detail::grid_gradient_pass{planes, from, made});
    });
  }
};

namespace detail {

/// throws    shape_error where image and grid do not fit
template <class Image, class Grid>
void check_sampling(const Image& image, const Grid& grid) {
  static_assert((Image::shape_type::rank == 4 && Grid::shape_type::rank == 4) || must_hold<Image, Grid>,
                "tenon: grid_sample takes images [n, c, h, w] and a grid [n, rows, columns, 2]");
  static_assert((!is_complex<typename Image::element> && !is_complex<typename Grid::element>) || must_hold<Image, Grid>,
                "tenon: grid_sample takes real numbers; real(z) and imag(z) are the parts of complex ones");
  const auto& extents = image.shape();
  if (extents.extent(0) != grid.shape().extent(0)) {
    throw shape_error(compose_text("grid_sample: axis 0: extents ", extents.extent(0), " and ", grid.shape().extent(0),
                                   " of image and grid differ, expected equal"));
  }
  if (grid.shape().extent(3) != 2) {
    throw shape_error(
        compose_text("grid_sample: axis 3: extent ", grid.shape().extent(3), " of the grid, expected 2: x and y"));
  }
  for (int axis = 2; axis < 4; ++axis) {
    if (extents.extent(axis) > 0) continue;
    throw shape_error(compose_text("grid_sample: axis ", axis, ": extent 0 of the image, expected at least 1"));
  }
}

template <class Image, class Grid>
auto make_grid_sample(const Image& image, const Grid& grid, const grid_sample_options& options) {
  using images = typename Image::shape_type;
  using places = typename Grid::shape_type;
  const shape<images::static_extent(0), images::static_extent(1), places::static_extent(1), places::static_extent(2)>
      extents(array<index, 4>{
          {image.shape().extent(0), image.shape().extent(1), grid.shape().extent(1), grid.shape().extent(2)}});
  return make_own_pass<floating_result::element<Image, Grid>>(grid_sample_algorithm{options}, extents, image, grid);
}

}  // namespace detail

/// Images read at the places of a grid, as PyTorch's grid_sample: a place is x, along the width, and y, each from -1 at
/// one end of the image to 1 at the other. What is NaN in the grid makes NaN, and so does an infinite place among
/// mirrors.
/// extents   [n, c, rows, columns] of images [n, c, h, w] and a grid [n, rows, columns, 2]
/// types     floating, of integers float; half and bfloat16 are computed in float
/// throws    shape_error where extents differ from these, or an image has no element
/// cost      one pass over the grid, which finds a place once for all channels
/// gradient  of both; that of the grid is 0 at places beside the image or on its border, and of nearest elements. That
///           of the image is added up in order, a few channels a thread; on a device, one
/// source    Jaderberg et al. 2015: Spatial transformer networks; Keys 1981: Cubic convolution interpolation for
///           digital image processing, with a slope of -3/4
/// example   y = grid_sample(x, affine_grid(theta, x.shape()));
template <tensor_operand Image, tensor_operand Grid>
auto grid_sample(Image&& image, Grid&& grid, grid_sample_options options = {}) {
  const auto images = as_node(std::forward<Image>(image));
  const auto places = as_node(std::forward<Grid>(grid));
  detail::check_sampling(images, places);
  return detail::make_grid_sample(images, places, options);
}

/// The gradients of image and grid, from the result's.
template <int I, class T, class Shape, class Image, class Grid, class Gradient>
auto operand_gradient(const own_pass<grid_sample_algorithm, T, Shape, Image, Grid>& node, const Gradient& gradient) {
  using number = compute_type<typename Gradient::element>;
  const grid_sample_options options = node.options.options;
  const auto& [image, grid] = node.operands;
  if constexpr (I == 0) {
    return make_own_pass<number>(grid_image_gradient_algorithm{options}, image.shape(), gradient, grid);
  } else {
    return make_own_pass<number>(grid_gradient_algorithm{options}, grid.shape(), gradient, image, grid);
  }
}
/// The gradients of what the image's gradient is made of: it is linear in the first.
template <int I, class T, class Shape, class Operand, class Grid, class Gradient>
auto operand_gradient(const own_pass<grid_image_gradient_algorithm, T, Shape, Operand, Grid>& node,
                      const Gradient& gradient) {
  const grid_sample_options options = node.options.options;
  const auto& grid = get<1>(node.operands);
  if constexpr (I == 0) {
    return detail::make_grid_sample(gradient, grid, options);
  } else {
    return make_own_pass<T>(grid_gradient_algorithm{options}, grid.shape(), get<0>(node.operands), gradient, grid);
  }
}

}  // namespace tenon
