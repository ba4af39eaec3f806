// tests/expr/custom_reduce.cpp: reductions by a monoid or a function of the user's.
// A state of two numbers, a lanewise monoid and plain functions, against loops; and what nothing folds to.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/custom_reduce.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::far_scattered;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using numbers = std::vector<double>;

struct any_bit {
  TENON_HOST_DEVICE std::int32_t operator()(std::int32_t left, std::int32_t right) const { return left | right; }
};

/// Of two at one distance the positive one.
struct farther_from_zero {
  TENON_HOST_DEVICE double operator()(double left, double right) const {
    const bool tied = left == -right;
    return tied ? std::fmax(left, right) : left * left < right * right ? right : left;
  }
};

/// Logarithm of the sum of exponentials in one pass, by the greatest value so far.
struct logsumexp_monoid {
  template <class T>
  struct scaled {
    T greatest, sum;
  };
  static constexpr const char* name = "logsumexp";
  static constexpr bool has_identity = true;
  template <class T>
  using state = scaled<tenon::compute_type<T>>;
  template <class T>
  using element = T;

  template <class State>
  TENON_HOST_DEVICE static constexpr State identity() {
    return {tenon::lowest_value<decltype(State::sum)>(), 0};
  }
  template <class State, class V>
  TENON_HOST_DEVICE static State lift(V value, tenon::index) {
    return {value, 1};
  }
  template <class State>
  TENON_HOST_DEVICE static State combine(State left, State right) {
    if (left.greatest < right.greatest) return combine(right, left);
    if (right.sum == 0) return left;
    return {left.greatest, left.sum + right.sum * std::exp(right.greatest - left.greatest)};
  }
  template <class Result, class State>
  TENON_HOST_DEVICE static Result finish(State state, tenon::index) {
    return state.greatest + std::log(state.sum);
  }
};

/// The bits that any value has.
struct bits_monoid : tenon::max_monoid {
  static constexpr const char* name = "bits";
  template <class State>
  TENON_HOST_DEVICE static constexpr State identity() {
    return 0;
  }
  template <class V>
  TENON_HOST_DEVICE static V combine(V left, V right) {
    return left | right;
  }
};

/// Not lanewise, though what it inherits is.
struct squares_monoid : tenon::sum_monoid {
  static constexpr const char* name = "squares";
  template <class State, class V>
  TENON_HOST_DEVICE static State lift(V value, tenon::index) {
    return static_cast<State>(value * value);
  }
};

