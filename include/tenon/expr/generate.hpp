// tenon/expr/generate.hpp: values computed from their position.
// A generator is a function of one affine offset, so it fuses and merges axes as memory does.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/base/checked_arithmetic.hpp>
#include <tenon/device/simd_integer.hpp>
#include <tenon/expr/generated_source.hpp>
#include <tenon/expr/node.hpp>

namespace tenon {

/// `generator(base + sum(position * stride))` at every position.
template <class Generator, shape_type Shape>
struct generated {
  using kind = generator_kind;
  using element = typename Generator::element;
  using space = any_space;
  using shape_type = Shape;

  Generator generator;
  shape_type extents;
  index base;
  array<index, Shape::rank> stride;
  static constexpr tuple<> operands{};

  constexpr const shape_type& shape() const { return extents; }
  /// A number, for a generator without axes.
  constexpr operator element() const
    requires(Shape::rank == 0)
  {
    return assigner<element, generated>::value(*this);
  }
  constexpr operator detail::widened<element>() const
    requires(Shape::rank == 0 && is_short_float<element>)
  {
    return assigner<element, generated>::value(*this);
  }

  template <int, int Outer>
  constexpr generated_source<Generator, Outer> lower(const axis_map<Shape::rank, Outer>& map) const {
    return {generator, base + map.offset(stride), map.strides(stride)};
  }
};

/// x * y + z, rounded once: what a host and a device compute alike, to the bit.
TENON_HOST_DEVICE inline float multiply_add(float x, float y, float z) { return ::fmaf(x, y, z); }
TENON_HOST_DEVICE inline double multiply_add(double x, double y, double z) { return ::fma(x, y, z); }

namespace detail {
/// Whether `simd::multiply_add` of packs gives the bits that `multiply_add` of numbers gives.
#if defined(__FMA__)
inline constexpr bool packs_round_once = !compiled_by_nvcc;
#else
inline constexpr bool packs_round_once = false;
#endif

}  // namespace detail

/// first + step * offset.
template <dtype T>
struct affine_generator {
  static constexpr const char* name = "progression";
  using element = T;
  compute_type<T> first, step;
  TENON_HOST_DEVICE constexpr compute_type<T> operator()(index offset) const {
    if constexpr (is_floating<T>) return multiply_add(step, static_cast<compute_type<T>>(offset), first);
    else
      return simd::unwrapped<T>(simd::wrapping(first) + simd::wrapping(step) * simd::wrapping(static_cast<T>(offset)));
  }
  /// The numbers at offsets `apart` from each other.
  template <int Width>
  TENON_INLINE auto lanes(index offset, index apart) const
    requires(std::is_integral_v<T> ? !std::is_same_v<T, bool> : is_floating<T> && detail::packs_round_once)
  {
    using number = compute_type<T>;
    using numbers = simd::pack<number, Width>;
    if constexpr (is_floating<T>) {
      const index last = offset + (Width - 1) * apart;
      if (offset != static_cast<std::int32_t>(offset) || last != static_cast<std::int32_t>(last)) [[unlikely]]
        return simd::generate<number, Width>([&](index lane) { return (*this)(offset + lane * apart); });
      const auto steps =
          detail::steps_from<Width>(static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(apart));
      const auto offsets = simd::convert<std::int32_t, number>(simd::as_bits<simd::pack<std::int32_t, Width>>(steps));
      return simd::multiply_add(simd::constant_like<numbers>(step), offsets, simd::constant_like<numbers>(first));
    } else {
      using word = std::make_unsigned_t<T>;
      const std::uint64_t between = static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(apart);
      return simd::as_bits<numbers>(
          detail::steps_from<Width>(static_cast<word>((*this)(offset)), static_cast<word>(between)));
    }
  }
};

/// Numbers from `first` to `last`, which offset `steps` reaches exactly.
struct linear_scale {
  double first, last, step;
  index steps;
  TENON_HOST_DEVICE constexpr double operator()(index offset) const {
    return offset == steps ? last : multiply_add(step, static_cast<double>(offset), first);
  }
};

/// A linear scale as elements of type T.
template <dtype T>
struct linspace_generator {
  static constexpr const char* name = "linspace";
  using element = T;
  linear_scale scale;
  TENON_HOST_DEVICE constexpr compute_type<T> operator()(index offset) const {
    return converted_to<compute_type<T>>(scale(offset));
  }
};

/// `base` to the powers of a linear scale.
template <dtype T>
struct logspace_generator {
  static constexpr const char* name = "logspace";
  using element = T;
  linear_scale scale;
  double base;
  TENON_HOST_DEVICE constexpr compute_type<T> operator()(index offset) const {
    return converted_to<compute_type<T>>(::pow(base, scale(offset)));
  }
};

/// 1 where the offset is 0.
template <dtype T>
struct origin_generator {
  static constexpr const char* name = "eye";
  using element = T;
  TENON_HOST_DEVICE constexpr compute_type<T> operator()(index offset) const {
    return compute_type<T>(offset == 0 ? 1 : 0);
  }
};

/// The same number at every position.
template <dtype T>
struct constant_generator {
  static constexpr const char* name = "constants";
  using element = T;
  compute_type<T> number;

