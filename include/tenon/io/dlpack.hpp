// tenon/io/dlpack.hpp: tensors given to other libraries, and taken from them, without a copy.
// What is exported keeps its memory alive until the consumer releases it; what is imported is a view with an owner.
// Floor 2: may include base, core, device, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <tenon/core/tensor.hpp>
#include <tenon/device/device_guard.hpp>
#include <tenon/device/pinned.hpp>
#include <tenon/io/dlpack_types.hpp>

namespace tenon::io {

namespace dlpack {

/// The device type that memory of a space is exported as, and those that the space imports.
template <class Space>
struct device_types_of {
  static_assert(must_hold<Space>, "tenon: DLPack has no device type for this space; copy it, x.to<tenon::host>()");
};
template <>
struct device_types_of<host> {
  static device_type exported() { return device_type::cpu; }
  static constexpr const char* taken = "cpu, cuda_host or cuda_managed";
  static constexpr bool takes(device_type type) {
    return type == device_type::cpu || type == device_type::cuda_host || type == device_type::cuda_managed;
  }
};
template <>
struct device_types_of<pinned> {
  static device_type exported() {
    return tenon::detail::page_locks.lock != nullptr ? device_type::cuda_host : device_type::cpu;
  }
};
template <>
struct device_types_of<cuda> {
  static device_type exported() { return device_type::cuda; }
  static constexpr const char* taken = "cuda or cuda_managed";
  static constexpr bool takes(device_type type) {
    return type == device_type::cuda || type == device_type::cuda_managed;
  }
};

/// Calls the deleter of a struct, once.
struct release {
  template <class Managed>
  void operator()(Managed* managed) const {
    if (managed->deleter != nullptr) managed->deleter(managed);
  }
};

/// A struct that releases its tensor, unless a consumer has taken it: `handle.release()` is the plain pointer.
template <class Managed = managed_tensor_versioned>
using handle = std::unique_ptr<Managed, release>;

}  // namespace dlpack

namespace detail {

template <class Managed>
inline constexpr bool has_version = requires(Managed managed) { managed.version; };

/// The struct of an exported tensor, and all that it points to.
template <class Managed, int Rank>
struct exported_tensor {
  Managed managed;
  array<std::int64_t, Rank> extents, strides;
  std::shared_ptr<const void> owner;

