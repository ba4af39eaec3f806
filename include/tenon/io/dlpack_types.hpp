// tenon/io/dlpack_types.hpp: the structs of DLPack 1, in which libraries hand tensors to each other.
// Their layout is a published binary interface, so they are written down here and need no header of DLPack's.
// Floor 2: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tenon/base/dtype.hpp>
#include <tenon/base/error.hpp>

/// The structs of DLPack 1, by other names. A pointer to one of DLPack's own may be cast to the one of these.
/// source    https://dmlc.github.io/dlpack/latest/c_api.html
namespace tenon::io::dlpack {

/// The version that a producer follows. Another major version has another layout; a greater minor one has more codes.
struct version_number {
  std::uint32_t major = 1, minor = 0;
};

/// Where memory lies. The numbers that are not named belong to devices that Tenon has no space for.
enum class device_type : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

struct device {
  device_type type = device_type::cpu;
  std::int32_t id = 0;  ///< which one of several; 0 for memory of the host
};

enum class type_code : std::uint8_t {
  signed_integer = 0,
  unsigned_integer = 1,
  floating = 2,
  bfloat = 4,
  complex = 5,
  boolean = 6,
  float8_e4m3fn = 10,
  float8_e5m2 = 12
};

struct element_type {
  type_code code = type_code::floating;
  std::uint8_t bits = 32;
  std::uint16_t lanes = 1;  ///< more than 1 for elements that are vectors
  bool operator==(const element_type&) const = default;
};

struct strided_tensor {
  void* data = nullptr;
  dlpack::device device;
  std::int32_t rank = 0;
  element_type type;
  std::int64_t* extents = nullptr;
  std::int64_t* strides = nullptr;  ///< in elements; null in old producers: row-major
  std::uint64_t byte_offset = 0;    ///< from `data` to the first element
};

/// The struct before DLPack 1. It cannot say that its elements are read only.
struct managed_tensor {
  strided_tensor tensor;
  void* context = nullptr;
  void (*deleter)(managed_tensor* self) = nullptr;  ///< null where nothing is to be released
};

/// The struct of DLPack 1.
struct managed_tensor_versioned {
  version_number version;
  void* context = nullptr;
  void (*deleter)(managed_tensor_versioned* self) = nullptr;
  std::uint64_t flags = 0;
  strided_tensor tensor;
};

inline constexpr std::uint64_t read_only = 1, is_copied = 2;  ///< bits of `flags`
inline constexpr std::uint32_t major_version = 1;

/// DLPack's element type for `T`.
template <dtype T>
constexpr element_type element_type_of() {
  constexpr auto bits = static_cast<std::uint8_t>(8 * sizeof(T));
  if constexpr (std::is_same_v<T, bool>) return {type_code::boolean, bits, 1};
  else if constexpr (std::is_same_v<T, bfloat16>) return {type_code::bfloat, bits, 1};
  else if constexpr (std::is_same_v<T, float8_e4m3>) return {type_code::float8_e4m3fn, bits, 1};
  else if constexpr (std::is_same_v<T, float8_e5m2>) return {type_code::float8_e5m2, bits, 1};
  else if constexpr (is_complex<T>) return {type_code::complex, bits, 1};
  else if constexpr (is_floating<T>) return {type_code::floating, bits, 1};
  else return {std::is_unsigned_v<T> ? type_code::unsigned_integer : type_code::signed_integer, bits, 1};
}

/// The name that NumPy and PyTorch give to elements of a type, or its numbers where they have none.
inline std::string name_of(const element_type& type) {
  const auto named = [&]() -> std::string {
    const std::string bits = std::to_string(type.bits);
    switch (type.code) {
      case type_code::signed_integer:
        return "int" + bits;
      case type_code::unsigned_integer:
        return "uint" + bits;
      case type_code::floating:
        return "float" + bits;
      case type_code::bfloat:
        return "bfloat" + bits;
      case type_code::complex:
        return "complex" + bits;
      case type_code::boolean:
        return type.bits == 8 ? "bool" : "bool of " + bits + " bits";
      case type_code::float8_e4m3fn:
        return "float8_e4m3fn";
      case type_code::float8_e5m2:
        return "float8_e5m2";
    }
    return "number " + std::to_string(static_cast<int>(type.code)) + " of " + bits + " bits";
  };
  return type.lanes == 1 ? named() : named() + " in vectors of " + std::to_string(type.lanes);
}

inline std::string name_of(const device& place) {
  const auto named = [&]() -> std::string {
    switch (place.type) {
      case device_type::cpu:
        return "cpu";
      case device_type::cuda:
        return "cuda";
      case device_type::cuda_host:
        return "cuda_host";
      case device_type::cuda_managed:
        return "cuda_managed";
    }
    return "number " + std::to_string(static_cast<int>(place.type));
  };
  return place.type == device_type::cpu ? named() : named() + ":" + std::to_string(place.id);
}

}  // namespace tenon::io::dlpack
