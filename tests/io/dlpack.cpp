// tests/io/dlpack.cpp: tensors handed over as DLPack structs, and taken from them.
// What is imported was built field by field here, as another library does; tests/python asks NumPy and PyTorch.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/dlpack.hpp>

#include <tenon/device/cuda_memory.hpp>
#include <tenon/expressions.hpp>
#include <vector>

#include "support/text_of.hpp"

namespace tn = tenon;
namespace io = tenon::io;
namespace dlpack = tenon::io::dlpack;
using tenon_test::has;
using tenon_test::text_of;
using versioned = dlpack::managed_tensor_versioned;

namespace {

/// A tensor of another library: six floats as 2 x 3, counted releases.
template <class Managed = versioned>
struct foreign {
  float elements[8] = {9, 9, 0, 1, 2, 3, 4, 5};
  std::int64_t extents[3] = {2, 3, 1}, strides[3] = {3, 1, 1};
  int released = 0;
  Managed managed;

  foreign() {
    managed.context = this;
    managed.deleter = [](Managed* self) { ++static_cast<foreign*>(self->context)->released; };
    managed.tensor = {
        elements,         {dlpack::device_type::cpu, 0}, 2, {dlpack::type_code::floating, 32, 1}, extents, strides,
        2 * sizeof(float)};
  }
  foreign(const foreign&) = delete;
};

template <class T, class Shape, class Space = tn::host, class Exception, class Managed>
std::string refusal(Managed& from) {
  const int before = from.released;
  const std::string text = text_of<Exception>([&] { io::from_dlpack<T, Shape, Space>(&from.managed); });
  CHECK(from.released == before);  // the caller's still
  return text;
}

}  // namespace

TEMPLATE_TEST_CASE("a foreign tensor is a view, and is released once", "[io][dlpack]", versioned,
                   dlpack::managed_tensor) {
  foreign<TestType> from;
  {
    auto x = io::from_dlpack<float, tn::rank<2>>(&from.managed);
    CHECK(x.view().data() == from.elements + 2);  // behind the byte offset
    CHECK(x.view()(1, 2) == 5.0f);
    x.view() = x.view() * 2.0f;
    CHECK(from.elements[7] == 10.0f);
    auto moved = std::move(x);
    CHECK(from.released == 0);
    CHECK(moved.view()(0, 1) == 2.0f);
  }
  CHECK(from.released == 1);
}

TEST_CASE("foreign strides are kept, and missing ones are row-major", "[io][dlpack]") {
  foreign from;
  from.extents[0] = 3, from.extents[1] = 2, from.strides[0] = 1, from.strides[1] = 3;  // transposed
  {
    const auto x = io::from_dlpack<const float, tn::shape<3, tn::dyn>>(&from.managed);
    CHECK(x.view()(2, 1) == 5.0f);
    const tn::tensor<float, tn::rank<1>> sums = tn::sum(x.view(), tn::drop<1>);
    CHECK(sums(0) == 3.0f);
  }
  from.managed.tensor.strides = nullptr;
  CHECK(io::from_dlpack<float, tn::rank<2>>(&from.managed).view()(1, 0) == 2.0f);
  from.managed.tensor.strides = from.strides;
  from.managed.tensor.byte_offset = 7 * sizeof(float);
  from.strides[0] = -2, from.strides[1] = -1;  // backwards
  CHECK(io::from_dlpack<float, tn::rank<2>>(&from.managed).view()(2, 1) == 0.0f);
  CHECK(from.released == 3);
}

TEST_CASE("a scalar, a tensor without elements and one without a deleter are taken", "[io][dlpack]") {
  foreign from;
  from.managed.tensor.rank = 0;
  from.managed.tensor.extents = from.managed.tensor.strides = nullptr;
  CHECK(io::from_dlpack<float, tn::rank<0>>(&from.managed).view()() == 0.0f);
  foreign none;
  none.extents[0] = 0;
  none.managed.tensor.data = nullptr;
  none.managed.deleter = nullptr;
  CHECK(io::from_dlpack<float, tn::rank<2>>(&none.managed).view().size() == 0);
  CHECK(none.released == 0);
}

