// tests/io/dlpack_types.cpp: the structs lie in memory as DLPack's pages have them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/dlpack_types.hpp>

#include <cstddef>
#include <tenon/expr/operations/complex.hpp>

#include "support/catch.hpp"

namespace dlpack = tenon::io::dlpack;

// Offsets of the 64-bit ABI, counted by hand from the C declarations of DLPack 1.0.
static_assert(sizeof(void*) != 8 || sizeof(dlpack::strided_tensor) == 48);
static_assert(sizeof(void*) != 8 || offsetof(dlpack::strided_tensor, device) == 8);
static_assert(sizeof(void*) != 8 || offsetof(dlpack::strided_tensor, rank) == 16);
static_assert(sizeof(void*) != 8 || offsetof(dlpack::strided_tensor, type) == 20);
static_assert(sizeof(void*) != 8 || offsetof(dlpack::strided_tensor, extents) == 24);
static_assert(sizeof(void*) != 8 || offsetof(dlpack::strided_tensor, strides) == 32);
static_assert(sizeof(void*) != 8 || offsetof(dlpack::strided_tensor, byte_offset) == 40);
static_assert(sizeof(void*) != 8 || offsetof(dlpack::managed_tensor, context) == 48);
static_assert(sizeof(void*) != 8 || offsetof(dlpack::managed_tensor, deleter) == 56);
static_assert(sizeof(void*) != 8 || offsetof(dlpack::managed_tensor_versioned, context) == 8);
static_assert(sizeof(void*) != 8 || offsetof(dlpack::managed_tensor_versioned, deleter) == 16);
static_assert(sizeof(void*) != 8 || offsetof(dlpack::managed_tensor_versioned, flags) == 24);
static_assert(sizeof(void*) != 8 || offsetof(dlpack::managed_tensor_versioned, tensor) == 32);
static_assert(sizeof(dlpack::element_type) == 4 && sizeof(dlpack::device) == 8);

namespace {

template <class T>
dlpack::element_type of() {
  return dlpack::element_type_of<T>();
}

dlpack::element_type numbered(int code, int bits, int lanes = 1) {
  return {static_cast<dlpack::type_code>(code), static_cast<std::uint8_t>(bits), static_cast<std::uint16_t>(lanes)};
}

}  // namespace

TEST_CASE("element types have DLPack's numbers", "[io][dlpack]") {
  CHECK(of<std::int8_t>() == numbered(0, 8));
  CHECK(of<std::int64_t>() == numbered(0, 64));
  CHECK(of<std::uint16_t>() == numbered(1, 16));
  CHECK(of<tenon::half>() == numbered(2, 16));
  CHECK(of<float>() == numbered(2, 32));
  CHECK(of<double>() == numbered(2, 64));
  CHECK(of<tenon::bfloat16>() == numbered(4, 16));
  CHECK(of<std::complex<double>>() == numbered(5, 128));
  CHECK(of<bool>() == numbered(6, 8));
  CHECK(of<tenon::float8_e4m3>() == numbered(10, 8));
  CHECK(of<tenon::float8_e5m2>() == numbered(12, 8));
}

TEST_CASE("element types and devices have names", "[io][dlpack]") {
  CHECK(dlpack::name_of(of<std::int32_t>()) == "int32");
  CHECK(dlpack::name_of(of<std::uint8_t>()) == "uint8");
  CHECK(dlpack::name_of(of<tenon::half>()) == "float16");
  CHECK(dlpack::name_of(of<tenon::bfloat16>()) == "bfloat16");
  CHECK(dlpack::name_of(of<std::complex<float>>()) == "complex64");
  CHECK(dlpack::name_of(of<bool>()) == "bool");
  CHECK(dlpack::name_of(of<tenon::float8_e4m3>()) == "float8_e4m3fn");
  CHECK(dlpack::name_of(of<tenon::float8_e5m2>()) == "float8_e5m2");
  CHECK(dlpack::name_of(numbered(2, 32, 4)) == "float32 in vectors of 4");
  CHECK(dlpack::name_of(numbered(6, 1)) == "bool of 1 bits");
  CHECK(dlpack::name_of(numbered(17, 4)) == "number 17 of 4 bits");
  CHECK(dlpack::name_of(dlpack::device{}) == "cpu");
  CHECK(dlpack::name_of(dlpack::device{dlpack::device_type::cuda, 1}) == "cuda:1");
  CHECK(dlpack::name_of(dlpack::device{dlpack::device_type::cuda_host, 0}) == "cuda_host:0");
  CHECK(dlpack::name_of(dlpack::device{dlpack::device_type::cuda_managed, 0}) == "cuda_managed:0");
  CHECK(dlpack::name_of(dlpack::device{static_cast<dlpack::device_type>(10), 0}) == "number 10:0");
}
