// tests/plan/stages.cpp: which form a statement takes, from its type alone.
// Every row of the fusion table and its neighbours that just miss it.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/plan/stages.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon::stage;

const tenon::tensor<float, rank<2>> staged({4, 4});
const tenon::tensor<float, rank<3>> cube({2, 4, 4});
const tenon::tensor<float, rank<4>> image({1, 1, 4, 4});

template <class Node>
constexpr stage form_of(const Node&) {
  return tenon::stage_of<Node>();
}

}  // namespace

TEST_CASE("pointwise trees over any view", "[stages]") {
  CHECK(form_of(staged + 1) == stage::pointwise);
  CHECK(form_of(tenon::transpose(staged) * tenon::uniform<float>(rank<2>(4, 4), 1)) == stage::pointwise);
  CHECK(form_of(tenon::as_node(staged)) == stage::pointwise);
}

TEST_CASE("reductions whose axes are gone from the result", "[stages]") {
  CHECK(form_of(tenon::sum(staged)) == stage::reduce);
  CHECK(form_of(tenon::sqrt(tenon::sum(staged * staged, axis<0>)) + 1) == stage::reduce);
  CHECK(form_of(tenon::max(staged, axis<1>) - tenon::min(staged * 2, axis<1>)) == stage::reduce);
  CHECK(form_of(tenon::mean(cube, axis<0, 2>)) == stage::reduce);
  CHECK(form_of(tenon::sum(cube, tenon::drop<0>) + staged) == stage::reduce);
  CHECK(form_of(tenon::sum(cube, tenon::drop<0>) + cube) == stage::split);  // it repeats over the first axis
  CHECK(form_of(tenon::sum(cube, tenon::drop<0, 2>) + tenon::max(staged, tenon::drop<0>)) == stage::reduce);
}

TEST_CASE("rows are nested reductions over the same trailing axes", "[stages]") {
  CHECK(form_of(tenon::softmax(staged, axis<-1>)) == stage::rows);
  CHECK(form_of(staged - tenon::mean(staged, axis<1>)) == stage::rows);
  CHECK(form_of(tenon::sum(tenon::exp(staged - tenon::max(staged, axis<1>)), axis<1>)) == stage::rows);
  CHECK(form_of(tenon::standardise(cube, axis<1, 2>)) == stage::rows);
}

TEST_CASE("what is not one form is split", "[stages]") {
  CHECK(form_of(staged / tenon::sum(staged)) == stage::split);
  CHECK(form_of(staged - tenon::max(staged, axis<0>)) == stage::split);
  CHECK(form_of(tenon::standardise(cube, axis<2>) - tenon::mean(cube, axis<1, 2>)) == stage::split);
  CHECK(form_of(tenon::sum(tenon::softmax(staged, axis<1>))) == stage::split);
  CHECK(form_of(tenon::transpose(tenon::softmax(staged, axis<1>))) == stage::split);
}

TEST_CASE("one contraction of plain operands under pointwise operations", "[stages]") {
  CHECK(form_of(tenon::matmul(staged, staged)) == stage::contract);
  CHECK(form_of(tenon::relu(tenon::matmul(staged * 2, tenon::transpose(staged)) + staged)) == stage::contract);
  CHECK(form_of(tenon::convolve(image, image) * 2) == stage::contract);
  CHECK(form_of(tenon::matmul(tenon::softmax(staged, axis<1>), staged)) == stage::split);
  CHECK(form_of(tenon::matmul(staged, staged) + tenon::matmul(staged, staged)) == stage::split);
  CHECK(form_of(tenon::softmax(tenon::matmul(staged, staged), axis<1>)) == stage::split);
  CHECK(form_of(tenon::matmul(staged, staged) + cube * 0) == stage::split);
}
