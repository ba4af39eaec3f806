// tests/device/cuda.cpp: the device object of CUDA kernels.
// The kernels of the other tests run on it where a GPU answers; here are facts that need none.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/cuda.hpp>

#include "support/catch.hpp"

#if defined(__CUDACC__)
static_assert(tenon::kernel_device<tenon::cuda_device>);
static_assert(std::is_trivially_copyable_v<tenon::cuda_shared_array<float>>);

namespace {
template <class Role, int K, class T>
constexpr int words = tenon::cuda_fragment < Role,
              K == 4 ? 8 : 16, K == 4 ? 8 : 16, K, T > ::word_count;
}  // namespace

// The registers that the instruction set gives each fragment.
static_assert(words<tenon::matrix_a, 16, tenon::half> == 8);
static_assert(words<tenon::matrix_b, 16, tenon::bfloat16> == 4);
static_assert(words<tenon::matrix_a, 16, std::int8_t> == 2);
static_assert(words<tenon::matrix_a, 8, tenon::tf32> == 4);
static_assert(words<tenon::matrix_b, 4, double> == 1);
static_assert(words<tenon::accumulator, 16, float> == 8);
static_assert(words<tenon::accumulator, 16, std::int32_t> == 8);
static_assert(words<tenon::accumulator, 4, double> == 2);
#endif

TEST_CASE("the space cuda can be named in every file", "[device]") {
  CHECK(std::string(tenon::cuda::name) == "cuda");
  CHECK_FALSE(tenon::cuda::host_accessible);
}
