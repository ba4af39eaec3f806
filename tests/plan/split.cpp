// tests/plan/split.cpp: taking statements apart, and counting their kernels beforehand.
// The count from the type must be the count at run time; tests/evaluate.cpp compares both in every space.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/plan/split.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace {

using tenon::axis;
using tenon::rank;

const auto square = tenon_test::counting<float>(rank<2>(3, 3));

template <class Node>
constexpr int kernels_of(const Node&) {
  return tenon::kernel_count<Node>;
}

}  // namespace

TEST_CASE("kernels are counted from the type", "[split]") {
  CHECK(kernels_of(square + 1) == 1);
  CHECK(kernels_of(tenon::softmax(square, axis<-1>)) == 1);
  CHECK(kernels_of(square / tenon::sum(square)) == 2);
  CHECK(kernels_of((square - tenon::mean(square)) / tenon::sum(square)) == 3);
  CHECK(kernels_of(tenon::matmul(tenon::softmax(square, axis<-1>), square)) == 2);
  CHECK(kernels_of(tenon::matmul(tenon::matmul(square, square), tenon::matmul(square, square))) == 3);
  CHECK(kernels_of(tenon::sum(tenon::relu(tenon::matmul(square, square)), axis<0>)) == 2);
  CHECK(kernels_of(tenon::standardise(square, axis<0>)) == 4);
}

TEST_CASE("what a reduction folds is kept where other reductions have folded it to less", "[split]") {
  const auto labels = tenon_test::counting<std::int64_t>(rank<1>(3));
  CHECK(kernels_of(tenon::mean(tenon::nn::cross_entropy(square, labels))) == 2);
  CHECK(kernels_of(tenon::sum(tenon::square(tenon::mean(square, axis<1>)))) == 2);
  CHECK(kernels_of(tenon::sum(tenon::logsumexp(square, axis<1>) * tenon::sum(square, axis<1>))) == 2);
  CHECK(kernels_of(tenon::sum(tenon::softmax(square, axis<1>))) == 4);  // rows are computed again, not written
  std::vector<tenon::index> counts;
  const auto evaluate = [&](const auto& part) {
    counts.push_back(part.shape().count());
    return tenon::as_node(tenon::evaluated_tensor(part));
  };
  const auto statement = tenon::sum(tenon::logsumexp(square, axis<1>));
  tenon::split(statement, evaluate, [&](const auto& rest) {
    CHECK(counts == std::vector<tenon::index>{3});
    CHECK(tenon_test::numbers_of(rest) == tenon_test::numbers_of(statement));
  });
}

TEST_CASE("the rest of a statement reads values that live beside it, equal ones once", "[split]") {
  int evaluated = 0;
  const auto evaluate = [&](const auto& part) {
    ++evaluated;
    return tenon::evaluated_tensor(part);
  };
  using part = decltype(tenon::mean(square, axis<0>));
  STATIC_REQUIRE(
      std::is_same_v<tenon::evaluated<part, tenon::host>, tenon::node_of<tenon::tensor<float, part::shape_type>&>>);
  const auto statement = (square - tenon::mean(square, axis<0>)) * tenon::mean(square, axis<0>);
  tenon::split(statement, evaluate, [&](const auto& rest) {
    CHECK(evaluated == 1);
    for (tenon::index i = 0; i < 3; ++i) {
      for (tenon::index j = 0; j < 3; ++j) {
        const float mean = (square(0, j) + square(1, j) + square(2, j)) / 3;
        CHECK(tenon_test::numbers_of(rest)[static_cast<std::size_t>(3 * i + j)] == (square(i, j) - mean) * mean);
      }
    }
  });
}

TEST_CASE("a split evaluates contractions first, then reductions, innermost first", "[split]") {
  std::vector<tenon::index> ranks;
  const auto evaluate = [&](const auto& part) {
    ranks.push_back(part.shape().count());
    return tenon::as_node(tenon::evaluated_tensor(part));
  };
  const auto statement = tenon::matmul(square, square) + tenon::sum(square);
  tenon::split(statement, evaluate, [&](const auto& rest) {
    CHECK(ranks == std::vector<tenon::index>{9});
    CHECK(kernels_of(rest) == 2);
    tenon::split(rest, evaluate, [&](const auto& last) {
      CHECK(ranks == std::vector<tenon::index>{9, 1});
      CHECK(tenon::stage_of<std::remove_cvref_t<decltype(last)>>() == tenon::stage::pointwise);
      CHECK(tenon_test::numbers_of(last) == tenon_test::numbers_of(statement));
    });
  });
}

TEST_CASE("one value replaces all equal parts; the last of different contractions stays", "[split]") {
  int evaluations = 0;
  const auto evaluate = [&](const auto& part) {
    ++evaluations;
    return tenon::as_node(tenon::evaluated_tensor(part));
  };
  const auto y = tenon_test::counting<float>(rank<2>(3, 3));
  const auto equal_parts = tenon::matmul(square, square) * tenon::exp(tenon::matmul(square, square) * 0);
  tenon::split(equal_parts, evaluate, [&](const auto& rest) {
    CHECK(kernels_of(rest) == 1);
    CHECK(tenon::stage_of<std::remove_cvref_t<decltype(rest)>>() == tenon::stage::pointwise);
    CHECK(tenon_test::numbers_of(rest) == tenon_test::numbers_of(tenon::matmul(square, y)));
  });
  CHECK(evaluations == 1);
  tenon::split(tenon::matmul(square, square) - tenon::matmul(square, y), evaluate, [&](const auto& rest) {
    CHECK(tenon::stage_of<std::remove_cvref_t<decltype(rest)>>() == tenon::stage::contract);
    for (const double value : tenon_test::numbers_of(rest)) CHECK(value == 0);
  });
  CHECK(evaluations == 2);
  const auto z = tenon::evaluated_tensor(square + 1);
  const auto first = tenon::evaluated_tensor(tenon::matmul(z, z));
  const auto second = tenon::evaluated_tensor(tenon::matmul(square, y));
  const auto last_is_second = tenon::matmul(z, z) + tenon::matmul(square, y) * tenon::matmul(square, y);
  tenon::split(last_is_second, evaluate, [&](const auto& rest) {
    CHECK(tenon::stage_of<std::remove_cvref_t<decltype(rest)>>() == tenon::stage::pointwise);
    CHECK(tenon_test::numbers_of(rest) == tenon_test::numbers_of(first + second * second));
  });
  CHECK(evaluations == 4);
  const auto last_is_first = tenon::matmul(z, z) + tenon::matmul(square, y) * tenon::matmul(z, z);
  tenon::split(last_is_first, evaluate, [&](const auto& rest) {
    CHECK(tenon_test::numbers_of(rest) == tenon_test::numbers_of(first + second * first));
  });
  CHECK(evaluations == 6);
}
