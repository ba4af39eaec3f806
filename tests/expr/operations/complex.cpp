// tests/expr/operations/complex.cpp: complex numbers as elements, against the same arithmetic in a loop.
// Parts of float and double, strided, broadcast and among real operands.
// SPDX-License-Identifier: Apache-2.0
#include "support/complex.hpp"

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"

namespace {

using tenon_test::complex;
using tenon_test::elements_of;

template <class Part>
std::vector<std::complex<Part>> random_numbers(std::size_t count, std::uint64_t seed) {
  const auto parts = tenon_test::random_values<Part>(2 * count, seed, -2, 2);
  std::vector<std::complex<Part>> values;
  for (std::size_t i = 0; i < count; ++i) values.emplace_back(parts[2 * i], parts[2 * i + 1]);
  return values;
}

/// The values as elements of tensors.
template <class Part>
std::vector<complex<Part>> elements(const std::vector<std::complex<Part>>& values) {
  return {values.begin(), values.end()};
}

/// An element as the type that the expected values have.
template <class Number>
auto standard(const Number& number) {
  if constexpr (tenon::is_complex<Number>) {
    return std::complex<tenon::real_type<Number>>(number.real(), number.imag());
  } else {
    return number;
  }
}

/// Empty where all elements lie within a few units of `expected(i)`.
template <class Operand, class Expected>
std::string difference(const Operand& operand, const Expected& expected) {
  const auto found = elements_of(operand);
  using part = tenon::real_type<typename std::remove_cvref_t<decltype(found)>::value_type>;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto wanted = expected(i);
    const double allowed = 8 * static_cast<double>(std::numeric_limits<part>::epsilon());
    if (!(static_cast<double>(std::abs(standard(found[i]) - wanted)) <=
          allowed * (1 + static_cast<double>(std::abs(wanted))))) {
      return tenon::compose_text("at ", i);
    }
  }
  return "";
}

/// Functions of angles by those of real numbers, tangents by quotients, powers by logarithms.
template <class Operand, class Part>
void check_functions(const Operand& x, const Operand& y, const std::vector<std::complex<Part>>& a,
                     const std::vector<std::complex<Part>>& b) {
  const auto check = [&](const auto& found, const auto& function) {
    CHECK(difference(found, [&](std::size_t i) { return std::complex<Part>(function(std::complex<double>(a[i]))); }) ==
          "");
  };
  const auto sine = [](std::complex<double> z) {
    return std::complex(std::sin(z.real()) * std::cosh(z.imag()), std::cos(z.real()) * std::sinh(z.imag()));
  };
  const auto cosine = [](std::complex<double> z) {
    return std::complex(std::cos(z.real()) * std::cosh(z.imag()), -std::sin(z.real()) * std::sinh(z.imag()));
  };
  const std::complex<double> i(0, 1);
  check(tenon::sin(x), sine);
  check(tenon::cos(x), cosine);
  check(tenon::tan(x), [&](std::complex<double> z) { return sine(z) / cosine(z); });
  check(tenon::sinh(x), [&](std::complex<double> z) { return -i * sine(i * z); });
  check(tenon::cosh(x), [&](std::complex<double> z) { return cosine(i * z); });
  check(tenon::tanh(x), [&](std::complex<double> z) { return -i * sine(i * z) / cosine(i * z); });
  CHECK(difference(tenon::sinh(tenon::asinh(x)), [&](std::size_t k) { return a[k]; }) == "");
  CHECK(difference(tenon::cosh(tenon::acosh(x)), [&](std::size_t k) { return a[k]; }) == "");
  CHECK(difference(tenon::tanh(tenon::atanh(x)), [&](std::size_t k) { return a[k]; }) == "");
  CHECK(difference(tenon::pow(x, 2), [&](std::size_t k) { return a[k] * a[k]; }) == "");
  CHECK(difference(tenon::pow(x, y), [&](std::size_t k) {
          return std::complex<Part>(std::exp(std::complex<double>(b[k]) * std::log(std::complex<double>(a[k]))));
        }) == "");
}