TEST_CASE("misfits are refused by a sentence that names both", "[io][dlpack]") {
  using matrix = tn::rank<2>;
  foreign from;
  CHECK(refusal<double, matrix, tn::host, tn::dtype_error>(from) ==
        "from_dlpack: element type float32, expected float64");
  CHECK(refusal<tn::half, matrix, tn::host, tn::dtype_error>(from) ==
        "from_dlpack: element type float32, expected float16");
  CHECK(refusal<float, tn::rank<3>, tn::host, tn::shape_error>(from) ==
        "from_dlpack: rank 2, expected 3 (extents [2, 3])");
  using fixed = tn::shape<tn::dyn, 4>;
  CHECK(refusal<float, fixed, tn::host, tn::shape_error>(from) ==
        "from_dlpack: axis 1: extent 3, expected 4 (extents [2, 3])");
  CHECK(refusal<float, matrix, tn::cuda, tn::space_error>(from) ==
        "from_dlpack: the tensor lies on cpu, expected cuda or cuda_managed, which the space cuda takes");
  from.managed.flags = dlpack::read_only;
  CHECK(refusal<float, matrix, tn::host, tn::storage_error>(from) ==
        "from_dlpack: the tensor is read only, expected one that may be written; ask for const float32");
  from.managed.tensor.device = {dlpack::device_type::cuda, 1};
  CHECK(refusal<const float, matrix, tn::host, tn::space_error>(from) ==
        "from_dlpack: the tensor lies on cuda:1, expected cpu, cuda_host or cuda_managed, which the space host takes");
}

TEST_CASE("broken structs are refused", "[io][dlpack]") {
  using matrix = tn::rank<2>;
  const std::string none = "from_dlpack: no tensor is given, only a null pointer";
  dlpack::managed_tensor* const null = nullptr;
  CHECK(tenon_test::text_of<tn::storage_error>([&] { io::from_dlpack<float, matrix>(null); }) == none);
  CHECK(tenon_test::text_of<tn::storage_error>(
            [] { io::from_dlpack<float, matrix>(dlpack::handle<dlpack::managed_tensor_versioned>()); }) == none);
  foreign from;
  from.managed.version = {2, 0};
  CHECK(refusal<float, matrix, tn::host, tn::file_error>(from) ==
        "from_dlpack: version 2.0, expected 1.0 or later of 1");
  from.managed.version = {1, 9};
  from.managed.tensor.byte_offset = 5;
  CHECK(has(refusal<float, matrix, tn::host, tn::storage_error>(from), "bytes behind a multiple of 4"));
  from.managed.tensor.data = nullptr;
  CHECK(refusal<float, matrix, tn::host, tn::storage_error>(from) ==
        "from_dlpack: no memory given, expected that of 6 elements");
  from.extents[0] = -2;
  CHECK(has(refusal<float, matrix, tn::host, tn::shape_error>(from), "axis 0: extent -2, expected at least 0"));
  from.managed.tensor.extents = nullptr;
  CHECK(has(refusal<float, matrix, tn::host, tn::shape_error>(from), "rank 2, expected 2 (extents [])"));
  from.managed.tensor.type.lanes = 4;
  CHECK(refusal<float, matrix, tn::host, tn::dtype_error>(from) ==
        "from_dlpack: element type float32 in vectors of 4, expected float32");
}

