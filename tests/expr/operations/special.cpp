// tests/expr/operations/special.cpp: a table of the family.
// References are the C library's in double; digamma is held to tabulated values and to its own equations.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/special.hpp>

#include "support/catch.hpp"
#include "support/operations.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"

namespace {

using tenon_test::infinity;
using tenon_test::nan_value;
using tenon_test::numbers_of;
using tenon_test::unary_difference;

/// 0, infinities, NaN, whole numbers of both signs, and random ones between.
std::vector<double> around_zero(double reach) {
  tenon_test::random_source source(41);
  std::vector<double> values = {0, -0.0, infinity, -infinity, nan_value, 1e-30, -1e-30, 1e30, 1e-40};
  for (int i = -20; i <= 40; ++i) values.push_back(i);
  while (values.size() < 400) values.push_back(source.uniform(-reach, reach));
  return values;
}

template <class T, class Space>
void check_special() {
  constexpr bool on_device = !std::is_same_v<Space, tenon::host> && !std::is_same_v<Space, tenon::emulated>;
  const auto check = [](const auto& operation, double (*reference)(double), const std::vector<double>& x, double ulps) {
    CHECK(unary_difference<T, Space>(operation, reference, x, ulps) == "");
  };
  check(tenon::erf, [](double x) { return std::erf(x); }, around_zero(6), 2);
  check(tenon::erfc, [](double x) { return std::erfc(x); }, around_zero(10), on_device ? 5 : 2);  // CUDA's promise
  const std::vector<double> far = around_zero(30);
  check(tenon::gamma, [](double x) { return x < 0 && x == std::floor(x) ? nan_value : std::tgamma(x); }, far, 4);
  std::vector<double> promised = far;  // of CUDA's lgamma: not near its zeros between -24 and -2.25
  if (on_device) std::erase_if(promised, [](double x) { return x > -24 && x < -2.25 && x != std::floor(x); });
  check(tenon::lgamma, [](double x) { return std::lgamma(x); }, promised, on_device ? 6 : 4);
}

/// Digamma to 20 digits (Abramowitz and Stegun, table 6.1 and equations 6.3.2 to 6.3.7).
const std::vector<double> arguments = {1, 2, 0.5, 0.25, 10, -0.5, -1.5, 100, 1e10};
const std::vector<double> tabulated = {-0.57721566490153286061, 0.42278433509846713939, -1.96351002602142347944,
                                       -4.22745353337626540809, 2.25175258906672110765, 0.03648997397857652056,
                                       0.70315664064524318723,  4.60016185273808140016, 23.02585092989045684};

/// Polygamma to 18 digits, of 60 that mpmath computes with.
const std::vector<double> polygamma_arguments = {0.5, 1, 2.75, 9.5, 40, 1e5, 1e-5, -0.25, -3.625, -20.0625};
const std::vector<double> of_order_1 = {
    4.93480220054467931,    1.64493406684822644, 0.437571257648930761, 0.110997288469099032, 0.0253151038412910282,
    1.00000500001666667e-5, 10000000001.6449084, 18.5418796476716065,  11.3217004552608026,  259.266768519012144};
const std::vector<double> of_order_2 = {
    -16.82879664423432, -2.40411380631918857, -0.188714633031301223, -0.0123078458077093375, -6.40820271835298588e-4,
    -1.00001000005e-10, -2000000000000001.91, 122.69736678366236,    -30.1514710202340525,   8191.17587791218935};
const std::vector<double> of_order_6 = {-92203.4579238030233,    -726.011479714984435,    -0.692977278944388105,
                                        -2.21044910012040896e-4, -3.15581795523639392e-8, -1.20003600042e-28,
                                        -7.19999999999999588e37, 11791071.0734969046,     -671147.418952033896,
                                        193273527657.226715};
const std::vector<double> of_order_13 = {102023530134651.95,     6227402193.41097176,     4461.23500396251804,
                                         1.721912093854073e-4,   8.36504393882232527e-13, 4.7903273583048576e-57,
                                         6.22702079999999287e79, 1.67155351745219678e18,  5730371420385938.93,
                                         4.48704136872133264e26};

template <int Order, class Space>
std::string polygamma_difference(const std::vector<double>& expected) {
  const auto x = tenon_test::repeated<double, Space>(polygamma_arguments, 10);
  return tenon_test::relative_difference(numbers_of(tenon::polygamma<Order>(x)), expected, 2e-14, 0);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("special functions of float", "[special]", tenon_test::spaces) {
  check_special<float, TestType>();
}

TEMPLATE_LIST_TEST_CASE("special functions of double", "[special]", tenon_test::spaces) {
  check_special<double, TestType>();
}

TEMPLATE_LIST_TEST_CASE("erf in half, its sign of zero, and of integers", "[special]", tenon_test::spaces) {
  CHECK(unary_difference<tenon::half, TestType>(
            tenon::erf, [](double x) { return std::erf(x); }, around_zero(4), 1) == "");
  CHECK(tenon_test::keeps_sign_of_zero<float, TestType>(tenon::erf));
  const auto x = tenon_test::counting<int, TestType>(tenon::rank<1>(5), 1);
  STATIC_REQUIRE(std::is_same_v<typename decltype(tenon::erf(x))::element, float>);
  CHECK(tenon_test::relative_difference(numbers_of(tenon::gamma(x)), {1, 1, 2, 6, 24}, 0x1p-22, 0) == "");
}

TEMPLATE_LIST_TEST_CASE("the inverse of the error function in all spaces", "[special]", tenon_test::spaces) {
  const std::vector<double> x = {0.5, -0.25, 0.9921875, 1 - 0x1p-20, 0x1p-60, 1, -1, 1.0078125, infinity, nan_value};
  const std::vector<double> expected = {
      0.4769362762044699, -0.2253120550121781, 1.8809517454731395, 3.465505025803331, 7.686793263128236e-19,
      infinity,           -infinity,           nan_value,          nan_value,         nan_value};
  const auto wide = numbers_of(tenon::erfinv(tenon_test::repeated<double, TestType>(x, 37)));
  const auto narrow = numbers_of(tenon::erfinv(tenon_test::repeated<float, TestType>(x, 37)));
  std::vector<double> wanted;
  for (std::size_t i = 0; i < 37; ++i) wanted.push_back(expected[i % expected.size()]);
  CHECK(tenon_test::relative_difference(wide, wanted, 4 * 0x1p-52, 0) == "");
  CHECK(tenon_test::relative_difference(narrow, wanted, 4 * 0x1p-23, 0) == "");
  CHECK(tenon_test::keeps_sign_of_zero<float, TestType>(tenon::erfinv));
}

TEMPLATE_LIST_TEST_CASE("digamma has the tabulated values", "[special]", tenon_test::spaces) {
  const auto x = tenon_test::repeated<double, TestType>(arguments, 9);
  const auto found = numbers_of(tenon::digamma(x));
  CHECK(tenon_test::relative_difference(found, tabulated, 1.2e-14, 0) == "");  // at 1.5 terms near 2.3 cancel
  const auto narrow = tenon_test::repeated<float, TestType>(arguments, 9);
  CHECK(tenon_test::relative_difference(numbers_of(tenon::digamma(narrow)), tabulated, 0x1p-23, 0) == "");
}

TEMPLATE_LIST_TEST_CASE("digamma at its poles and beyond", "[special]", tenon_test::spaces) {
  const std::vector<double> edges = {0, -0.0, -1, -2, -1e17, infinity, -infinity, nan_value};
  const auto found = numbers_of(tenon::digamma(tenon_test::repeated<double, TestType>(edges, 8)));
  CHECK(tenon_test::relative_difference(
            found, {-infinity, infinity, nan_value, nan_value, nan_value, infinity, nan_value, nan_value}, 0, 0) == "");
}

TEMPLATE_LIST_TEST_CASE("digamma follows its recurrence and is the slope of lgamma", "[special]", tenon_test::spaces) {
  const auto x =
      tenon_test::tensor_of<TestType, double>(tenon::rank<1>(300), tenon_test::random_values<double>(300, 43, -20, 20));
  CHECK(tenon_test::difference(numbers_of(tenon::digamma(x + 1)), numbers_of(tenon::digamma(x) + 1 / x), 1e-11) == "");
  const auto above = tenon::abs(x) + 1;
  const auto slope = (tenon::lgamma(above + 1e-4) - tenon::lgamma(above - 1e-4)) / 2e-4;
  CHECK(tenon_test::difference(numbers_of(tenon::digamma(above)), numbers_of(slope), 1e-7) == "");
}

TEMPLATE_LIST_TEST_CASE("trigamma at known places, at its poles and beyond", "[special]", tenon_test::spaces) {
  const double pi = 3.14159265358979323846;
  const std::vector<double> places = {1, 0.5, 2, -0.5, 1.5, 0, -3, infinity, nan_value};
  const auto found = numbers_of(tenon::trigamma(tenon_test::repeated<double, TestType>(places, 9)));
  CHECK(tenon_test::relative_difference(found,
                                        {pi * pi / 6, pi * pi / 2, pi * pi / 6 - 1, pi * pi / 2 + 4, pi * pi / 2 - 4,
                                         infinity, infinity, 0, nan_value},
                                        4e-15, 0) == "");
}

TEMPLATE_LIST_TEST_CASE("trigamma follows its recurrence", "[special]", tenon_test::spaces) {
  const auto x =
      tenon_test::tensor_of<TestType, double>(tenon::rank<1>(300), tenon_test::random_values<double>(300, 44, -20, 20));
  const auto step = 1 / tenon::square(x);
  CHECK(tenon_test::difference(numbers_of(tenon::trigamma(x + 1) + step), numbers_of(tenon::trigamma(x)), 1e-9) == "");
}

TEMPLATE_LIST_TEST_CASE("polygamma has its values", "[special]", tenon_test::spaces) {
  CHECK(polygamma_difference<1, TestType>(of_order_1) == "");
  CHECK(polygamma_difference<2, TestType>(of_order_2) == "");
  CHECK(polygamma_difference<6, TestType>(of_order_6) == "");
  CHECK(polygamma_difference<13, TestType>(of_order_13) == "");
  const auto narrow = tenon_test::repeated<float, TestType>({1, 2.75, -0.25}, 3);
  CHECK(tenon_test::relative_difference(numbers_of(tenon::polygamma<2>(narrow)),
                                        {of_order_2[1], of_order_2[2], of_order_2[7]}, 0x1p-23, 0) == "");
  CHECK(numbers_of(tenon::polygamma<0>(narrow)) == numbers_of(tenon::digamma(narrow)));
}

TEMPLATE_LIST_TEST_CASE("polygamma at its poles and beyond", "[special]", tenon_test::spaces) {
  const auto x = tenon_test::repeated<double, TestType>({0, -0.0, -2, -1e17, infinity, -infinity, nan_value, 1e300}, 8);
  const double nan = nan_value;
  CHECK(tenon_test::relative_difference(numbers_of(tenon::polygamma<2>(x)),
                                        {-infinity, -infinity, -infinity, -infinity, 0, nan, nan, 0}, 0, 0) == "");
  CHECK(tenon_test::relative_difference(numbers_of(tenon::polygamma<3>(x)),
                                        {infinity, infinity, infinity, infinity, 0, nan, nan, 0}, 0, 0) == "");
}
