// tests/expr/operations/rules.cpp: element types of operations.
// Tensors promote among themselves first; numbers only raise the category.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/rules.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace {

using tenon::bfloat16;
using tenon::half;

template <class T>
using leaf = tenon::leaf<T, tenon::rank<1>, tenon::host>;
using tenon::scalar;

template <class Expected, class... Operands>
constexpr bool promotes = std::is_same_v<tenon::promoted_element<Operands...>, Expected>;
template <class Rule, class Expected, class... Operands>
constexpr bool gives = std::is_same_v<typename Rule::template element<Operands...>, Expected>;
template <class Rule, class Expected, class... Operands>
constexpr bool takes = std::is_same_v<typename Rule::template operand<0, Operands...>, Expected>;

}  // namespace

TEST_CASE("tensors promote among themselves, in any order of operands", "[rules]") {
  STATIC_REQUIRE(promotes<float, leaf<float>>);
  STATIC_REQUIRE(promotes<double, leaf<float>, leaf<double>, leaf<half>>);
  STATIC_REQUIRE(promotes<float, leaf<half>, leaf<bfloat16>>);
  STATIC_REQUIRE(promotes<std::int16_t, leaf<std::int8_t>, leaf<std::uint8_t>>);
  STATIC_REQUIRE(promotes<half, leaf<std::int64_t>, leaf<half>>);
}

TEST_CASE("numbers never widen a tensor of their category or above", "[rules]") {
  STATIC_REQUIRE(promotes<half, leaf<half>, scalar<double>>);
  STATIC_REQUIRE(promotes<half, scalar<double>, leaf<half>>);
  STATIC_REQUIRE(promotes<half, scalar<double>, scalar<int>, leaf<half>>);
  STATIC_REQUIRE(promotes<std::int8_t, leaf<std::int8_t>, scalar<std::int64_t>>);
  STATIC_REQUIRE(promotes<float, leaf<std::int8_t>, scalar<double>>);
  STATIC_REQUIRE(promotes<int, leaf<bool>, scalar<int>>);
  STATIC_REQUIRE(promotes<double, scalar<float>, leaf<half>, leaf<double>>);
}

TEST_CASE("numbers alone keep their type", "[rules]") {
  STATIC_REQUIRE(promotes<double, scalar<double>>);
  STATIC_REQUIRE(promotes<int, scalar<int>>);
}

TEST_CASE("each rule gives operands and results their types", "[rules]") {
  STATIC_REQUIRE(gives<tenon::promoting, float, leaf<float>, leaf<half>>);
  STATIC_REQUIRE(takes<tenon::promoting, float, leaf<half>, leaf<float>>);
  STATIC_REQUIRE(gives<tenon::floating_result, float, leaf<int>>);
  STATIC_REQUIRE(takes<tenon::floating_result, float, leaf<int>>);
  STATIC_REQUIRE(gives<tenon::floating_result, half, leaf<half>>);
  STATIC_REQUIRE(gives<tenon::floating_result, double, leaf<double>>);
  STATIC_REQUIRE(gives<tenon::predicate, bool, leaf<int>, leaf<float>>);
  STATIC_REQUIRE(takes<tenon::predicate, float, leaf<int>, leaf<float>>);
  STATIC_REQUIRE(gives<tenon::boolean, bool, leaf<int>>);
  STATIC_REQUIRE(takes<tenon::boolean, bool, leaf<int>>);
}