TEST_CASE("spaces take the memory that is theirs", "[io][dlpack]") {
  foreign from;
  from.managed.tensor.device = {dlpack::device_type::cuda_managed, 0};
  CHECK(io::from_dlpack<float, tn::rank<2>>(&from.managed).view()(0, 1) == 1.0f);
  CHECK(io::from_dlpack<float, tn::rank<2>, tn::cuda>(&from.managed).view().data() == from.elements + 2);
  from.managed.tensor.device = {dlpack::device_type::cuda_host, 0};
  CHECK(io::from_dlpack<float, tn::rank<2>>(&from.managed).view()(0, 1) == 1.0f);
  CHECK(has(refusal<float, tn::rank<2>, tn::cuda, tn::space_error>(from), "lies on cuda_host:0, expected cuda or"));
}

TEST_CASE("an exported view refers to its elements", "[io][dlpack]") {
  tn::tensor<std::int32_t, tn::rank<2>> x = {{1, 2, 3}, {4, 5, 6}};
  const tn::view<std::int32_t, tn::rank<2>> column(x.data() + 1, tn::rank<2>(2, 1), {{3, 1}});
  auto out = io::to_dlpack(column);
  CHECK(out->version.major == 1);
  CHECK(out->flags == 0);
  CHECK(out->tensor.data == x.data() + 1);
  CHECK(out->tensor.byte_offset == 0);
  CHECK(out->tensor.rank == 2);
  CHECK(out->tensor.extents[1] == 1);
  CHECK(out->tensor.strides[0] == 3);
  CHECK(out->tensor.device.type == dlpack::device_type::cpu);
  CHECK(dlpack::name_of(out->tensor.type) == "int32");
  const auto back = io::from_dlpack<std::int32_t, tn::rank<2>>(std::move(out));
  CHECK(out == nullptr);
  CHECK(back.view()(1, 0) == 5);

  const auto& constant = x;
  CHECK(io::to_dlpack(constant.view())->flags == dlpack::read_only);
  const auto old = io::to_dlpack<dlpack::managed_tensor>(x.view());
  CHECK(old->tensor.data == x.data());
}

TEST_CASE("what is exported lives as long as the struct", "[io][dlpack]") {
  auto shared = std::make_shared<tn::tensor<float, tn::rank<1>>>(tn::tensor<float, tn::rank<1>>{1, 2, 3});
  const std::weak_ptr<const void> watched = shared;
  const float* const first = shared->data();
  auto out = io::to_dlpack(shared);
  auto reading = io::to_dlpack(std::shared_ptr<const tn::tensor<float, tn::rank<1>>>(shared));
  CHECK(reading->flags == dlpack::read_only);
  shared.reset();
  reading.reset();
  CHECK_FALSE(watched.expired());
  CHECK(out->tensor.data == first);
  {
    const auto back = io::from_dlpack<float, tn::shape<3>>(std::move(out));
    CHECK(back.view()(2) == 3.0f);
  }
  CHECK(watched.expired());

  tn::tensor<float, tn::rank<2>> given = {{1, 2}, {3, 4}};
  const float* const memory = given.data();
  const auto gone = io::to_dlpack(std::move(given));
  CHECK(gone->tensor.data == memory);
  const auto none = io::to_dlpack(tn::tensor<float, tn::rank<2>>({0, 2}));
  CHECK(none->tensor.data == nullptr);
  const auto keeper = std::make_shared<int>(1);
  const auto kept = io::to_dlpack(tn::view<const float, tn::rank<1>>(memory, tn::rank<1>(4)), keeper);
  CHECK(keeper.use_count() == 2);
}

TEST_CASE("devices are named", "[io][dlpack]") {
  float memory[2] = {};
  const tn::view<float, tn::rank<1>, tn::cuda> there(memory, tn::rank<1>(2));
  const auto out = io::to_dlpack(there, nullptr, 1);
  CHECK(dlpack::name_of(out->tensor.device) == "cuda:1");
  const auto locked = io::to_dlpack(tn::tensor<float, tn::rank<1>, tn::pinned>({2}));
  CHECK(dlpack::name_of(locked->tensor.device) == "cpu");  // of a program without CUDA, it is ordinary memory
}
