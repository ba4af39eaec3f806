// examples/onnx/fold_numbers.cpp: known elements through arithmetic: whole numbers wrap around, others are doubles.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "fold.hpp"

namespace onnx_in {

namespace {

/// What whole numbers are computed in: the same bits as signed ones.
using word = std::uint64_t;

template <class Number>
std::vector<Number> numbers_of(const constant& from) {
  if constexpr (std::is_same_v<Number, double>) {
    return from.numbers();
  } else {
    const lengths all = from.integers();
    return std::vector<Number>(all.begin(), all.end());
  }
}
template <class Number>
constant constant_of(int element, const lengths& extents, const std::vector<Number>& numbers) {
  if constexpr (std::is_same_v<Number, double>) return constant::of(element, extents, numbers);
  else return constant::of_integers(element, extents, lengths(numbers.begin(), numbers.end()));
}

/// Calls `compute` with a number of the kind that elements of a type are computed in.
template <class Body>
auto in_kind_of(int element, const Body& compute) {
  if (element == boolean || type_of(element).is_floating) return compute(double{});
  return element == uint64 ? compute(word{}) : compute(std::int64_t{});
}

template <class Number>
Number negative(Number x) {
  if constexpr (std::is_integral_v<Number>) return static_cast<Number>(word{0} - static_cast<word>(x));
  else return -x;
}
template <class Number>
Number sum(Number a, Number b) {
  if constexpr (std::is_integral_v<Number>) return static_cast<Number>(static_cast<word>(a) + static_cast<word>(b));
  else return a + b;
}
template <class Number>
Number product_of(Number a, Number b) {
  if constexpr (std::is_integral_v<Number>) return static_cast<Number>(static_cast<word>(a) * static_cast<word>(b));
  else return a * b;
}
template <class Number>
bool is_minus_one(Number x) {
  return std::is_signed_v<Number> && negative(x) == 1;
}
/// Towards zero; of the least number and -1, which wraps around, too.
template <class Number>
Number quotient(Number a, Number b) {
  if constexpr (std::is_integral_v<Number>) return is_minus_one(b) ? negative(a) : a / b;
  else return a / b;
}
/// What C's division leaves, with the sign of `a`.
template <class Number>
Number rest(Number a, Number b) {
  if constexpr (std::is_integral_v<Number>) return is_minus_one(b) ? 0 : a % b;
  else return std::fmod(a, b);
}
/// What a division downwards leaves, with the sign of `b`.
template <class Number>
Number remainder_of(Number a, Number b) {
  const Number left = rest(a, b);
  return left != 0 && (left < 0) != (b < 0) ? sum(left, b) : left;
}
template <class Number>
Number power(Number base, Number exponent) {
  if constexpr (std::is_integral_v<Number>) {
    if (exponent < 0) {
      const Number odd = exponent % 2 == 0 ? 1 : base;
      return base == 1 || is_minus_one(base) ? odd : 0;
    }
    Number made = 1;
    for (auto left = static_cast<word>(exponent); left != 0; left /= 2, base = product_of(base, base)) {
      if (left % 2 == 1) made = product_of(made, base);
    }
    return made;
  } else {
    return std::pow(base, exponent);
  }
}

template <class Number>
struct binary_rule {
  Number (*compute)(Number, Number);
  bool is_test;
};
template <class Number>
const binary_rule<Number>* binary_of(const std::string& operation) {
  using n = Number;
  static const std::map<std::string, binary_rule<n>> all = {
      {"Add", {sum<n>, false}},
      {"Sub", {[](n a, n b) { return sum(a, negative(b)); }, false}},
      {"Mul", {product_of<n>, false}},
      {"Div", {quotient<n>, false}},
      {"Pow", {power<n>, false}},
      {"Mod", {remainder_of<n>, false}},
      {"fmod", {rest<n>, false}},
      {"Max", {[](n a, n b) { return a != a || a > b ? a : b; }, false}},
      {"Min", {[](n a, n b) { return a != a || a < b ? a : b; }, false}},
      {"Equal", {[](n a, n b) { return n(a == b); }, true}},
      {"Less", {[](n a, n b) { return n(a < b); }, true}},
      {"LessOrEqual", {[](n a, n b) { return n(a <= b); }, true}},
      {"Greater", {[](n a, n b) { return n(a > b); }, true}},
      {"GreaterOrEqual", {[](n a, n b) { return n(a >= b); }, true}},
      {"And", {[](n a, n b) { return n(a != 0 && b != 0); }, true}},
      {"Or", {[](n a, n b) { return n(a != 0 || b != 0); }, true}},
  };
  const auto found = all.find(operation);
  return found == all.end() ? nullptr : &found->second;
}

template <class Number>
std::optional<constant> folded_pair(const call& now, const constant& a, const constant& b) {
  const bool is_c = now.at.operation == "Mod" && now.integer("fmod", 0) != 0;
  const binary_rule<Number>* rule = binary_of<Number>(is_c ? "fmod" : now.at.operation);
  if (rule == nullptr) return std::nullopt;
  const std::vector<Number> left = numbers_of<Number>(a), right = numbers_of<Number>(b);
  const bool divides = now.at.operation == "Div" || now.at.operation == "Mod";
  if (std::is_integral_v<Number> && divides && std::find(right.begin(), right.end(), Number{0}) != right.end())
    now.refuse("divides by 0");
  lengths made;
  const extents first(a.extents.begin(), a.extents.end()), second(b.extents.begin(), b.extents.end());
  for (const extent& each : broadcast(now, first, second)) made.push_back(*each.known);
  const std::int64_t most = std::max({most_computed, size_of(a.extents), size_of(b.extents)});
  std::vector<Number> numbers(static_cast<std::size_t>(size_of(made, most)));
  for_each_position(made, [&](std::size_t place, const lengths& position) {
    numbers[place] = rule->compute(left[place_of(a.extents, position)], right[place_of(b.extents, position)]);
  });
  return constant_of(rule->is_test ? boolean : a.element, made, numbers);
}

template <class Number>
using unary = Number (*)(Number);
template <class Number>
unary<Number> unary_of(const std::string& operation) {
  using n = Number;
  static const std::map<std::string, unary<n>> all = [] {
    std::map<std::string, unary<n>> made = {{"Neg", negative<n>}};
    if constexpr (std::is_integral_v<n>) made["Abs"] = [](n x) { return x < 0 ? negative(x) : x; };
    if constexpr (std::is_same_v<n, double>) {
      made.insert({{"Sqrt", [](n x) { return std::sqrt(x); }},
                   {"Abs", [](n x) { return std::abs(x); }},
                   {"Floor", [](n x) { return std::floor(x); }},
                   {"Ceil", [](n x) { return std::ceil(x); }},
                   {"Exp", [](n x) { return std::exp(x); }},
                   {"Log", [](n x) { return std::log(x); }},
                   {"Sin", [](n x) { return std::sin(x); }},
                   {"Cos", [](n x) { return std::cos(x); }},
                   {"Reciprocal", [](n x) { return 1 / x; }},
                   {"Not", [](n x) { return n(x == 0); }}});
    }
    return made;
  }();
  const auto found = all.find(operation);
  return found == all.end() ? nullptr : found->second;
}

template <class Number>
std::optional<constant> folded_single(const call& now, const constant& from) {
  const unary<Number> compute = unary_of<Number>(now.at.operation);
  if (compute == nullptr) return std::nullopt;
  std::vector<Number> numbers = numbers_of<Number>(from);
  std::transform(numbers.begin(), numbers.end(), numbers.begin(), compute);
  return constant_of(from.element, from.extents, numbers);
}

/// How many steps lead from a number to below another one.
template <class Number>
std::int64_t steps_between(Number first, Number stop, Number step) {
  if (step > 0 ? first >= stop : first <= stop) return 0;
  if constexpr (std::is_integral_v<Number>) {
    const word span = static_cast<word>(step > 0 ? stop : first) - static_cast<word>(step > 0 ? first : stop);
    const word stride = static_cast<word>(step > 0 ? step : negative(step));
    return static_cast<std::int64_t>(std::min(word{most_elements}, span / stride + (span % stride != 0 ? 1 : 0)));
  } else {
    const double count = std::ceil((stop - first) / step);
    return count < static_cast<double>(most_elements) ? static_cast<std::int64_t>(count) : most_elements;
  }
}

template <class Number>
constant folded_range(const call& now) {
  const auto number = [&](std::size_t i, const char* what) { return numbers_of<Number>(now.known(i, what)).at(0); };
  const Number first = number(0, "start"), stop = number(1, "limit"), step = number(2, "delta");
  if (step == 0) now.refuse("has a step of 0");
  const lengths all{steps_between(first, stop, step)};
  std::vector<Number> numbers(static_cast<std::size_t>(table_size(all)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = sum(first, product_of(static_cast<Number>(i), step));
  return constant_of(now.in(0).element, all, numbers);
}

}  // namespace

std::optional<constant> fold_numbers(const call& now) {
  if (!now.has(0)) return std::nullopt;
  const int element = now.in(0).element;
  if (now.at.operation == "Range") {
    return in_kind_of(element, [&]<class Number>(Number) { return folded_range<Number>(now); });
  }
  if (now.count() > 2 || !now.has(now.count() - 1)) return std::nullopt;
  const constant& a = now.known(0, "operand");
  if (now.count() == 1) {
    return in_kind_of(element, [&]<class Number>(Number) { return folded_single<Number>(now, a); });
  }
  const constant& b = now.known(1, "operand");
  const int kind = a.element == b.element ? element : float64;  // a power of whole numbers may have others
  return in_kind_of(kind, [&]<class Number>(Number) { return folded_pair<Number>(now, a, b); });
}

}  // namespace onnx_in
