// tenon/core/elements.hpp: where a tensor's elements lie: in a block of a memory space, or in the tensor itself.
// Few elements of static extents are part of their tensor, which then takes no memory from anywhere.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/extents.hpp>
#include <tenon/core/storage.hpp>

namespace tenon {

/// The space of tensors that hold their elements themselves: `tensor<float, shape<4, 4>, in_place>` is 64 bytes, in a
/// variable, a struct or a register. Its extents are static, however many elements they are. It is trivially copyable,
/// moving copies it, views of it live as long as it does, and its statements may be evaluated by the compiler. In
/// every statement it is a tensor of the host.
/// example   tensor<float, shape<3, 3>, in_place> rotation;
struct in_place : host {
  static constexpr const char* name = "in_place";
  using statement_space = host;
};

/// Tensors of static extents hold up to this many elements in place, unless they name another space.
inline constexpr index most_elements_in_place = 64;

namespace detail {

/// Whether types know that a shape has elements, and few of them.
template <class Shape>
constexpr bool is_small_shape() {
  if constexpr (Shape::dynamic_rank != 0) return false;
  else return Shape{}.count() > 0 && Shape{}.count() <= most_elements_in_place;
}

}  // namespace detail

/// Where a tensor lies that names no space: few elements of static extents in place, all others in memory of the host.
template <shape_type Shape>
using default_space = std::conditional_t<detail::is_small_shape<Shape>(), in_place, host>;

namespace detail {

/// The elements of a tensor: a block in a memory space and its extents. Moved from, it is empty.
template <class T, class Shape, class Space>
class tensor_elements {
 public:
  tensor_elements() : tensor_elements(Shape{}) {}
  explicit tensor_elements(const Shape& shape) : shape_(shape), storage_(shape.count()) {}
  tensor_elements(const tensor_elements&) = default;
  tensor_elements(tensor_elements&& other) noexcept
      : shape_(std::exchange(other.shape_, Shape{})), storage_(std::move(other.storage_)) {}
  /// If there are as many, they are copied in place, and views of them stay valid. Without memory, nothing changes.
  tensor_elements& operator=(const tensor_elements& other) {
    storage_ = other.storage_;
    shape_ = other.shape_;
    return *this;
  }
  tensor_elements& operator=(tensor_elements&& other) noexcept {
    tensor_elements taken(std::move(other));
    std::swap(shape_, taken.shape_);
    storage_ = std::move(taken.storage_);
    return *this;
  }

  const Shape& shape() const { return shape_; }
  T* data() { return await_copies(), storage_.data(); }
  const T* data() const { return await_copies(), storage_.data(); }
  /// Bytes of the memory: 0 after a move or a reset, whatever the extents are.
  std::size_t bytes() const { return storage_.bytes(); }
  /// Whether there is no memory yet, and extents may be taken.
  bool is_empty() const { return Shape::dynamic_rank != 0 && storage_.data() == nullptr && shape_.count() == 0; }
  void take_extents(const Shape& shape) {
    if (storage_.count() != shape.count()) storage_ = storage<T, Space>(shape.count());
    shape_ = shape;
  }
  void reset() {
    storage_ = storage<T, Space>();
    shape_ = Shape{};
  }

 private:
  /// Elements of page-locked memory are there once the copies under way are done.
  void await_copies() const {
    if constexpr (requires { Space::await(storage_.data()); }) Space::await(storage_.data());
  }

  Shape shape_{};
  storage<T, Space> storage_;
};

/// Elements that are part of their tensor. They are copied, and never absent.
template <class T, class Shape>
class tensor_elements<T, Shape, in_place> {
  static_assert(Shape::dynamic_rank == 0 || must_hold<Shape>,
                "tenon: a tensor in place has static extents, tensor<float, shape<3, 3>, in_place>");
  static constexpr index count = Shape::dynamic_rank == 0 ? Shape{}.count() : 0;
  /// The greatest power of 2 that divides the bytes, up to a line of the cache: arrays of tensors then have no gaps.
  static constexpr std::size_t alignment = [] {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T), power = bytes & (~bytes + 1);
    return power > 64 ? std::size_t{64} : power > alignof(T) ? power : alignof(T);
  }();

 public:
#if TENON_FILL == 0
  constexpr tensor_elements() {}
  constexpr explicit tensor_elements(const Shape&) {}
#else
  constexpr tensor_elements() { fill(); }
  constexpr explicit tensor_elements(const Shape&) { fill(); }
#endif

  constexpr const Shape& shape() const { return extents; }
  TENON_INLINE constexpr T* data() { return count == 0 ? nullptr : values_; }
  TENON_INLINE constexpr const T* data() const { return count == 0 ? nullptr : values_; }
  static constexpr std::size_t bytes() { return static_cast<std::size_t>(count) * sizeof(T); }
  static constexpr bool is_empty() { return false; }
  constexpr void take_extents(const Shape&) {}

 private:
#if TENON_FILL != 0
  constexpr void fill() {
    if (!std::is_constant_evaluated()) fill_unwritten<T>(values_, sizeof(values_));
  }
#endif
  static constexpr Shape extents{};
  alignas(alignment) T values_[count == 0 ? 1 : count];
};

}  // namespace detail
}  // namespace tenon
