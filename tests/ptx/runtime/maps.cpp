// tests/ptx/runtime/maps.cpp: when tensor maps are encoded, and what products do that the encoder refuses.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <tenon/products.hpp>
#include <vector>

#include "ptx/counts.hpp"
#include "ptx/tile_map.hpp"
#include "support/catch.hpp"
#include "support/elements.hpp"

namespace {

using tenon::bfloat16;
using tenon::cuda;
using tenon::rank;
using tenon_test::ptx::tile_map_encoding;

/// The encoder takes any strides while it lives, as drivers may that do more than their manual says.
class lenient_encoder {
 public:
  lenient_encoder() { tile_map_encoding::demands_nested_strides = false; }
  lenient_encoder(const lenient_encoder&) = delete;
  lenient_encoder& operator=(const lenient_encoder&) = delete;
  ~lenient_encoder() { tile_map_encoding::demands_nested_strides = true; }
};

/// How many maps a statement encodes.
template <class Statement>
std::uint64_t encoded_by(const Statement& statement) {
  const std::uint64_t before = tile_map_encoding::maps;
  statement();
  return tile_map_encoding::maps - before;
}

/// Multiplies matrices whose batches lie between their rows; the kernel's name.
std::string multiply_permuted(int rows) {
  constexpr int batches = 3, depth = 64, columns = 64;
  const auto small = [](tenon::index i) { return i * 7 % 17 - 8; };
  const auto x = tenon_test::made_tensor<bfloat16>(rank<3>(rows, batches, depth), small);
  const auto w = tenon_test::made_tensor<bfloat16>(rank<3>(depth, batches, columns), small);
  const auto product = [](const auto& left, const auto& right) {
    return tenon::evaluated_tensor(
        tenon::matmul(tenon::permute(left, tenon::axis<1, 0, 2>), tenon::permute(right, tenon::axis<1, 0, 2>)));
  };
  const auto result = product(x.to<cuda>(), w.to<cuda>());
  const std::string kernel = tenon::launch_count().last_kind;
  CHECK(tenon_test::numbers_of<cuda>(result) == tenon_test::numbers_of(product(x, w)));
  return kernel;
}

}  // namespace

TEST_CASE("a batched product whose strides the encoder refuses takes another kernel", "[ptx]") {
  CHECK(multiply_permuted(128) != "hopper_product");
  const lenient_encoder any;
  CHECK(multiply_permuted(192) == "hopper_product");  // what has been refused is known
}

TEST_CASE("maps are encoded once, of as many operands as a large network has", "[ptx]") {
  constexpr int products = 100;
  const tenon::tensor<bfloat16, rank<2>, cuda> x = tenon::ones<bfloat16, cuda>({64, 64});
  std::vector<tenon::tensor<bfloat16, rank<2>, cuda>> weights, results;
  for (int i = 0; i < products; ++i) {
    weights.push_back(tenon::ones<bfloat16, cuda>({64, 64}));
    results.push_back(tenon::tensor<bfloat16, rank<2>, cuda>({64, 64}));
  }
  const auto step = [&] {
    for (std::size_t i = 0; i < products; ++i) results[i] = tenon::matmul(x, weights[i]);
  };
  CHECK(encoded_by(step) == products + 1);
  CHECK(encoded_by(step) == 0);
}