  static void destroy(Managed* self) { delete static_cast<exported_tensor*>(self->context); }
};

template <class Managed, class T, class Shape, class Space>
dlpack::handle<Managed> exported(const view<T, Shape, Space>& elements, dlpack::device place,
                                 std::shared_ptr<const void> owner) {
  static_assert(has_version<Managed> || !std::is_const_v<T> || must_hold<Managed, T>,
                "tenon: before DLPack 1 nothing says that elements are read only; export what may be written");
  using element = std::remove_const_t<T>;
  using record = exported_tensor<Managed, Shape::rank>;
  auto made = std::make_unique<record>();
  made->owner = std::move(owner);
  for (int axis = 0; axis < Shape::rank; ++axis) {
    made->extents[axis] = elements.extent(axis);
    made->strides[axis] = elements.strides()[axis];
  }
  Managed& managed = made->managed;
  managed.tensor = {.data = elements.size() == 0 ? nullptr : const_cast<element*>(elements.data()),
                    .device = place,
                    .rank = Shape::rank,
                    .type = dlpack::element_type_of<element>(),
                    .extents = made->extents.begin(),
                    .strides = made->strides.begin()};
  if constexpr (has_version<Managed>) managed.flags = std::is_const_v<T> ? dlpack::read_only : 0;
  managed.deleter = record::destroy;
  managed.context = made.get();
  return dlpack::handle<Managed>(&made.release()->managed);
}

template <class T, class Shape, class Space>
statement_space<Space> space_of(const tensor<T, Shape, Space>&);

/// The device of exported elements: the one that the space knows, or number `given`.
template <class Space, class View>
dlpack::device place_of([[maybe_unused]] const View& elements, std::optional<int> given) {
  int id = given.value_or(0);
  if constexpr (has_devices<Space>) {
    if (!given) id = space_devices<Space>::of(elements.data());
  }
  return {dlpack::device_types_of<Space>::exported(), id};
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_version(const dlpack::version_number& found) {
  throw file_error(compose_text("from_dlpack: version ", found.major, ".", found.minor, ", expected ",
                                dlpack::major_version, ".0 or later of ", dlpack::major_version));
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_read_only(const char* element) {
  throw storage_error(
      compose_text("from_dlpack: the tensor is read only, expected one that may be written; ask for const ", element));
}

/// Refuses a tensor of other elements than `expected`, of another rank, or in memory that the space does not import.
inline void check_kind(const dlpack::strided_tensor& tensor, const dlpack::element_type& expected, int rank) {
  if (!(tensor.type == expected)) {
    throw dtype_error(compose_text("from_dlpack: element type ", dlpack::name_of(tensor.type), ", expected ",
                                   dlpack::name_of(expected)));
  }
  if (tensor.rank != rank || (rank > 0 && tensor.extents == nullptr)) {
    throw shape_error(compose_text("from_dlpack: rank ", tensor.rank, ", expected ", rank, " (extents ",
                                   extents_view{tensor.extents, tensor.extents == nullptr ? 0 : tensor.rank}, ")"));
  }
}

template <class Space>
void check_place(const dlpack::device& place) {
  using types = dlpack::device_types_of<Space>;
  if (!types::takes(place.type)) {
    throw space_error(compose_text("from_dlpack: the tensor lies on ", dlpack::name_of(place), ", expected ",
                                   types::taken, ", which the space ", Space::name, " takes"));
  }
}

inline void check_address(const void* first, std::size_t alignment, index count) {
  if (count == 0) return;
  if (first == nullptr) {
    throw storage_error(compose_text("from_dlpack: no memory given, expected that of ", count, " elements"));
  }
  if (reinterpret_cast<std::uintptr_t>(first) % alignment != 0) {
    throw storage_error(compose_text("from_dlpack: the first element lies ",
                                     reinterpret_cast<std::uintptr_t>(first) % alignment,
                                     " bytes behind a multiple of ", alignment, ", expected on one; copy the tensor"));
  }
}

/// The view that a struct describes, once everything about it has been checked.
template <class T, class Shape, class Space>
view<T, Shape, Space> checked_view(const dlpack::strided_tensor& tensor) {
  check_kind(tensor, dlpack::element_type_of<std::remove_const_t<T>>(), Shape::rank);
  check_place<Space>(tensor.device);
  array<index, Shape::rank> extents{}, strides{};
  for (int axis = 0; axis < Shape::rank; ++axis) {
    extents[axis] = tensor.extents[axis];
    if (Shape::static_extent(axis) != dyn && Shape::static_extent(axis) != extents[axis]) {
      throw shape_error(compose_text("from_dlpack: axis ", axis, ": extent ", extents[axis], ", expected ",
                                     Shape::static_extent(axis), " (extents ",
                                     extents_view{tensor.extents, Shape::rank}, ")"));
    }
  }
  const Shape shape(extents);
  strides = row_major_strides(extents);
  for (int axis = 0; axis < Shape::rank && tensor.strides != nullptr; ++axis) strides[axis] = tensor.strides[axis];
  auto* const bytes = static_cast<std::byte*>(tensor.data);
  auto* const first = bytes == nullptr ? nullptr : bytes + tensor.byte_offset;
  check_address(first, alignof(T), shape.count());
  return {reinterpret_cast<T*>(first), shape, strides};
}

}  // namespace detail

/// Exports the elements of a view. They must live until the consumer is done with them, or `owner` keeps them alive.
/// Views of const elements are exported as read only. Nothing is copied, and strides are kept. `device` is the number
/// of the CUDA device; files that nvcc compiles know it.
/// types     a second template argument `dlpack::managed_tensor` exports as before DLPack 1
/// throws    std::bad_alloc
/// example   PyCapsule_New(io::to_dlpack(x.view()).release(), "dltensor_versioned", destroy);
template <class Managed = dlpack::managed_tensor_versioned, class T, class Shape, class Space>
dlpack::handle<Managed> to_dlpack(const view<T, Shape, Space>& elements, std::shared_ptr<const void> owner = nullptr,
                                  std::optional<int> device = {}) {
  return detail::exported<Managed>(elements, detail::place_of<Space>(elements, device), std::move(owner));
}

/// Exports a shared tensor; the consumer shares it, too. `std::shared_ptr<const tensor<...>>` is exported as read only.
template <class Managed = dlpack::managed_tensor_versioned, class Tensor>
  requires requires(Tensor& whole) { whole.view(); }
dlpack::handle<Managed> to_dlpack(std::shared_ptr<Tensor> whole, std::optional<int> device = {}) {
  using space = decltype(detail::space_of(*whole));
  const auto elements = whole->view();
  return detail::exported<Managed>(elements, detail::place_of<space>(elements, device), std::move(whole));
}

/// Exports a tensor and gives it away: its memory is freed when the consumer is done.
template <class Managed = dlpack::managed_tensor_versioned, class T, class Shape, class Space>
dlpack::handle<Managed> to_dlpack(tensor<T, Shape, Space>&& whole, std::optional<int> device = {}) {
  return to_dlpack<Managed>(std::make_shared<tensor<T, Shape, Space>>(std::move(whole)), device);
}

/// Does not compile: a tensor that the caller keeps is exported as a view.
template <class Managed = dlpack::managed_tensor_versioned, class T, class Shape, class Space>
void to_dlpack(const tensor<T, Shape, Space>&) {
  static_assert(
      must_hold<T, Shape, Space>,
      "tenon: a tensor that stays yours is exported as a view, to_dlpack(x.view()); std::move(x) gives it away");
}

/// What was imported: a view of another library's elements, which are released when this goes.
template <class T, shape_type Shape, memory_space Space = host>
class dlpack_tensor {
 public:
  template <class Managed>
  dlpack_tensor(const tenon::view<T, Shape, Space>& elements, Managed* managed)
      : elements_(elements), owned_(managed, [](void* owned) { dlpack::release{}(static_cast<Managed*>(owned)); }) {}
  const tenon::view<T, Shape, Space>& view() const TENON_LIFETIMEBOUND { return elements_; }

 private:
  tenon::view<T, Shape, Space> elements_;
  std::unique_ptr<void, void (*)(void*)> owned_;
};

/// Takes a tensor from another library. `T` is its element type: `const float` reads only, `float` may write. `Shape`
/// holds its rank and the static extents that it must have; strides are taken as they are.
/// The result owns the struct: it calls the deleter once, at the end of its life. When this throws, the struct still
/// belongs to the caller.
/// throws    dtype_error, shape_error, space_error, storage_error (read only, without memory, or not aligned),
///           file_error (another major version); each names what is and what was expected
/// cost      no element is read; work of a device that is still under way has to be waited for by its producer
/// example   const auto x = io::from_dlpack<const float, rank<2>>(pointer_of_capsule); y = sum(x.view(), axis<0>);
template <class T, shape_type Shape, memory_space Space = host, class Managed>
  requires std::is_same_v<Managed, dlpack::managed_tensor> || std::is_same_v<Managed, dlpack::managed_tensor_versioned>
dlpack_tensor<T, Shape, Space> from_dlpack(Managed* managed) {
  if (managed == nullptr) throw storage_error("from_dlpack: no tensor is given, only a null pointer");
  if constexpr (detail::has_version<Managed>) {
    if (managed->version.major != dlpack::major_version) detail::refuse_version(managed->version);
    if (!std::is_const_v<T> && (managed->flags & dlpack::read_only) != 0) {
      detail::refuse_read_only(dtype_name<std::remove_const_t<T>>());
    }
  }
  return {detail::checked_view<T, Shape, Space>(managed->tensor), managed};
}

/// The same for a struct in a handle, which is empty afterwards.
template <class T, shape_type Shape, memory_space Space = host, class Managed>
dlpack_tensor<T, Shape, Space> from_dlpack(std::unique_ptr<Managed, dlpack::release>&& managed) {
  auto taken = from_dlpack<T, Shape, Space>(managed.get());
  managed.release();
  return taken;
}

}  // namespace tenon::io
