// tests/nn/recurrent_select.cpp: which kernels run the steps of a recurrence.
// One where its blocks have room, on Tensor Cores for elements of 16 bits; two for each step elsewhere.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/recurrent_select.hpp>

#include <tenon/device/launch_count.hpp>

#include "nn/recurrent_passes.hpp"
#include "support/catch.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::host;
using tenon::rank;
using tenon_test::error_in_space;

TEMPLATE_LIST_TEST_CASE("layers of 16-bit elements in one kernel", "[recurrent_select]", tenon_test::kernel_spaces) {
  CHECK(error_in_space<TestType>(nn::lstm<dyn, dyn, host, tenon::half>(3, 24), 0x1p-8) == "");
  CHECK(error_in_space<TestType>(nn::lstm<dyn, dyn, host, tenon::half>(3, 11), 0x1p-8) == "");
  CHECK(error_in_space<TestType>(nn::gru<dyn, dyn, host, tenon::bfloat16>(3, 16, {.layers = 2, .bidirectional = true}),
                                 0x1p-5) == "");
}

#if !defined(__CUDACC__)
namespace {

/// Launches of a first pass over nine steps; a second one would capture them.
template <class T>
auto launches_of_pass(tenon::index hidden, int room, tenon::index sequences = 2) {
  const tenon::emulation_scope scope({.resident_blocks = room});
  nn::lstm<dyn, dyn, tenon::emulated, T> layer(3, hidden);
  layer.initialise(0);
  const auto x = tenon::ones<T, tenon::emulated>(rank<3>(9, sequences, 3));
  const tenon::launch_counter counter;
  layer.forward(x);
  return counter.count();
}

}  // namespace

TEST_CASE("without room for all blocks each step is kernels of its own", "[recurrent_select]") {
  CHECK(launches_of_pass<float>(8, 1) == launches_of_pass<float>(1, 6));
  CHECK(launches_of_pass<float>(9, 1) == launches_of_pass<float>(8, 1) - 1 + 2 * 9);
  const tenon::emulation_scope without_room({.resident_blocks = 0});
  CHECK(error_in_space<tenon::emulated>(nn::lstm<>(3, 5), 2e-5) == "");
  CHECK(error_in_space<tenon::emulated>(nn::gru<>(3, 5), 2e-5) == "");
}
TEST_CASE("16-bit elements have one kernel where blocks of eight units have room", "[recurrent_select]") {
  const auto in_one = launches_of_pass<tenon::half>(8, 1);
  CHECK(launches_of_pass<tenon::half>(16, 2) == in_one);
  CHECK(launches_of_pass<tenon::half>(16, 2, 40) == in_one);
  CHECK(launches_of_pass<tenon::half>(16, 1) == in_one - 1 + 2 * 9);
  CHECK(launches_of_pass<tenon::half>(12, 6) == in_one - 1 + 2 * 9);
  CHECK(launches_of_pass<tenon::half>(1032, 200) == in_one - 1 + 2 * 9);
}
#endif