template <class Part, class Space>
void check_operations() {
  using number = std::complex<Part>;
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{37}}) {
    const auto a = random_numbers<Part>(count, 71), b = random_numbers<Part>(count, 72);
    const auto extents = tenon::rank<1>(static_cast<tenon::index>(count));
    const auto x = tenon_test::tensor_of<Space>(extents, elements(a)),
               y = tenon_test::tensor_of<Space>(extents, elements(b));
    CHECK(difference(x + y, [&](std::size_t i) { return a[i] + b[i]; }) == "");
    CHECK(difference(x - y, [&](std::size_t i) { return a[i] - b[i]; }) == "");
    CHECK(difference(x * y, [&](std::size_t i) { return a[i] * b[i]; }) == "");
    CHECK(difference(x / y, [&](std::size_t i) { return a[i] / b[i]; }) == "");
    CHECK(difference(-x, [&](std::size_t i) { return -a[i]; }) == "");
    CHECK(difference(tenon::exp(x), [&](std::size_t i) { return std::exp(a[i]); }) == "");
    CHECK(difference(tenon::log(x), [&](std::size_t i) { return std::log(a[i]); }) == "");
    CHECK(difference(tenon::sqrt(x), [&](std::size_t i) { return std::sqrt(a[i]); }) == "");
    check_functions(x, y, a, b);
    CHECK(difference(tenon::conj(x), [&](std::size_t i) { return std::conj(a[i]); }) == "");
    CHECK(difference(tenon::real(x), [&](std::size_t i) { return a[i].real(); }) == "");
    CHECK(difference(tenon::imag(x), [&](std::size_t i) { return a[i].imag(); }) == "");
    CHECK(difference(tenon::arg(x), [&](std::size_t i) { return std::arg(a[i]); }) == "");
    CHECK(difference(tenon::abs(x), [&](std::size_t i) { return std::abs(a[i]); }) == "");
    CHECK(elements_of(x == x) == std::vector<bool>(count, true));
    CHECK(elements_of(x != y) == std::vector<bool>(count, true));
    number total = 0;
    for (const number each : a) total += each;
    CHECK(difference(tenon::sum(x), [&](std::size_t) { return total; }) == "");
    CHECK(difference(tenon::mean(x), [&](std::size_t) { return total / static_cast<Part>(count); }) == "");
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("operations on complex numbers", "[complex]", tenon_test::spaces) {
  check_operations<float, TestType>();
  check_operations<double, TestType>();
}

TEMPLATE_LIST_TEST_CASE("norms of complex numbers are of absolute values", "[complex]", tenon_test::spaces) {
  const auto z = tenon_test::tensor_of<TestType>(tenon::rank<1>(2), std::vector<complex<double>>{{3, 4}, {0, 12}});
  STATIC_REQUIRE(std::is_same_v<typename decltype(tenon::norm_l2(z))::element, double>);
  CHECK(std::abs(static_cast<double>(tenon::norm_l2(z)) - 13) < 1e-14);
  CHECK(std::abs(elements_of(tenon::norm_l2(z, tenon::axis<0>))[0] - 13) < 1e-14);
  CHECK(std::abs(static_cast<double>(tenon::norm_l1(z)) - 17) < 1e-14);
  CHECK(std::abs(static_cast<double>(tenon::norm_inf(z)) - 12) < 1e-14);
}

TEMPLATE_LIST_TEST_CASE("either part makes a complex number infinite or NaN", "[complex]", tenon_test::spaces) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto z = tenon_test::tensor_of<TestType>(
      tenon::rank<1>(6), std::vector<complex<double>>{{inf, 0}, {0, -inf}, {nan, inf}, {nan, 0}, {0, nan}, {1, 2}});
  CHECK(elements_of(tenon::isinf(z)) == std::vector<bool>{true, true, true, false, false, false});
  CHECK(elements_of(tenon::isnan(z)) == std::vector<bool>{false, false, true, true, true, false});
  CHECK(elements_of(tenon::isfinite(z)) == std::vector<bool>{false, false, false, false, false, true});
  CHECK(elements_of(tenon::isclose(z, z)) == std::vector<bool>{true, true, false, false, false, true});
  CHECK(elements_of(tenon::isclose(z, z, {.equal_nan = true})) == std::vector<bool>(6, true));
  CHECK(!elements_of(tenon::isclose(z, z + complex<double>(0, 1e-3)))[5]);
  CHECK(elements_of(tenon::isclose(z, z + complex<double>(0, 1e-7)))[5]);
}

TEMPLATE_LIST_TEST_CASE("complex and real numbers together", "[complex]", tenon_test::spaces) {
  using narrow = complex<float>;
  using wide = complex<double>;
  const auto z = tenon_test::tensor_of<TestType>(tenon::rank<1>(2), std::vector<narrow>{{1, 2}, {-3, 4}});
  const auto x = tenon_test::counting<float, TestType>(tenon::rank<1>(2), 1);
  const auto d = tenon_test::counting<double, TestType>(tenon::rank<1>(2), 1);
  const auto i = tenon_test::counting<int, TestType>(tenon::rank<1>(2), 1);
  STATIC_REQUIRE(std::is_same_v<typename decltype(z * x)::element, narrow>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(d * z)::element, wide>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(z * i)::element, narrow>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(z * 2.5)::element, narrow>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(x * wide(0, 1))::element, narrow>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(d * narrow(0, 1))::element, wide>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(i * wide(0, 1))::element, narrow>);
  CHECK(elements_of(z * x) == std::vector<narrow>{{1, 2}, {-6, 8}});
  CHECK(elements_of(d * z) == std::vector<wide>{{1, 2}, {-6, 8}});
  CHECK(elements_of(z * i + 0.5) == std::vector<narrow>{{1.5, 2}, {-5.5, 8}});
  CHECK(elements_of(x + x * 0.5f * wide(0, 1)) == std::vector<narrow>{{1, 0.5}, {2, 1}});
  CHECK(elements_of(tenon::cast<wide>(x)) == std::vector<wide>{1, 2});
  CHECK(std::string(tenon::dtype_name<narrow>()) == "complex64");
  CHECK(std::string(tenon::dtype_name<wide>()) == "complex128");
}

