// tests/io/print.cpp: tensors, views and expressions as text.
// Texts of numbers of at most 8 digits are NumPy's, character by character.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/complex.hpp>
#include <tenon/io/print.hpp>

#include <limits>
#include <sstream>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon::shape;
using tenon::to_text;
using tenon_test::counting;
using tenon_test::made_tensor;
using tenon_test::tensor_of;

template <class T>
std::string text_of_values(const std::vector<T>& values) {
  return to_text(tensor_of<tenon::host>(rank<1>(static_cast<tenon::index>(values.size())), values));
}

const double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEMPLATE_LIST_TEST_CASE("brackets nest, columns align, blank lines part matrices", "[print]", tenon_test::spaces) {
  using space = TestType;
  CHECK(to_text(counting<int, space>(rank<2>(2, 3), -2)) == "[[-2 -1  0]\n [ 1  2  3]]");
  CHECK(to_text(counting<float, space>(shape<2, 3, 2>{}, 0, 0.125)) ==
        "[[[0.    0.125]\n  [0.25  0.375]\n  [0.5   0.625]]\n\n"
        " [[0.75  0.875]\n  [1.    1.125]\n  [1.25  1.375]]]");
  CHECK(to_text(counting<int, space>(rank<5>(1, 2, 1, 2, 1))) == "[[[[[0]\n    [1]]]\n\n\n  [[[2]\n    [3]]]]]");
  CHECK(to_text(counting<int, space>(rank<3>(2, 0, 3))) == "[]");
  CHECK(to_text(counting<int, space>(rank<1>(0))) == "[]");
}

TEMPLATE_LIST_TEST_CASE("views and expressions print their elements", "[print]", tenon_test::spaces) {
  const auto a = counting<float, TestType>(rank<2>(2, 3));
  CHECK(to_text(tenon::transpose(a)) == "[[0. 3.]\n [1. 4.]\n [2. 5.]]");
  CHECK(to_text(tenon::slice(a, tenon::all_of, tenon::range(0, 3, 2))) == "[[0. 2.]\n [3. 5.]]");
  CHECK(to_text(a * 0.5f) == "[[0.  0.5 1. ]\n [1.5 2.  2.5]]");
  CHECK(to_text(a > 2) == "[[false false false]\n [ true  true  true]]");
  CHECK(to_text(tenon::sum(a)) == "15.0");
  CHECK(to_text(tenon::arange<int>(4)) == "[0 1 2 3]");
}

TEST_CASE("a number without axes prints alone", "[print]") {
  CHECK(to_text(tenon::full(shape<>{}, 7)) == "7");
  CHECK(to_text(tenon::full(shape<>{}, 2.0)) == "2.0");
  CHECK(to_text(tenon::full(shape<>{}, -0.25f)) == "-0.25");
  CHECK(to_text(tenon::full(shape<>{}, true)) == "true");
}

TEST_CASE("numbers take the fewest digits of their type, and at most eight", "[print]") {
  CHECK(text_of_values<double>({1, 2.5, 3.25}) == "[1.   2.5  3.25]");
  CHECK(text_of_values<float>({1.0f / 3, 2.0f / 3, 100.125f}) == "[  0.33333334   0.6666667  100.125     ]");
  CHECK(text_of_values<double>({0.1 + 0.2, 3.14159265358979}) == "[0.3       3.1415927]");
  CHECK(text_of_values<tenon::half>({0.1f, 0.2f, 1.0f / 3}) == "[0.1    0.2    0.3333]");
  CHECK(text_of_values<tenon::bfloat16>({0.1f, 3.0f, 1.0f / 3}) == "[0.1   3.    0.334]");
  CHECK(text_of_values<std::int8_t>({-128, 127, 0}) == "[-128  127    0]");
  CHECK(text_of_values<std::uint64_t>({~std::uint64_t{0}}) == "[18446744073709551615]");
}

TEST_CASE("numbers far from 1 or from each other have exponents", "[print]") {
  CHECK(text_of_values<double>({1.5, 1e10, -3e-5}) == "[ 1.5e+00  1.0e+10 -3.0e-05]");
  CHECK(text_of_values<double>({0.0001, 0.5}) == "[1.e-04 5.e-01]");
  CHECK(text_of_values<double>({0.001, 10, 0}) == "[1.e-03 1.e+01 0.e+00]");
  CHECK(text_of_values<double>({99999999, 1}) == "[9.9999999e+07 1.0000000e+00]");
  CHECK(text_of_values<double>({99999999, 1e8}) == "[9.9999999e+07 1.0000000e+08]");
  CHECK(text_of_values<double>({12345678, 23456789}) == "[12345678. 23456789.]");
  CHECK(text_of_values<double>({1e300, 5e-324}) == "[1.e+300 5.e-324]");
  CHECK(text_of_values<float>({0.01f, 9.5f}) == "[0.01 9.5 ]");
}

TEST_CASE("what is not finite has a name, zero has a sign", "[print]") {
  CHECK(text_of_values<double>({1.25, std::numeric_limits<double>::quiet_NaN(), -infinity, 0}) ==
        "[1.25  nan -inf 0.  ]");
  CHECK(text_of_values<float>({HUGE_VALF, HUGE_VALF}) == "[inf inf]");
  CHECK(text_of_values<double>({-0.0, 1}) == "[-0.  1.]");
}

