// tests/ptx/floats.cpp: arithmetic of floats: rounding, NaN and flushing as the PTX manual says.
// Approximations are computed exactly and rounded: code may rely on the bounds of their errors alone.
// SPDX-License-Identifier: Apache-2.0
#include <cfenv>

#include "ptx/decode.hpp"
#include "ptx/lanes.hpp"
#include "ptx/small_floats.hpp"

namespace tenon_test::ptx {

namespace {

template <class T>
T flushed(T value) {
  if constexpr (std::is_same_v<T, float>) return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
  else return value;
}

/// Takes numbers below the normal range for 0, as operands and as results.
template <class Function>
struct with_flushing {
  template <class... T>
  auto operator()(T... values) const {
    return flushed(Function{}(flushed(values)...));
  }
};
template <class Function>
struct saturating {
  template <class... T>
  auto operator()(T... values) const {
    const auto result = Function{}(values...);
    return result > 0 ? (result < 1 ? result : decltype(result)(1)) : decltype(result)(0);
  }
};

/// Runs a handler in another rounding mode of the host.
template <int Mode, class T, int Operands, class Function>
void in_rounding(warp& w, const instruction& in, lane_set active) {
  handler run = nullptr;
  if constexpr (Operands == 1) run = unary<T, T>(Function{});
  else if constexpr (Operands == 2) run = binary<T, T>(Function{});
  else run = ternary<T, T, T>(Function{});
  std::fesetround(Mode);
  run(w, in, active);
  std::fesetround(FE_TONEAREST);
}

template <class T, int Operands, class Function>
handler with_rounding(const decoder& d) {
  if (d.has("rz")) return &in_rounding<FE_TOWARDZERO, T, Operands, Function>;
  if (d.has("rm")) return &in_rounding<FE_DOWNWARD, T, Operands, Function>;
  if (d.has("rp")) return &in_rounding<FE_UPWARD, T, Operands, Function>;
  if constexpr (Operands == 1) return unary<T, T>(Function{});
  else if constexpr (Operands == 2) return binary<T, T>(Function{});
  else return ternary<T, T, T>(Function{});
}

template <class T, int Operands, class Function>
handler arithmetic(const decoder& d, Function) {
  if (d.has("sat") && d.has("ftz")) return with_rounding<T, Operands, saturating<with_flushing<Function>>>(d);
  if (d.has("sat")) return with_rounding<T, Operands, saturating<Function>>(d);
  if (d.has("ftz")) return with_rounding<T, Operands, with_flushing<Function>>(d);
  return with_rounding<T, Operands, Function>(d);
}

template <class T>
T smaller(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <class T>
T smaller_or_nan(T a, T b) {
  return a != a || b != b ? a + b : smaller(a, b);
}

template <class T>
handler of_two(const decoder& d, std::string_view name) {
  const bool keeps_nan = d.has("NaN");
  if (name == "add") return arithmetic<T, 2>(d, [](T a, T b) { return a + b; });
  if (name == "sub") return arithmetic<T, 2>(d, [](T a, T b) { return a - b; });
  if (name == "mul") return arithmetic<T, 2>(d, [](T a, T b) { return a * b; });
  if (name == "div") return arithmetic<T, 2>(d, [](T a, T b) { return a / b; });
  if (name == "min" && keeps_nan) return arithmetic<T, 2>(d, [](T a, T b) { return smaller_or_nan(a, b); });
  if (name == "min") return arithmetic<T, 2>(d, [](T a, T b) { return smaller(a, b); });
  if (name == "max" && keeps_nan) return arithmetic<T, 2>(d, [](T a, T b) { return -smaller_or_nan(-a, -b); });
  if (name == "max") return arithmetic<T, 2>(d, [](T a, T b) { return -smaller(-a, -b); });
  if (name == "copysign") return arithmetic<T, 2>(d, [](T a, T b) { return std::copysign(b, a); });
  return nullptr;
}

template <class T>
handler of_one(const decoder& d, std::string_view name) {
  if (name == "neg") return arithmetic<T, 1>(d, [](T a) { return -a; });
  if (name == "abs") return arithmetic<T, 1>(d, [](T a) { return std::fabs(a); });
  if (name == "rcp") return arithmetic<T, 1>(d, [](T a) { return 1 / a; });
  if (name == "sqrt") return arithmetic<T, 1>(d, [](T a) { return std::sqrt(a); });
  if (name == "rsqrt")
    return arithmetic<T, 1>(d, [](T a) { return static_cast<T>(1 / std::sqrt(static_cast<double>(a))); });
  if (name == "ex2") return arithmetic<T, 1>(d, [](T a) { return static_cast<T>(std::exp2(static_cast<double>(a))); });
  if (name == "lg2") return arithmetic<T, 1>(d, [](T a) { return static_cast<T>(std::log2(static_cast<double>(a))); });
  if (name == "sin") return arithmetic<T, 1>(d, [](T a) { return static_cast<T>(std::sin(static_cast<double>(a))); });
  if (name == "cos") return arithmetic<T, 1>(d, [](T a) { return static_cast<T>(std::cos(static_cast<double>(a))); });
  if (name == "tanh") return arithmetic<T, 1>(d, [](T a) { return static_cast<T>(std::tanh(static_cast<double>(a))); });
  return nullptr;
}

template <class T>
handler of_three(const decoder& d, std::string_view name) {
  if (name == "fma" || name == "mad") return arithmetic<T, 3>(d, [](T a, T b, T c) { return std::fma(a, b, c); });
  return nullptr;
}

/// Halves and bfloat16, one or two in a register: computed as floats, whose sums and products of two are exact enough;
/// of three, as doubles.
template <float_format Format>
float widened(std::uint16_t bits) {
  return Format.exponent_bits == 5 ? half_to_float(bits) : bfloat_to_float(bits);
}
template <float_format Format>
std::uint16_t narrowed(double value) {
  return static_cast<std::uint16_t>(encode(value, Format));
}
template <float_format Format, class Word, class Function>
Word each_half(Word a, Word b, Word c) {
  Word result = 0;
  for (unsigned i = 0; i < sizeof(Word) / 2; ++i) {
    const auto part = [&](Word word) {
      return static_cast<double>(widened<Format>(static_cast<std::uint16_t>(word >> (16 * i))));
    };
    result = static_cast<Word>(
        result |
        static_cast<Word>(static_cast<Word>(narrowed<Format>(Function{}(part(a), part(b), part(c)))) << (16 * i)));
  }
  return result;
}
template <float_format Format, class Word, class Function>
handler half_handler(Function) {
  return ternary<Word, Word, Word>([](Word a, Word b, Word c) { return each_half<Format, Word, Function>(a, b, c); });
}
template <float_format Format, class Word>
handler of_halves(std::string_view name, bool keeps_nan, bool is_relu) {
  if (name == "add") return half_handler<Format, Word>([](double a, double b, double) { return a + b; });
  if (name == "sub") return half_handler<Format, Word>([](double a, double b, double) { return a - b; });
  if (name == "mul") return half_handler<Format, Word>([](double a, double b, double) { return a * b; });
  if (name == "fma" && is_relu) return nullptr;
  if (name == "fma") return half_handler<Format, Word>([](double a, double b, double c) { return std::fma(a, b, c); });
  if (name == "min" && keeps_nan)
    return half_handler<Format, Word>([](double a, double b, double) { return smaller_or_nan(a, b); });
  if (name == "max" && keeps_nan)
    return half_handler<Format, Word>([](double a, double b, double) { return -smaller_or_nan(-a, -b); });
  if (name == "min") return half_handler<Format, Word>([](double a, double b, double) { return smaller(a, b); });
  if (name == "max") return half_handler<Format, Word>([](double a, double b, double) { return -smaller(-a, -b); });
  if (name == "neg") return half_handler<Format, Word>([](double a, double, double) { return -a; });
  if (name == "abs") return half_handler<Format, Word>([](double a, double, double) { return std::fabs(a); });
  if (name == "ex2") return half_handler<Format, Word>([](double a, double, double) { return std::exp2(a); });
  if (name == "tanh") return half_handler<Format, Word>([](double a, double, double) { return std::tanh(a); });
  return nullptr;
}

bool decode_halves(decoder& d, std::string_view name, std::string_view type) {
  const bool keeps_nan = d.has("NaN"), is_relu = d.has("relu");
  if (type == "f16") d.made.run = of_halves<half_format, std::uint16_t>(name, keeps_nan, is_relu);
  else if (type == "bf16") d.made.run = of_halves<bfloat_format, std::uint16_t>(name, keeps_nan, is_relu);
  else if (type == "f16x2") d.made.run = of_halves<half_format, std::uint32_t>(name, keeps_nan, is_relu);
  else d.made.run = of_halves<bfloat_format, std::uint32_t>(name, keeps_nan, is_relu);
  if (d.made.run == nullptr) return false;
  const int bytes = bytes_of_type(type);
  const std::size_t last = d.operands() - 1;
  d.made.to = d.target(0, bytes);
  d.made.a = d.source(1, bytes);
  d.made.b = d.source(std::min<std::size_t>(2, last), bytes);
  d.made.c = d.source(std::min<std::size_t>(3, last), bytes);
  return true;
}

}  // namespace

bool decode_floats(decoder& d) {
  const std::string_view name = d.part(0), type = d.part(-1);
  if (type == "f16" || type == "bf16" || type == "f16x2" || type == "bf16x2") return decode_halves(d, name, type);
  const int bytes = bytes_of_type(type);
  handler run = for_float(type, [&]<class T>() { return of_one<T>(d, name); });
  if (run == nullptr) run = for_float(type, [&]<class T>() { return of_two<T>(d, name); });
  if (run == nullptr) run = for_float(type, [&]<class T>() { return of_three<T>(d, name); });
  if (run == nullptr) return false;
  d.made.run = run;
  d.made.to = d.target(0, bytes);
  d.made.a = d.source(1, bytes);
  if (d.operands() > 2) d.made.b = d.source(2, bytes);
  if (d.operands() > 3) d.made.c = d.source(3, bytes);
  return true;
}

}  // namespace tenon_test::ptx
