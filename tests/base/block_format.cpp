// tests/base/block_format.cpp: weights in blocks against the bytes that GGUF's own package writes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/block_format.hpp>
#include <vector>

#include "support/random.hpp"

namespace {

using block_bytes = std::vector<int>;

/// Four blocks: one of numbers near 1, one of small ones whose greatest is below zero, zeros, and great ones.
std::vector<float> golden_weights() {
  std::vector<float> weights;
  for (int i = 0; i < 128; ++i) {
    const float number = static_cast<float>((i * i * 37 + i * 101) % 1009 - 500) / 997.0f;
    weights.push_back(i < 32 ? number : i < 64 ? number * -0.013f : i < 96 ? 0.0f : number * 300.0f);
  }
  return weights;
}
template <class Format>
block_bytes encoded(const float* from, std::size_t count) {
  block_bytes all;
  for (std::size_t i = 0; i < count; i += 32) {
    std::uint8_t block[Format::bytes];
    Format::encode(from + i, block);
    all.insert(all.end(), block, block + Format::bytes);
  }
  return all;
}
/// The bytes of a block.
struct bytes_from {
  const int* first;
  TENON_HOST_DEVICE int operator()(tenon::index i) const { return first[i]; }
};
template <class Format>
std::vector<float> decoded(const block_bytes& bytes) {
  std::vector<float> numbers;
  for (std::size_t first = 0; first < bytes.size(); first += Format::bytes) {
    for (int i = 0; i < 32; ++i) {
      numbers.push_back(tenon::block_value<Format>(i, bytes_from{bytes.data() + first}));
    }
  }
  return numbers;
}
/// Numbers at a few places.
std::vector<float> chosen_from(const std::vector<float>& numbers) {
  std::vector<float> chosen;
  for (const int i : {0, 5, 31, 40, 63, 64, 100, 127}) chosen.push_back(numbers[static_cast<std::size_t>(i)]);
  return chosen;
}

}  // namespace

// The bytes and numbers are those of gguf.quants of the package gguf on PyPI, for the same weights.
TEST_CASE("q8_0 has the bytes of GGUF", "[block_format]") {
  const block_bytes expected = {
      11,  28,  129, 164, 218, 35,  126, 236, 109, 1,   167, 96,  44,  11,  252, 1,   24,  66,  126, 206, 48,  165, 45,
      199, 117, 53,  7,   237, 229, 241, 14,  63,  131, 217, 62,  3,   187, 69,  177, 19,  98,  147, 187, 207, 208, 189,
      151, 103, 26,  185, 79,  199, 54,  135, 207, 3,   36,  49,  43,  17,  228, 163, 88,  240, 127, 240, 88,  162, 0,
      0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
      0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   204, 60,  16,  61,  125, 210, 54,  176, 58,  217, 139, 76,  35,
      13,  9,   23,  56,  108, 181, 14,  121, 250, 141, 48,  233, 180, 146, 127, 133, 154, 194, 252, 73,  172};
  CHECK(encoded<tenon::q8_0>(golden_weights().data(), 128) == expected);
  CHECK(chosen_from(decoded<tenon::q8_0>(expected)) ==
        std::vector<float>{-0.5014228820800781f, -0.0789642333984375f, -0.15398025512695312f, -0.0023746490478515625f,
                           -0.0046503543853759766f, 0.0f, 64.7578125f, -100.734375f});
}

TEST_CASE("q4_0 has the bytes of GGUF", "[block_format]") {
  const block_bytes expected = {3,   44,  240, 82,  182, 42,  191, 71,  255, 184, 130, 126, 107, 121, 152,
                                200, 10,  108, 112, 146, 92,  244, 189, 135, 98,  95,  92,  123, 171, 236,
                                47,  145, 6,   156, 35,  236, 0,   128, 136, 136, 136, 136, 136, 136, 136,
                                136, 136, 136, 136, 136, 136, 136, 136, 136, 194, 204, 215, 116, 0,   139,
                                245, 93,  148, 218, 255, 3,   246, 231, 199, 135, 52,  209};
  CHECK(encoded<tenon::q4_0>(golden_weights().data(), 128) == expected);
  CHECK(chosen_from(decoded<tenon::q4_0>(expected)) ==
        std::vector<float>{-0.50146484375f, -0.06268310546875f, -0.1253662109375f, -0.00235748291015625f,
                           -0.0047149658203125f, -0.0f, 57.09375f, -95.15625f});
}

TEMPLATE_TEST_CASE("weights are within a step of their blocks", "[block_format]", tenon::q8_0, tenon::q4_0) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto weights = tenon_test::random_values<float>(320, seed);
    const auto back = decoded<TestType>(encoded<TestType>(weights.data(), weights.size()));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      float greatest = 0;
      for (std::size_t k = i / 32 * 32; k < i / 32 * 32 + 32; ++k)
        greatest = std::fmax(greatest, std::fabs(weights[k]));
      const float step = greatest / static_cast<float>(TestType::steps);
      const bool is_last = std::is_same_v<TestType, tenon::q4_0>;  // steps end at 7 on one side
      CHECK(std::fabs(back[i] - weights[i]) <= step * (is_last ? 1.0f : 0.5f) + greatest * 0.001f);
    }
  }
}

TEMPLATE_TEST_CASE("weights too small for a scale are zero", "[block_format]", tenon::q8_0, tenon::q4_0) {
  std::vector<float> weights(32, 1e-40f);
  weights[3] = -1e-39f;
  for (const float number : decoded<TestType>(encoded<TestType>(weights.data(), 32))) CHECK(number == 0.0f);
}
