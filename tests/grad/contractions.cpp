// tests/grad/contractions.cpp: gradients of products of other ranks, of batches and within statements.
// A row for each product and convolution is in tests/grad/every_array_function.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/contractions.hpp>
#include <tenon/grad/jvp.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/gradient.hpp"

using tenon::rank;
using tenon_test::drawn;
using tenon_test::gradient_difference;

namespace {

const auto product = [](const auto& x, const auto& y) { return tenon::matmul(x, y); };

}  // namespace

TEST_CASE("matrices, vectors and batches", "[contractions]") {
  auto a = drawn(rank<2>(3, 4), 1), b = drawn(rank<2>(4, 5), 2), other = drawn(rank<2>(2, 4), 5);
  auto x = drawn(rank<1>(4), 3);
  auto batch = drawn(rank<3>(2, 3, 4), 4);
  CHECK(gradient_difference(product, a, b) == "");
  CHECK(gradient_difference(product, a, x) == "");
  CHECK(gradient_difference(product, x, b) == "");
  CHECK(gradient_difference(product, batch, b) == "");
  CHECK(gradient_difference([](const auto& v, const auto& w) { return tenon::matmul(v, tenon::transpose(w)); }, a,
                            other) == "");
}

TEST_CASE("a product within a statement", "[contractions]") {
  auto x = drawn(rank<2>(3, 4), 1), w = drawn(rank<2>(4, 5), 2);
  auto bias = drawn(rank<1>(5), 3);
  const auto layer = [](const auto& v, const auto& u, const auto& b) { return tenon::tanh(tenon::matmul(v, u) + b); };
  CHECK(gradient_difference(layer, x, w, bias) == "");
}

TEST_CASE("sums of products by letters", "[contractions]") {
  auto a = drawn(rank<3>(2, 3, 4), 1);
  auto b = drawn(rank<2>(4, 3), 2);
  CHECK(gradient_difference([](const auto& x, const auto& y) { return tenon::einsum<"bij,ji->ib">(x, y); }, a, b) ==
        "");
}

TEST_CASE("letters of an operand that are all summed over", "[contractions]") {
  auto a = drawn(rank<2>(2, 3), 1), b = drawn(rank<2>(4, 2), 2);
  CHECK(gradient_difference([](const auto& x, const auto& y) { return tenon::einsum<"ki,mj->m">(x, y); }, a, b) == "");
}

TEST_CASE("letters that stand twice in an operand", "[contractions]") {
  auto square = drawn(rank<2>(3, 3), 1), other = drawn(rank<2>(3, 3), 2);
  auto cube = drawn(rank<3>(3, 2, 3), 3);
  CHECK(gradient_difference([](const auto& x) { return tenon::einsum<"ii->">(x); }, square) == "");
  CHECK(gradient_difference([](const auto& x) { return tenon::einsum<"ii->i">(tenon::exp(x)); }, square) == "");
  CHECK(gradient_difference([](const auto& x, const auto& y) { return tenon::einsum<"ii,ij->j">(x, y); }, square,
                            other) == "");
  CHECK(gradient_difference([](const auto& x, const auto& y) { return tenon::einsum<"ij,jj->i">(x * y, y); }, square,
                            other) == "");
  CHECK(gradient_difference([](const auto& x) { return tenon::einsum<"iji->j">(x); }, cube) == "");
  CHECK(gradient_difference([](const auto& x) { return tenon::einsum<"iji,kjk->jik">(x, x); }, cube) == "");
  const auto v = tenon::variable<0>(square);
  const auto direction = tenon::jvp(tenon::einsum<"ii->i">(v), tenon::wrt(v), other);
  CHECK(tenon_test::numbers_of(direction) == tenon_test::numbers_of(tenon::diagonal(other)));
}
