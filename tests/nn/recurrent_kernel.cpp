// tests/nn/recurrent_kernel.cpp: recurrences whose steps are one kernel.
// Against the host's steps, with one to eight hidden units for a block.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/recurrent_kernel.hpp>

#include "nn/recurrent_passes.hpp"
#include "support/catch.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon_test::error_in_space;

namespace {

template <template <tenon::index, tenon::index, tenon::memory_space, tenon::dtype> class Layer, class Space>
void compare_kernels() {
  for (const tenon::index hidden : {1, 5, 11, 20, 41}) {  // 1, 1, 2, 4 and 8 units for a block of 6
    CAPTURE(hidden);
    CHECK(error_in_space<Space>(Layer<dyn, dyn, tenon::host, float>(3, hidden), 2e-5) == "");
  }
  CHECK(error_in_space<Space>(Layer<dyn, dyn, tenon::host, double>(3, 7, {.layers = 2, .bidirectional = true}),
                              1e-12) == "");
  CHECK(error_in_space<Space>(Layer<dyn, dyn, tenon::host, double>(3, 7, {.bias = false}), 1e-12) == "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("plain recurrences in one kernel", "[recurrent_kernel]", tenon_test::kernel_spaces) {
  compare_kernels<nn::rnn, TestType>();
  CHECK(error_in_space<TestType>(nn::rnn<>(3, 9, {.function = nn::nonlinearity::with_relu}), 2e-5) == "");
}
TEMPLATE_LIST_TEST_CASE("lstms in one kernel", "[recurrent_kernel]", tenon_test::kernel_spaces) {
  compare_kernels<nn::lstm, TestType>();
}
TEMPLATE_LIST_TEST_CASE("grus in one kernel", "[recurrent_kernel]", tenon_test::kernel_spaces) {
  compare_kernels<nn::gru, TestType>();
}

TEST_CASE("rows lie in packets where every one begins at sixteen bytes", "[recurrent_kernel]") {
  alignas(16) tenon::half memory[40]{};
  CHECK(nn::kernel_matrix<tenon::half>{memory, 8}.lies_in_packets());
  CHECK(nn::kernel_matrix<tenon::half>{memory + 8, 24}.lies_in_packets());
  CHECK_FALSE(nn::kernel_matrix<tenon::half>{memory + 1, 8}.lies_in_packets());
  CHECK_FALSE(nn::kernel_matrix<tenon::half>{memory, 12}.lies_in_packets());
}
