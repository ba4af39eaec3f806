// tests/cuda_programs/neighbours.cu: memory of a device shared with Thrust, with mdspans and by DLPack.
// Emulated memory belongs to no library of CUDA's, so elsewhere only the view of the host's memory is looked at.
// SPDX-License-Identifier: Apache-2.0
#include "cuda_programs/space.hpp"

#include <tenon/io/dlpack.hpp>
#include <tenon/io/mdspan.hpp>
#if defined(__CUDACC__)
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
#include <cuda/std/mdspan>
#endif

namespace tn = tenon;
namespace io = tenon::io;

#if defined(__CUDACC__)
void check_thrust(expectations& expect) {
  const tn::tensor<float, tn::rank<1>> given = {3, 1, 2};
  auto x = given.to<space>();
  thrust::sort(thrust::device, x.data(), x.data() + x.size());
  const auto sorted = x.to<tn::host>();
  expect(sorted(0) == 1 && sorted(1) == 2 && sorted(2) == 3, "Thrust sorts a tensor's elements");
}

void check_mdspan(expectations& expect) {
  using rows = cuda::std::mdspan<float, cuda::std::extents<int, cuda::std::dynamic_extent, 3>>;
  const tn::tensor<float, tn::rank<2>> given = {{0, 1, 2}, {3, 4, 5}};
  auto x = given.to<space>();
  const auto span = io::to_mdspan<rows>(tn::view<float, tn::shape<tn::dyn, 3>, space>(x.view()));
  expect(span.data_handle() == x.data(), "an mdspan of a device refers to the tensor");
  tn::tensor<float, tn::rank<2>, space> twice;
  twice = io::from_mdspan<space>(span) * 2.0f;
  expect(twice.to<tn::host>()(1, 2) == 10, "a statement reads an mdspan of a device");
}

void check_dlpack(expectations& expect) {
  const tn::tensor<float, tn::rank<2>> given = {{0, 1, 2}, {3, 4, 5}};
  auto x = given.to<space>();
  auto out = io::to_dlpack(x.view());
  expect(out->tensor.device.type == io::dlpack::device_type::cuda, "memory of a device is exported as cuda");
  expect(out->tensor.device.id == tn::device_of(x), "with the number of its device");
  const auto back = io::from_dlpack<float, tn::rank<2>, space>(std::move(out));
  expect(back.view().data() == x.data(), "and comes back as the same memory");
  const auto locked = io::to_dlpack(tn::tensor<float, tn::rank<1>, tn::pinned>({4}));
  expect(locked->tensor.device.type == io::dlpack::device_type::cuda_host, "page-locked memory says that it is");
}
#else
void check_thrust(expectations&) {}
void check_mdspan(expectations&) {}
void check_dlpack(expectations& expect) {
  tn::tensor<float, tn::rank<1>> x = {1, 2};
  expect(io::from_dlpack<float, tn::rank<1>>(io::to_dlpack(x.view())).view().data() == x.data(), "the same memory");
}
#endif

int main() {
  expectations expect;
  check_thrust(expect);
  check_mdspan(expect);
  check_dlpack(expect);
  return expect.failures;
}