struct times {
  template <class V>
  TENON_HOST_DEVICE V operator()(V left, V right) const {
    return left * right;
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a monoid with a state of two numbers", "[custom_reduce]", tenon_test::spaces) {
  for (const tenon::index length : {1, 5, 64, 1500}) {
    CAPTURE(length);
    const auto x = tenon_test::made_tensor<float, TestType>(rank<2>(3, length), far_scattered);
    const auto expected = numbers_of(tenon::logsumexp(x, axis<1>));
    CHECK(difference(numbers_of(tenon::reduce<logsumexp_monoid>(x, axis<1>)), expected, 1e-6) == "");
    const auto turned = tenon::evaluated_tensor(tenon::transpose(x));
    CHECK(difference(numbers_of(tenon::reduce<logsumexp_monoid>(turned, axis<0>)), expected, 1e-6) == "");
    CHECK(tenon::kernel_count<decltype(x - tenon::reduce<logsumexp_monoid>(x, axis<1>))> == 1);
    const auto rows = tenon::exp(x - tenon::reduce<logsumexp_monoid>(x, axis<1>));
    CHECK(difference(numbers_of(rows), numbers_of(tenon::softmax(x, axis<1>)), 2e-5) == "");
  }
  const auto none = tensor_of<TestType, float>(rank<2>(1, 0), {});
  CHECK(numbers_of(tenon::reduce<logsumexp_monoid>(none, axis<1>)) == numbers{-HUGE_VAL});
}

TEMPLATE_LIST_TEST_CASE("a lanewise monoid of the user's folds packs", "[custom_reduce]", tenon_test::spaces) {
  for (const tenon::index length : {1, 3, 17, 100, 3000}) {
    CAPTURE(length);
    const auto x = tenon_test::made_tensor<std::int32_t, TestType>(rank<2>(2, length), [&](tenon::index i) {
      return i % length == length / 2 ? (i < length ? 1 << 20 : 1 << 7) : i % 4;
    });
    std::int32_t bits[2] = {0, 0};
    const auto values = tenon_test::elements_of(x);
    for (std::size_t i = 0; i < values.size(); ++i) bits[i / static_cast<std::size_t>(length)] |= values[i];
    const numbers expected{static_cast<double>(bits[0]), static_cast<double>(bits[1])};
    CHECK(numbers_of(tenon::reduce<bits_monoid>(x, axis<1>)) == expected);
    CHECK(numbers_of(tenon::reduce<bits_monoid>(x)) == numbers{static_cast<double>(bits[0] | bits[1])});
    CHECK(numbers_of(tenon::reduce(x, axis<1>, 0, any_bit{})) == expected);
  }
  const auto none = tensor_of<TestType, std::int32_t>(rank<1>(0), {});
  const auto text = tenon_test::text_of<tenon::shape_error>([&] { tenon::reduce<bits_monoid>(none, axis<0>); });
  CHECK(text == "bits: axis 0: extent 0, expected at least 1 (operand [0])");
}

TEMPLATE_LIST_TEST_CASE("a monoid that inherits all but what it makes of a value", "[custom_reduce]",
                        tenon_test::spaces) {
  static_assert(tenon::is_lanewise<bits_monoid> && !tenon::is_lanewise<squares_monoid>);
  for (const tenon::index length : {1, 17, 300}) {
    CAPTURE(length);
    const auto x = tenon_test::counting<float, TestType>(rank<2>(3, length), 1, 0.25);
    const auto squares = numbers_of(tenon::sum(x * x, axis<1>));
    CHECK(difference(numbers_of(tenon::reduce<squares_monoid>(x, axis<1>)), squares, 2e-5) == "");
    const auto down = numbers_of(tenon::sum(x * x, axis<0>));
    CHECK(difference(numbers_of(tenon::reduce<squares_monoid>(x, axis<0>)), down, 2e-5) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("a function folds from an initial value", "[custom_reduce]", tenon_test::spaces) {
  const auto x = tensor_of<TestType, float>(rank<2>(2, 3), {1, 2, 3, -4, 5, 0.5});
  CHECK(numbers_of(tenon::reduce(x, axis<1>, 1, times{})) == numbers{6, -10});
  CHECK(numbers_of(tenon::reduce(x, axis<0>, 2, times{})) == numbers{-8, 20, 3});
  CHECK(numbers_of(tenon::reduce(x, tenon::all_axes{}, 0.5, times{})) == numbers{-30});
  CHECK(numbers_of(x * tenon::reduce(x, axis<1>, 1, times{})) == numbers{6, 12, 18, 40, -50, -5});
  CHECK(tenon::kernel_count<decltype(x * tenon::reduce(x, axis<1>, 1, times{}))> == 1);
  const auto on_host = x.template to<tenon::host>();
  const float product =
      tenon::reduce(on_host, tenon::all_axes{}, 1, [](float left, float right) { return left * right; });
  CHECK(product == -60);
  const auto none = tensor_of<TestType, float>(rank<2>(2, 0), {});
  CHECK(numbers_of(tenon::reduce(none, axis<1>, 7, times{})) == numbers{7, 7});
  const auto halves = tensor_of<TestType, tenon::half>(rank<1>(2), {tenon::half(300.0f), tenon::half(300.0f)});
  CHECK(numbers_of(tenon::reduce(halves, axis<0>, 0.5, times{})) == numbers{44992});  // 300 * 300 overflows half
}

TEMPLATE_LIST_TEST_CASE("an operation folds as a function does", "[custom_reduce]", tenon_test::spaces) {
  const auto x = tensor_of<TestType, float>(rank<2>(2, 3), {1, 2, 3, -4, 5, 0.5});
  CHECK(numbers_of(tenon::reduce(x, axis<1>, 2.5, tenon::maximum)) == numbers{3, 5});
  CHECK(numbers_of(tenon::reduce(x, tenon::drop<0>, 0, tenon::add)) == numbers{-3, 7, 3.5});
  const auto bits = tensor_of<TestType, std::uint8_t>(rank<1>(3), {1, 4, 5});
  CHECK(numbers_of(tenon::reduce(bits, axis<0>, 2, tenon::bitwise_or)) == numbers{7});
}

TEMPLATE_LIST_TEST_CASE("a fold starts from a number that its elements hold", "[custom_reduce]", tenon_test::spaces) {
  const auto bytes = tensor_of<TestType, std::uint8_t>(rank<1>(3), {1, 4, 5});
  CHECK(tenon_test::text_of<tenon::dtype_error>([&] { tenon::reduce(bytes, axis<0>, 300, tenon::maximum); }) ==
        "reduce: number 300, expected 0 to 255 (elements of uint8)");
  CHECK(tenon_test::text_of<tenon::dtype_error>([&] { tenon::reduce(bytes, axis<0>, -1, times{}); }) ==
        "reduce: number -1, expected 0 to 255 (elements of uint8)");
  CHECK(numbers_of(tenon::reduce(bytes, axis<0>, 1e9, tenon::maximum)) == numbers{255});
}

TEMPLATE_LIST_TEST_CASE("a function folds long rows and columns, as a loop does", "[custom_reduce]",
                        tenon_test::spaces) {
  const auto x = tenon_test::made_tensor<double, TestType>(rank<2>(300, 201), far_scattered);
  constexpr farther_from_zero farther;
  const auto values = numbers_of(x);
  numbers rows(300, 0.0), columns(201, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    rows[i / 201] = farther(rows[i / 201], values[i]);
    columns[i % 201] = farther(columns[i % 201], values[i]);
  }
  CHECK(numbers_of(tenon::reduce(x, axis<1>, 0, farther)) == rows);
  CHECK(numbers_of(tenon::reduce(x, axis<0>, 0, farther)) == columns);
}

TEST_CASE("what does not fold is no monoid", "[custom_reduce]") {
  STATIC_REQUIRE(tenon::folds_values_of<tenon::variance_monoid, float>);
  STATIC_REQUIRE(tenon::folds_values_of<tenon::argmax_monoid, tenon::half>);
  STATIC_REQUIRE(!tenon::folds_values_of<times, float>);
}
