// tests/expr/operations/reference.cpp: functions of floats against values of many digits, within the bounds of a table.
// reference_values.inc is made by make_reference.py; the points that are floats are tested in float too.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "support/catch.hpp"
#include "support/every_function.hpp"

#if !defined(__CUDACC__)  // bounds are those of the host's functions
namespace reference_test {

namespace {

/// Of what a bound counts units in the last place: of the result; of it, but of normal numbers at least; of the greater
/// of it and 1, of these and, below 0, the logarithm of 1 - operand, or the operand.
enum class measure { of_result, of_normal, of_one, of_logarithm, of_operand };

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

struct reference_row {
  const char* name;
  double bound_of_float, bound_of_double;
  measure unit;
  std::vector<double> numbers;  // operands and result, in turn
};

const std::vector<reference_row>& reference_rows() {
  static const std::vector<reference_row> rows = {
#include "reference_values.inc"
  };
  return rows;
}

template <class T>
double spacing_at(double number) {
  const T magnitude = static_cast<T>(std::fmin(std::fabs(number), static_cast<double>(std::numeric_limits<T>::max())));
  const T below = std::nextafter(magnitude, T(0)), above = std::nextafter(magnitude, T(inf));
  return std::isinf(above) ? static_cast<double>(magnitude - below) : static_cast<double>(above - magnitude);
}

/// The error of a result in the units of its row; infinite where one is NaN, infinite or a zero of a sign alone.
template <class T>
double error_of(T actual, double expected, double operand, measure unit) {
  using limits = std::numeric_limits<T>;
  const double found = static_cast<double>(actual);
  if (std::isnan(found) || std::isnan(expected)) return std::isnan(found) && std::isnan(expected) ? 0 : inf;
  const bool is_edge = operand == 0 || std::isinf(operand);
  if (is_edge && expected == 0 && (found != 0 || std::signbit(found) != std::signbit(expected))) return inf;
  const double most = static_cast<double>(limits::max()), step = spacing_at<T>(most);
  if (found == expected || (std::isinf(found) && std::fabs(expected) >= most + step / 2 && found * expected > 0))
    return 0;
  if (std::isinf(found) || std::isinf(expected)) return inf;
  double size = std::fabs(expected);
  if (unit == measure::of_normal) size = std::fmax(size, static_cast<double>(limits::min() / limits::epsilon()));
  if (unit == measure::of_one || unit == measure::of_logarithm) size = std::fmax(size, 1);
  if (unit == measure::of_logarithm && operand < 0) size = std::fmax(size, std::log(1 - operand));
  if (unit == measure::of_operand) size = std::fmax(size, std::fabs(operand));
  return std::fabs(found - expected) / spacing_at<T>(size);
}

/// The point of a row at which the function errs most, where that is more than the bound.
template <class T>
std::string beyond_bound(const tenon_test::function_row<T>& function, const reference_row& row) {
  const std::size_t operands = static_cast<std::size_t>(function.operands), step = operands + 1;
  std::vector<T> x[2];
  std::vector<double> expected;
  for (std::size_t i = 0; i < row.numbers.size(); i += step) {
    bool fits = true;
    for (std::size_t k = 0; k < operands; ++k) {
      const double number = row.numbers[i + k];
      fits = fits && (std::isnan(number) || static_cast<double>(static_cast<T>(number)) == number);
    }
    if (!fits) continue;
    for (std::size_t k = 0; k < operands; ++k) x[k].push_back(static_cast<T>(row.numbers[i + k]));
    expected.push_back(row.numbers[i + operands]);
  }
  std::vector<T> found(expected.size());
  const T* const from[] = {x[0].data(), x[1].data()};
  function.apply(from, found.data(), static_cast<tenon::index>(found.size()));
  double worst = std::is_same_v<T, float> ? row.bound_of_float : row.bound_of_double;
  std::string text;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double error = error_of(found[i], expected[i], static_cast<double>(x[0][i]), row.unit);
    if (error <= worst) continue;
    worst = error;
    text = tenon::compose_text(function.name, " of ", static_cast<double>(x[0][i]));
    if (operands == 2) text += tenon::compose_text(" and ", static_cast<double>(x[1][i]));
    text +=
        tenon::compose_text(": ", static_cast<double>(found[i]), ", expected ", expected[i], ": ", error, " units\n");
  }
  return text;
}

template <class T>
void check_references() {
  std::set<std::string> known;
  std::string text;
  for (const auto& functions : {tenon_test::unary_functions<T>(), tenon_test::binary_functions<T>()}) {
    for (const auto& function : functions) {
      for (const reference_row& row : reference_rows()) {
        if (function.name != std::string(row.name)) continue;
        text += beyond_bound(function, row);
        known.insert(row.name);
      }
    }
  }
  CHECK(text == "");
  CHECK(known.size() == reference_rows().size());
}

}  // namespace

TEST_CASE("functions of floats are within their bounds", "[reference]") { check_references<float>(); }
TEST_CASE("functions of doubles are within their bounds", "[reference]") { check_references<double>(); }

}  // namespace reference_test
#endif
