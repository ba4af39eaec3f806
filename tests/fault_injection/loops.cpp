// tests/fault_injection/loops.cpp: memory that runs out on the threads that share a loop.
// Behind the loop that is an exception of the statement, and its destination is as it was.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <tenon/algorithms/histogram.hpp>
#include <tenon/algorithms/sort.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/faults.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::attack;
using tenon_test::attack_report;
using tenon_test::bits_of;
using tenon_test::in_loops;

template <class... Extents>
auto drawn_tensor(std::uint64_t seed, Extents... extents) {
  constexpr int axes = static_cast<int>(sizeof...(Extents));
  return tenon::tensor<float, rank<axes>>(tenon::uniform<float>(rank<axes>(extents...), seed, -1.0f, 1.0f));
}
/// Two operands, and a destination that has its extents already.
template <class Left, class Right>
struct filled_operands {
  Left left, result;
  Right right;

  filled_operands(const Left& first, const Right& second) : left(first), right(second) {}
};

template <class Left, class Right, class Run>
attack_report attack_loops(const char* name, const Left& left, const Right& right, const Run& run) {
  using subject = filled_operands<Left, Right>;
  const auto make = [&] {
    auto all = std::make_unique<subject>(left, right);
    run(*all);
    all->result = all->result * 2.0f;
    return all;
  };
  const auto bits = [](const subject& all) { return bits_of(all.result) + bits_of(all.left); };
  return attack(std::string(name) + ", 3 threads", make, run, bits, in_loops);
}

constexpr auto matmul_of = [](auto& all) { all.result = tenon::matmul(all.left, all.right); };

}  // namespace

TEST_CASE("threads of a loop without memory write nothing of a product", "[loops]") {
  CHECK(attack_loops("product", drawn_tensor(1, 300, 200), drawn_tensor(2, 200, 250), matmul_of).is_good());
  CHECK(attack_loops("product in several parts", drawn_tensor(1, 1030, 10), drawn_tensor(2, 10, 1012), matmul_of)
            .is_good());
  CHECK(attack_loops("product of few rows", drawn_tensor(1, 4, 700), drawn_tensor(2, 700, 900), matmul_of).is_good());
  CHECK(attack_loops("product over its operand", drawn_tensor(1, 300, 200), drawn_tensor(2, 200, 200), [](auto& all) {
          all.left = tenon::matmul(all.left, all.right);
        }).is_good());
  const auto batched =
      attack_loops("batched product", drawn_tensor(1, 12, 60, 50), drawn_tensor(2, 12, 50, 70), matmul_of);
  CHECK(batched.is_good());
  CHECK(attack_loops("attention", drawn_tensor(1, 300, 16), drawn_tensor(2, 300, 16), [](auto& all) {
          all.result = tenon::scaled_dot_product_attention(all.left, all.right, all.right);
        }).is_good());
}

TEST_CASE("threads of a loop without memory write nothing of a convolution", "[loops]") {
  const auto images = drawn_tensor(1, 4, 6, 30, 30), weight = drawn_tensor(2, 8, 6, 3, 3);
  CHECK(attack_loops("convolution", images, weight, [](auto& all) {
          all.result = tenon::convolve(all.left, all.right);
        }).is_good());
  CHECK(attack_loops("convolution, depthwise", images, drawn_tensor(2, 6, 1, 3, 3), [](auto& all) {
          all.result = tenon::convolve(all.left, all.right, {.padding = {{1, 1}}, .groups = 6});
        }).is_good());
  CHECK(attack_loops("gradient of images, strided", drawn_tensor(1, 4, 8, 14, 14), weight, [](auto& all) {
          all.result = tenon::convolve_image_gradient(all.left, all.right, {{29, 29}}, {.stride = {{2, 2}}});
        }).is_good());
  CHECK(attack_loops("gradient of a weight", drawn_tensor(1, 4, 8, 28, 28), images, [](auto& all) {
          all.result = tenon::convolve_weight_gradient(all.left, all.right, {{3, 3}});
        }).is_good());
}

TEST_CASE("threads of a loop without memory write nothing element by element, or line by line", "[loops]") {
  const auto matrix = drawn_tensor(1, 300, 200), many = drawn_tensor(2, 3000, 40);
  CHECK(attack_loops("pointwise, across", matrix, many, [](auto& all) {
          all.result = tenon::permute(all.left, axis<1, 0>) + 1.0f;
        }).is_good());
  CHECK(attack_loops("softmax of columns", matrix, many, [](auto& all) {
          all.result = tenon::softmax(all.left, axis<0>);
        }).is_good());
  CHECK(attack_loops("sums in the middle", drawn_tensor(1, 5, 3000, 300), many, [](auto& all) {
          all.result = tenon::sum(all.left, axis<1>);
        }).is_good());
  CHECK(attack_loops("variance of columns", many, many, [](auto& all) {
          all.result = tenon::variance(all.left, axis<0>);
        }).is_good());
  CHECK(attack_loops("sort", matrix, many, [](auto& all) { all.result = tenon::sort(all.left, axis<1>); }).is_good());
  CHECK(attack_loops("histogram", drawn_tensor(1, 200000), many, [](auto& all) {
          all.result = tenon::cast<float>(tenon::histogram(all.left, 40, -1.0, 1.0));
        }).is_good());
}

#if defined(_OPENMP)
TEST_CASE("memory that only another thread lacks reaches the caller", "[loops]") {
  const auto matrix = drawn_tensor(1, 3, 5);
  const auto on_others = attack_loops("memory of other threads", matrix, matrix, [](auto& all) {
    tenon::parallel_parts(3, 1, 3, [](tenon::index, tenon::index, tenon::index part) {
      if (part != 0) ::operator delete(::operator new(64));  // a call, which no compiler may leave out
    });
    all.result = all.left + 1.0f;
  });
  CHECK(on_others.is_good());
  CHECK(on_others.elsewhere == 2);
}
#endif