  bool operator==(const constant_generator&) const = default;
  TENON_HOST_DEVICE constexpr compute_type<T> operator()(index) const { return number; }
};

namespace detail {

template <class T>
[[noreturn]] void refuse_steps(T first, T stop, T step) {
  throw shape_error(compose_text("arange: numbers from ", static_cast<compute_type<T>>(first), " to ",
                                 static_cast<compute_type<T>>(stop), " in steps of ",
                                 static_cast<compute_type<T>>(step), ", expected as many as an index counts"));
}

/// How many numbers first, first + step, ... lie before `stop`.
template <class T>
constexpr index count_steps(T first, T stop, T step) {
  if (step == T(0)) throw shape_error("arange: step 0, expected any other");
  if constexpr (is_floating<T>) {
    const double count =
        std::ceil((static_cast<double>(stop) - static_cast<double>(first)) / static_cast<double>(step));
    if (!(count < 0x1p63)) refuse_steps(first, stop, step);
    return count > 0 ? static_cast<index>(count) : 0;
  } else {
    const bool forward = step > T(0);
    if (forward ? stop <= first : stop >= first) return 0;
    const auto distance = [](T from, T to) {
      return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
    };
    const std::uint64_t reach = forward ? distance(first, stop) : distance(stop, first);
    const std::uint64_t before_last = (reach - 1) / (forward ? distance(T(0), step) : distance(step, T(0)));
    if (before_last >= std::uint64_t{INT64_MAX}) refuse_steps(first, stop, step);
    return static_cast<index>(before_last) + 1;
  }
}

inline linear_scale make_scale(double first, double last, index count, bool includes_last) {
  const index steps = includes_last && count > 0 ? count - 1 : count;
  return {first, last, steps > 0 ? (last - first) / static_cast<double>(steps) : 0.0, steps > 0 ? steps : -1};
}

}  // namespace detail

/// first, first + step, ... : `count` numbers.
/// throws    shape_error when count is negative
template <dtype T>
constexpr auto progression(index count, T first, T step) {
  return generated<affine_generator<T>, rank<1>>{{first, step}, rank<1>(count), 0, {{1}}};
}

/// first, first + step, ... before `stop`, as NumPy: ceil((stop - first) / step) numbers.
/// throws    shape_error when the step is 0, or when an index does not count the numbers
/// example   x = arange<float>(10);
template <dtype T>
constexpr auto arange(std::type_identity_t<T> first, std::type_identity_t<T> stop,
                      std::type_identity_t<T> step = T(1)) {
  return progression<T>(detail::count_steps<T>(first, stop, step), first, step);
}

/// 0, 1, ... : `count` numbers.
/// throws    shape_error when count is negative
template <dtype T>
constexpr auto arange(index count) {
  return progression<T>(count, T(0), T(1));
}

/// `count` numbers at equal distances from `first` to `last`, which is left out on demand; computed in double.
/// throws    shape_error when count is negative
/// example   x = linspace<float>(0, 1, 11);
template <dtype T>
constexpr auto linspace(double first, double last, index count, bool includes_last = true) {
  const auto scale = detail::make_scale(first, last, count, includes_last);
  return generated<linspace_generator<T>, rank<1>>{{scale}, rank<1>(count), 0, {{1}}};
}

/// `base` to the powers linspace(first, last, count); computed in double.
/// throws    shape_error when count is negative
/// example   x = logspace<float>(0, 3, 4);  // 1, 10, 100, 1000
template <dtype T>
constexpr auto logspace(double first, double last, index count, double base = 10, bool includes_last = true) {
  const auto scale = detail::make_scale(first, last, count, includes_last);
  return generated<logspace_generator<T>, rank<1>>{{scale, base}, rank<1>(count), 0, {{1}}};
}

/// The position of each element in row-major order. Extents of any generator may stand in braces, `iota<int>({3, 4})`.
/// example   x = iota<float>(rank<2>(2, 3));
template <dtype T, shape_type Shape>
constexpr auto iota(const Shape& extents) {
  return generated<affine_generator<T>, Shape>{{0, 1}, extents, 0, row_major_strides(extents.to_array())};
}
template <dtype T, int Rank>
constexpr auto iota(const listed_extent (&extents)[Rank]) {
  return iota<T>(listed_shape(extents));
}

/// The position of each element along one axis: a coordinate of a grid.
/// example   x = index_grid<float>(rank<2>(4, 4), axis<1>);
template <dtype T, shape_type Shape, int Axis>
constexpr auto index_grid(const Shape& extents, axis_list<Axis> axes) {
  constexpr auto named = axis_set<Shape::rank>(axis_list<Axis>{});
  (void)axes;
  array<index, Shape::rank> stride{};
  for (int place = 0; place < Shape::rank; ++place) stride[place] = named[place] ? 1 : 0;
  return generated<affine_generator<T>, Shape>{{0, 1}, extents, 0, stride};
}
template <dtype T, int Rank, int Axis>
constexpr auto index_grid(const listed_extent (&extents)[Rank], axis_list<Axis> axes) {
  return index_grid<T>(listed_shape(extents), axes);
}

/// Ones where the column is the row plus `diagonal`, zeros elsewhere.
/// example   x = eye<float>(3);
template <dtype T, shape_type Shape>
  requires(Shape::rank == 2)
constexpr auto eye(const Shape& extents, index diagonal = 0) {
  const index begin = clamped(diagonal, -extents.extent(0), extents.extent(1));  // beyond them it has no element
  return generated<origin_generator<T>, Shape>{{}, extents, begin, {{1, -1}}};
}
template <dtype T>
constexpr auto eye(const listed_extent (&extents)[2], index diagonal = 0) {
  return eye<T>(listed_shape(extents), diagonal);
}
template <dtype T>
constexpr auto eye(index rows, index columns, index diagonal = 0) {
  return eye<T>(rank<2>(rows, columns), diagonal);
}
template <dtype T>
constexpr auto eye(index rows) {
  return eye<T>(rows, rows);
}

/// One number with extents.
template <dtype T, shape_type Shape>
constexpr auto constants(const Shape& extents, T number) {
  return generated<constant_generator<T>, Shape>{{number}, extents, 0, {}};
}
template <dtype T, int Rank>
constexpr auto constants(const listed_extent (&extents)[Rank], T number) {
  return constants<T>(listed_shape(extents), number);
}

/// The elements of a tensor one after another, for statements that are the same for all shapes.
template <dtype T, shape_type Shape, memory_space Space>
view<T, rank<1>, statement_space<Space>> in_order(tensor<T, Shape, Space>& whole) {
  return {whole.data(), rank<1>(whole.size())};
}
template <dtype T, shape_type Shape, memory_space Space>
view<const T, rank<1>, statement_space<Space>> in_order(const tensor<T, Shape, Space>& whole) {
  return {whole.data(), rank<1>(whole.size())};
}

/// A tensor filled with a number: `full` with the given one, `zeros` with 0, `ones` with 1. One kernel.
/// example   x = full<float>({2, 3}, 0.5f), y = zeros<float>({2, 3});
/// throws    dtype_error for a number that integers of type T do not hold
template <dtype T, memory_space Space = host, shape_type Shape>
tensor<T, Shape, Space> full(const Shape& extents, T number) {
  tensor<T, Shape, Space> result(extents);
  const auto elements = in_order(result);
  elements = constants<T>(elements.shape(), number);
  return result;
}
template <dtype T, memory_space Space = host, shape_type Shape, dtype Number>
  requires(!std::is_same_v<T, Number>)
tensor<T, Shape, Space> full(const Shape& extents, Number number) {
  return full<T, Space>(extents, detail::number_as<T>("full", number));
}
template <dtype T, memory_space Space = host, int Rank>
tensor<T, rank<Rank>, Space> full(const listed_extent (&extents)[Rank], T number) {
  return full<T, Space>(listed_shape(extents), number);
}
template <dtype T, memory_space Space = host, int Rank, dtype Number>
  requires(!std::is_same_v<T, Number>)
tensor<T, rank<Rank>, Space> full(const listed_extent (&extents)[Rank], Number number) {
  return full<T, Space>(listed_shape(extents), number);
}
template <dtype T, memory_space Space = host, shape_type Shape>
tensor<T, Shape, Space> zeros(const Shape& extents) {
  return full<T, Space>(extents, T(0));
}
template <dtype T, memory_space Space = host, int Rank>
tensor<T, rank<Rank>, Space> zeros(const listed_extent (&extents)[Rank]) {
  return zeros<T, Space>(listed_shape(extents));
}
template <dtype T, memory_space Space = host, shape_type Shape>
tensor<T, Shape, Space> ones(const Shape& extents) {
  return full<T, Space>(extents, T(1));
}
template <dtype T, memory_space Space = host, int Rank>
tensor<T, rank<Rank>, Space> ones(const listed_extent (&extents)[Rank]) {
  return ones<T, Space>(listed_shape(extents));
}

/// A tensor of the element type, extents and space of `like` (host for generators), filled likewise. One kernel.
/// example   y = full_like(x, 0.5f);
template <tensor_operand Operand, dtype Number>
constexpr auto full_like(const Operand& like, Number number) {
  using node = node_of<const Operand&>;
  using space = std::conditional_t<std::is_same_v<typename node::space, any_space>, host, typename node::space>;
  using element = typename node::element;
  return full<element, space>(like.shape(), detail::number_as<element>("full_like", number));
}
template <tensor_operand Operand>
constexpr auto zeros_like(const Operand& like) {
  return full_like(like, 0);
}
template <tensor_operand Operand>
constexpr auto ones_like(const Operand& like) {
  return full_like(like, 1);
}

}  // namespace tenon