TEST_CASE("complex numbers are two parts, the imaginary one signed", "[print]") {
  using complex = std::complex<float>;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(text_of_values<complex>({{1, -2.5f}, {0, 3}, {-10.25f, 0}}) == "[  1.  -2.5j   0.  +3.j  -10.25+0.j ]");
  CHECK(text_of_values<std::complex<double>>({{nan, infinity}, {1, -infinity}, {2, nan}}) ==
        "[nan+infj  1.-infj  2.+nanj]");
  CHECK(text_of_values<complex>({{1e-5f, 1e10f}, {1, -1}}) == "[1.e-05+1.e+10j 1.e+00-1.e+00j]");
  CHECK(to_text(tenon::full(shape<>{}, complex(1, -2))) == "1.-2.j");
}

TEST_CASE("long rows are broken, large tensors show their edges", "[print]") {
  CHECK(to_text(counting<int>(rank<1>(15), 0, 1000)) ==
        "[    0  1000  2000  3000  4000  5000  6000  7000  8000  9000 10000 11000\n 12000 13000 14000]");
  CHECK(to_text(counting<int>(rank<2>(2, 13), 0, 1000)) ==
        "[[    0  1000  2000  3000  4000  5000  6000  7000  8000  9000 10000 11000\n  12000]\n"
        " [13000 14000 15000 16000 17000 18000 19000 20000 21000 22000 23000 24000\n  25000]]");
  CHECK(to_text(tenon::arange<int>(2000)) == "[   0    1    2 ... 1997 1998 1999]");
  CHECK(to_text(tenon::iota<int>(shape<30, 40>{})) ==
        "[[   0    1    2 ...   37   38   39]\n [  40   41   42 ...   77   78   79]\n"
        " [  80   81   82 ...  117  118  119]\n ...\n [1080 1081 1082 ... 1117 1118 1119]\n"
        " [1120 1121 1122 ... 1157 1158 1159]\n [1160 1161 1162 ... 1197 1198 1199]]");
  CHECK(to_text(tenon::iota<int>(shape<300, 2, 2>{})) ==
        "[[[   0    1]\n  [   2    3]]\n\n [[   4    5]\n  [   6    7]]\n\n [[   8    9]\n  [  10   11]]\n\n ...\n\n"
        " [[1188 1189]\n  [1190 1191]]\n\n [[1192 1193]\n  [1194 1195]]\n\n [[1196 1197]\n  [1198 1199]]]");
  CHECK(to_text(tenon::arange<int>(9), {.threshold = 8, .edge = 2}) == "[0 1 ... 7 8]");
  CHECK(to_text(tenon::arange<int>(6), {.threshold = 5, .edge = 3}) == "[0 1 2 3 4 5]");
  CHECK(to_text(tenon::arange<int>(4), {.threshold = 3, .edge = 0}) == "[...]");
  CHECK(to_text(tenon::iota<int>(shape<2, 3>{}), {.threshold = 0, .edge = 0}) == "[...]");
  CHECK(to_text(tenon::iota<int>(shape<0, 3>{}), {.threshold = -1, .edge = 0}) == "[]");
  CHECK(to_text(tenon::full(shape<>{}, 5), {.threshold = 0, .edge = 0}) == "5");
  CHECK(tenon_test::text_of<tenon::error>([] { to_text(tenon::arange<int>(4), {.edge = -1}); }) ==
        "to_text: edge -1, expected at least 0");
}

TEST_CASE("a stream's precision is the most digits", "[print]") {
  const auto thirds = counting<double>(rank<1>(3), 0, 1.0 / 3);
  std::ostringstream plain, short_numbers, long_numbers;
  plain << thirds << '\n' << thirds * 3;
  CHECK(plain.str() == "[0.         0.33333333 0.66666667]\n[0. 1. 2.]");
  short_numbers.precision(3);
  short_numbers << thirds;
  CHECK(short_numbers.str() == "[0.    0.333 0.667]");
  long_numbers.precision(17);
  long_numbers << thirds;
  CHECK(long_numbers.str() == "[0.                 0.3333333333333333 0.6666666666666666]");
}

TEST_CASE("extents are written as messages write them", "[print]") {
  std::ostringstream text;
  text << rank<2>(3, 4) << tenon::shape<2, 5, 1>{} << tenon::shape<tenon::dyn, 7>(0) << rank<1>(6) << tenon::shape<>{};
  CHECK(text.str() == "[3, 4][2, 5, 1][0, 7][6][]");
}

TEST_CASE("std::format takes tensors, with a precision where wanted", "[print]") {
#if defined(__cpp_lib_format)
  const auto thirds = counting<double>(rank<1>(2), 0, 1.0 / 3);
  CHECK(std::format("x = {}", thirds) == "x = [0.         0.33333333]");
  CHECK(std::format("{:.2}!", thirds * 1) == "[0.   0.33]!");
#else
  WARN("this standard library has no std::format: not tested");
#endif
}