TEMPLATE_LIST_TEST_CASE("complex operands are broadcast, sliced and stored", "[complex]", tenon_test::spaces) {
  using number = std::complex<float>;
  const auto values = random_numbers<float>(35, 73);
  const auto x = tenon_test::tensor_of<TestType>(tenon::rank<2>(5, 7), elements(values));
  const auto last = tenon::slice(x, tenon::range(), tenon::range(tenon::open_end, tenon::open_end, -3));
  const auto expected = [&](std::size_t i) { return values[i / 3 * 7 + 6 - 3 * (i % 3)]; };
  CHECK(difference(last + number(0, 1), [&](std::size_t i) { return expected(i) + number(0, 1); }) == "");
  tenon::tensor<complex<float>, tenon::rank<1>, TestType> rows(tenon::rank<1>(5));
  rows = tenon::sum(x * tenon::conj(x), tenon::axis<1>);
  const auto found = elements_of(rows);
  for (std::size_t row = 0; row < 5; ++row) {
    float total = 0;
    for (std::size_t column = 0; column < 7; ++column) total += std::norm(values[row * 7 + column]);
    CHECK(std::abs(standard(found[row]) - total) <= 1e-5f * total);
  }
}

TEMPLATE_LIST_TEST_CASE("complex numbers are copied to another space and back", "[complex]", tenon_test::spaces) {
  const auto values = random_numbers<double>(21, 74);
  const auto x = tenon_test::tensor_of<tenon::host>(tenon::rank<2>(3, 7), elements(values));
  const auto there = x.template to<TestType>();
  CHECK(difference(there * 2, [&](std::size_t i) { return values[i] * 2.0; }) == "");
  CHECK(difference(there.template to<tenon::host>(), [&](std::size_t i) { return values[i]; }) == "");
  tenon::tensor<std::complex<float>, tenon::rank<2>> narrow({3, 7});
  narrow = x;
  CHECK(difference(narrow, [&](std::size_t i) { return std::complex<float>(values[i]); }) == "");
}

#if !defined(__CUDACC__)
TEMPLATE_TEST_CASE("numbers made of complex ones are computed in packs", "[complex]", float, double) {
  using number = std::complex<TestType>;
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{16}, std::size_t{67}}) {
    CAPTURE(count);
    const auto values = random_numbers<TestType>(3 * count + 1, 5);
    const auto n = static_cast<tenon::index>(count);
    const auto check = [&](const tenon::view<const number, tenon::rank<1>>& z) {
      constexpr auto widest = [](const auto& node) {
        const auto program = tenon::as_node(node).template lower<0>(tenon::identity_map<1>());
        return std::remove_cvref_t<decltype(program.at(tenon::array<tenon::index, 1>{}))>::widest;
      };
      CHECK((widest(tenon::abs(z) + TestType(1)) == sizeof(TestType)) == std::is_same_v<TestType, float>);
      CHECK(widest(z + number(1)) > static_cast<int>(sizeof(TestType)));
      const tenon::tensor<TestType, tenon::rank<1>> sums = tenon::real(z) * TestType(2) + tenon::imag(z * z);
      const tenon::tensor<TestType, tenon::rank<1>> lengths = -tenon::abs(z), angles = tenon::arg(tenon::conj(z));
      const tenon::tensor<bool, tenon::rank<1>> right = tenon::real(z) > TestType(0) && z == z;
      const tenon::tensor<int, tenon::rank<1>> whole = tenon::imag(z) * TestType(10);
      TestType greatest = 0, total = 0;
      for (tenon::index i = 0; i < n; ++i) {
        const number each = z(i), square = each * each;
        CHECK(std::abs(sums(i) - (each.real() * 2 + square.imag())) < TestType(1e-5));
        CHECK(lengths(i) == -std::abs(each));
        CHECK(angles(i) == std::arg(std::conj(each)));
        CHECK(right(i) == (each.real() > 0));
        CHECK(whole(i) == static_cast<int>(each.imag() * 10));
        greatest = std::max(greatest, std::abs(each)), total += std::norm(each);
      }
      CHECK(TestType(tenon::max(tenon::abs(z))) == greatest);
      const TestType norms = tenon::sum(tenon::square(tenon::real(z)) + tenon::square(tenon::imag(z)));
      CHECK(std::abs(norms - total) < TestType(1e-5) * total);
    };
    const tenon::view<const number, tenon::rank<1>> all(values.data() + 1, {3 * n});
    check(all[tenon::range(0, n)]);
    check(all[tenon::range(0, 3 * n, 3)]);
    check(tenon::flip(all[tenon::range(0, n)], tenon::axis<0>));
    check(tenon::broadcast_to(all[tenon::range(0, 1)], tenon::rank<1>(n)));
  }
}
#endif
