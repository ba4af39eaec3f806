// tests/nn/recurrent_tiles.cpp: recurrences of 16-bit elements whose steps are one kernel on Tensor Cores.
// Against the host's steps: hidden units of one block and of many, sequences of one block and shared by several.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/recurrent_tiles.hpp>

#include <tenon/device/emulated.hpp>

#include "nn/recurrent_passes.hpp"
#include "support/catch.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::host;
using tenon_test::error_in_space;

namespace {

constexpr double near_half = 0x1p-8, near_bfloat16 = 0x1p-5;

template <class T>
using lstm_of = nn::lstm<dyn, dyn, host, T>;
template <class T>
using gru_of = nn::gru<dyn, dyn, host, T>;
template <class T>
using rnn_of = nn::rnn<dyn, dyn, host, T>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("one block of hidden units, and some", "[recurrent_tiles]", tenon_test::kernel_spaces) {
  for (const tenon::index hidden : {8, 16, 40}) {
    CAPTURE(hidden);
    CHECK(error_in_space<TestType>(lstm_of<tenon::half>(3, hidden), near_half) == "");
    CHECK(error_in_space<TestType>(gru_of<tenon::bfloat16>(3, hidden), near_bfloat16) == "");
    CHECK(error_in_space<TestType>(rnn_of<tenon::half>(3, hidden), near_half) == "");
  }
}
TEMPLATE_LIST_TEST_CASE("both directions, several layers, no bias", "[recurrent_tiles]", tenon_test::kernel_spaces) {
  const nn::recurrent_options deep{.layers = 2, .bidirectional = true};
  CHECK(error_in_space<TestType>(lstm_of<tenon::half>(3, 24, deep), near_half) == "");
  CHECK(error_in_space<TestType>(gru_of<tenon::half>(3, 24, deep), near_half) == "");
  CHECK(error_in_space<TestType>(lstm_of<tenon::bfloat16>(3, 16, {.bias = false}), near_bfloat16) == "");
}
TEMPLATE_LIST_TEST_CASE("blocks share sequences", "[recurrent_tiles]", tenon_test::kernel_spaces) {
  for (const int blocks : {2, 4, 9}) {  // 80, 48 and 16 sequences for each
    CAPTURE(blocks);
    const tenon::emulation_scope room({.resident_blocks = blocks, .multiprocessors = blocks});
    CHECK(error_in_space<TestType>(lstm_of<tenon::half>(3, 16), near_half, 71) == "");
    CHECK(error_in_space<TestType>(gru_of<tenon::half>(3, 16, {.bidirectional = true}), near_half, 71) == "");
  }
}
TEMPLATE_LIST_TEST_CASE("depths of several chunks", "[recurrent_tiles]", tenon_test::kernel_spaces) {
  const tenon::emulation_scope room({.resident_blocks = 80});
  for (const tenon::index hidden : {296, 520}) {
    CAPTURE(hidden);
    CHECK(error_in_space<TestType>(lstm_of<tenon::half>(3, hidden), near_half, 3) == "");
  }
}

TEST_CASE("a block has the rows of its sequences", "[recurrent_tiles]") {
  struct fake_device {
    int number;
    tenon::grid_position block() const { return {0, number, 0}; }
  };
  const auto rows_of = [](int number, const nn::recurrent_step& step) {
    fake_device device{number};
    const auto block = nn::detail::block_rows::of(device, step, 16);
    return std::pair(block.first, block.end);
  };
  const nn::recurrent_step whole{100, 40, 60, false};
  CHECK(rows_of(0, whole) == std::pair(0, 16));
  CHECK(rows_of(2, whole) == std::pair(32, 40));
  const nn::recurrent_step begun_late{100, 10, 20, true};  // sequences 20 to 29
  CHECK(rows_of(0, begun_late) == std::pair(0, -4));
  CHECK(rows_of(1, begun_late) == std::pair(0, 10));
  CHECK(rows_of(2, begun_late) == std::pair(12, 10));
}
