// tests/ptx/numbers.cpp: arithmetic, comparisons and conversions of the machine against references of C++.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "ptx/program.hpp"
#include "ptx/small_floats.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test::ptx;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
using u16 = std::uint16_t;

/// Pairs of edge cases, then of drawn numbers.
template <class Value>
std::pair<std::vector<Value>, std::vector<Value>> integer_pairs() {
  using limits = std::numeric_limits<Value>;
  const std::vector<Value> edges{0,
                                 1,
                                 2,
                                 7,
                                 31,
                                 32,
                                 33,
                                 static_cast<Value>(-1),
                                 limits::min(),
                                 limits::max(),
                                 static_cast<Value>(limits::max() - 1)};
  std::pair<std::vector<Value>, std::vector<Value>> result;
  for (const Value a : edges) {
    for (const Value b : edges) result.first.push_back(a), result.second.push_back(b);
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 47; ++i) {
    result.first.push_back(static_cast<Value>(random() >> (random() % 60)));
    result.second.push_back(static_cast<Value>(random() >> (random() % 60)));
  }
  return result;
}

const std::vector<float> edge_floats{0.0f,
                                     -0.0f,
                                     1.0f,
                                     -1.0f,
                                     0.5f,
                                     1.5f,
                                     2.5f,
                                     -2.5f,
                                     3.14159f,
                                     1e-40f,
                                     -1e-40f,
                                     1e30f,
                                     -1e30f,
                                     3e38f,
                                     65504.0f,
                                     65520.0f,
                                     65519.9f,
                                     1e-8f,
                                     6e-8f,
                                     448.0f,
                                     460.0f,
                                     465.0f,
                                     57344.0f,
                                     std::numeric_limits<float>::infinity(),
                                     -std::numeric_limits<float>::infinity(),
                                     std::numeric_limits<float>::quiet_NaN(),
                                     2147483648.0f,
                                     4294967296.0f,
                                     -2147483904.0f,
                                     1e19f};

std::pair<std::vector<float>, std::vector<float>> float_pairs() {
  std::pair<std::vector<float>, std::vector<float>> result;
  for (const float a : edge_floats) {
    for (const float b : edge_floats) result.first.push_back(a), result.second.push_back(b);
  }
  return result;
}

u32 bits(float value) { return std::bit_cast<u32>(value); }
u32 one_nan_bits(float value) { return value != value ? 0x7fffffffu : bits(value); }

/// Compares an instruction of two operands with a function, bit for bit.
template <class To, class From, class Function>
void check_binary(const std::string& instruction, Function function,
                  const std::pair<std::vector<From>, std::vector<From>>& pairs) {
  CAPTURE(instruction);
  const auto found = results_of<To>(instruction + " %d, %a, %b;", pairs.first, pairs.second);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const To expected = static_cast<To>(function(pairs.first[i], pairs.second[i]));
    if (std::memcmp(&found[i], &expected, sizeof(To)) != 0) {
      CAPTURE(pairs.first[i], pairs.second[i], found[i], expected);
      FAIL_CHECK("a result differs");
    }
  }
}

}  // namespace

TEST_CASE("sums, products and quotients of integers", "[ptx]") {
  const auto s = integer_pairs<s32>();
  const auto u = integer_pairs<u32>();
  const auto l = integer_pairs<s64>();
  check_binary<s32>("add.s32", [](s64 a, s64 b) { return a + b; }, s);
  check_binary<s32>("sub.s32", [](s64 a, s64 b) { return a - b; }, s);
  check_binary<s32>("mul.lo.s32", [](s64 a, s64 b) { return a * b; }, s);
  check_binary<s32>("mul.hi.s32", [](s64 a, s64 b) { return a * b >> 32; }, s);
  check_binary<s64>("mul.wide.s32", [](s64 a, s64 b) { return a * b; }, s);
  check_binary<u64>("mul.wide.u32", [](u64 a, u64 b) { return a * b; }, u);
  check_binary<u32>("mul.hi.u32", [](u64 a, u64 b) { return a * b >> 32; }, u);
  check_binary<s64>(
      "mul.hi.s64", [](s64 a, s64 b) { return static_cast<s64>(__extension__ static_cast<__int128>(a) * b >> 64); }, l);
  check_binary<s32>("min.s32", [](s32 a, s32 b) { return a < b ? a : b; }, s);
  check_binary<u32>("max.u32", [](u32 a, u32 b) { return a < b ? b : a; }, u);
  auto divisible = s;
  for (s32& b : divisible.second) b = b == 0 || b == -1 ? 5 : b;
  check_binary<s32>("div.s32", [](s32 a, s32 b) { return a / b; }, divisible);
  check_binary<s32>("rem.s32", [](s32 a, s32 b) { return a % b; }, divisible);
}

TEST_CASE("bits of integers", "[ptx]") {
  const auto u = integer_pairs<u32>();
  const auto s = integer_pairs<s32>();
  check_binary<u32>("shl.b32", [](u32 a, u32 b) { return b > 31 ? 0 : a << b; }, u);
  check_binary<u32>("shr.u32", [](u32 a, u32 b) { return b > 31 ? 0 : a >> b; }, u);
  check_binary<s32>("shr.s32", [](s32 a, s32 b) { return static_cast<u32>(b) > 31 ? (a < 0 ? -1 : 0) : a >> b; }, s);
  check_binary<u32>("lop3.b32 %d, %a, %b, 0, 0x3c; //", [](u32 a, u32 b) { return a ^ b; }, u);
  check_binary<u32>("clz.b32 %d, %a; //", [](u32 a, u32) { return std::countl_zero(a); }, u);
  check_binary<u32>("popc.b32 %d, %a; //", [](u32 a, u32) { return std::popcount(a); }, u);
  check_binary<u32>("bfe.u32 %d, %a, 4, 8; //", [](u32 a, u32) { return a >> 4 & 0xff; }, u);
  check_binary<s32>("bfe.s32 %d, %a, 28, 8; //", [](s32 a, s32) { return a >> 28; }, s);
  check_binary<u32>(
      "bfi.b32 %d, %a, %b, 8, 16; //", [](u32 a, u32 b) { return (b & 0xff0000ff) | (a & 0xffff) << 8; }, u);
  check_binary<u32>("prmt.b32 %d, %a, %b, 0x5410; //", [](u32 a, u32 b) { return (a & 0xffff) | b << 16; }, u);
  check_binary<u32>(
      "prmt.b32 %d, %a, %b, 0x88b3; //",
      [](u32 a, u32) { return a >> 24 | (a >> 31) * 0xff00u | (a >> 7 & 1) * 0xffff0000u; }, u);
  CHECK(results_of<u32>("bmsk.clamp.b32 %d, %a, %b;", std::vector<u32>{0, 4, 0, 40, 30},
                        std::vector<u32>{8, 4, 33, 1, 9}) == std::vector<u32>{0xff, 0xf0, ~0u, 0, 0xc0000000});
  check_binary<u32>("shf.l.wrap.b32 %d, %a, %b, 12; //", [](u32 a, u32 b) { return b << 12 | a >> 20; }, u);
  check_binary<s32>(
      "dp4a.s32.s32 %d, %a, %b, 5; //",
      [](s32 a, s32 b) {
        s32 sum = 5;
        for (int i = 0; i < 4; ++i) sum += static_cast<std::int8_t>(a >> 8 * i) * static_cast<std::int8_t>(b >> 8 * i);
        return sum;
      },
      s);
}

TEST_CASE("floats are rounded as asked, and have one NaN", "[ptx]") {
  const auto pairs = float_pairs();
  check_binary<u32>("add.f32", [](float a, float b) { return one_nan_bits(a + b); }, pairs);
  check_binary<u32>("mul.rn.f32", [](float a, float b) { return one_nan_bits(a * b); }, pairs);
  check_binary<u32>("div.rn.f32", [](float a, float b) { return one_nan_bits(a / b); }, pairs);
  check_binary<u32>("div.full.f32", [](float a, float b) { return one_nan_bits(a / b); }, pairs);  // 2 ulp suffice
  check_binary<u32>(
      "fma.rn.f32 %d, %a, %b, %a; //", [](float a, float b) { return one_nan_bits(std::fma(a, b, a)); }, pairs);
  check_binary<u32>(
      "min.f32",
      [](float a, float b) {
        if (a == b) return std::signbit(a) ? bits(a) : bits(b);
        return one_nan_bits(std::fmin(a, b));
      },
      pairs);
  check_binary<u32>(
      "max.NaN.f32",
      [](float a, float b) {
        if (a == b) return std::signbit(a) ? bits(b) : bits(a);
        return a != a || b != b ? 0x7fffffffu : bits(std::fmax(a, b));
      },
      pairs);
  const std::vector<float> one(32, 1.0f), third(32, 3.0f);
  CHECK(results_of<float>("div.rn.f32 %d, %a, %b;", one, third)[0] == 1.0f / 3);
  CHECK(results_of<float>("add.rp.f32 %d, %a, %b;", one, std::vector<float>(32, 1e-20f))[0] ==
        std::nextafter(1.0f, 2.0f));
  CHECK(results_of<float>("add.rm.f32 %d, %a, %b;", one, std::vector<float>(32, 1e-20f))[0] == 1.0f);
  CHECK(results_of<float>("add.ftz.f32 %d, %a, %b;", std::vector<float>(32, 1e-40f), std::vector<float>(32, 0.0f))[0] ==
        0.0f);
}

TEST_CASE("comparisons with NaN", "[ptx]") {
  const auto pairs = float_pairs();
  const auto compare = [&](const std::string& name, auto function) {
    check_binary<u32>(
        "setp." + name + ".f32 %t, %a, %b; selp.b32 %d, 1, 0, %t; //",
        [&](float a, float b) { return u32{function(a, b)}; }, pairs);
  };
  compare("lt", [](float a, float b) { return a < b; });
  compare("ne", [](float a, float b) { return a != b && a == a && b == b; });
  compare("neu", [](float a, float b) { return a != b; });
  compare("geu", [](float a, float b) { return !(a < b); });
  compare("num", [](float a, float b) { return a == a && b == b; });
  compare("nan", [](float a, float b) { return a != a || b != b; });
}

TEST_CASE("floats become integers, which are cut to their range", "[ptx]") {
  const auto convert = [](const std::string& name, auto to, auto expected) {
    const auto found = results_of<decltype(to)>("cvt." + name + " %d, %a;", edge_floats);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(name, edge_floats[i]);
      CHECK(found[i] == static_cast<decltype(to)>(expected(static_cast<double>(edge_floats[i]))));
    }
  };
  const auto cut = [](double value, double least, double most) {
    return value != value ? 0 : std::fmin(std::fmax(value, least), most);
  };
  convert("rzi.s32.f32", s32{}, [&](double a) { return cut(std::trunc(a), -0x1p31, 0x1p31 - 1); });
  convert("rni.s32.f32", s32{}, [&](double a) { return cut(std::nearbyint(a), -0x1p31, 0x1p31 - 1); });
  convert("rmi.u32.f32", u32{}, [&](double a) { return cut(std::floor(a), 0, 0x1p32 - 1); });
  convert("rzi.s8.f32", s32{}, [&](double a) { return cut(std::trunc(a), -128, 127); });
  convert("rzi.s64.f32", s64{}, [](double a) {
    if (a != a) return s64{0};
    return a >= 0x1p63   ? std::numeric_limits<s64>::max()
           : a < -0x1p63 ? std::numeric_limits<s64>::min()
                         : static_cast<s64>(a);
  });
  const std::vector<u64> large{0, 1, ~u64{0}, u64{1} << 63, (u64{1} << 24) + 1};
  const auto found = results_of<float>("cvt.rn.f32.u64 %d, %a;", large);
  for (std::size_t i = 0; i < large.size(); ++i) CHECK(found[i] == static_cast<float>(large[i]));
}

TEST_CASE("short floats of all bits come back, and floats between them go to the nearest", "[ptx]") {
  std::vector<u16> all;
  for (u32 i = 0; i < 0x8000; i += 37) all.push_back(static_cast<u16>(i)), all.push_back(static_cast<u16>(i | 0x8000));
  all.resize(992);
  for (const bool is_half : {true, false}) {
    const float_format format = is_half ? half_format : bfloat_format;
    const std::string name = is_half ? "f16" : "bf16";
    const auto wide = results_of<float>("cvt.f32." + name + " %d, %a;", all);
    const auto back = results_of<u16>("cvt.rn." + name + ".f32 %d, %a;", wide);
    std::vector<float> between(wide);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float exact = decode(all[i], format), next = decode(all[i] + 1u, format);
      CHECK((wide[i] == exact || (exact != exact && wide[i] != wide[i])));
      if (exact == exact) CHECK(back[i] == all[i]);
      const bool is_between = std::isfinite(exact) && std::isfinite(next);
      between[i] = is_between ? static_cast<float>((static_cast<double>(exact) + static_cast<double>(next)) / 2) : 0;
    }
    const auto rounded_bits = results_of<u16>("cvt.rn." + name + ".f32 %d, %a;", between);
    for (std::size_t i = 0; i < all.size(); ++i) {
      CAPTURE(name, between[i]);
      if (between[i] != 0) CHECK(rounded_bits[i] == (all[i] % 2 == 0 ? all[i] : all[i] + 1));
      CHECK(rounded_bits[i] == encode(static_cast<double>(between[i]), format));
    }
  }
}

TEST_CASE("floats of eight bits saturate", "[ptx]") {
  const auto pack = [](const std::string& name, float upper, float lower) {
    return results_of<u16>("cvt.rn.satfinite." + name + ".f32 %d, %a, %b;", std::vector<float>{upper},
                           std::vector<float>{lower})[0];
  };
  CHECK(pack("e4m3x2", 1.0f, 2.0f) == 0x3840);
  CHECK(pack("e4m3x2", 1e9f, -449.0f) == 0x7efe);
  CHECK(pack("e4m3x2", 0.001953125f, std::numeric_limits<float>::quiet_NaN()) == 0x017f);
  CHECK(pack("e5m2x2", 1.0f, 60000.0f) == 0x3c7b);
  const auto halves = results_of<u32>("cvt.rn.f16x2.e4m3x2 %d, %a;", std::vector<u16>{0x3840})[0];
  CHECK(halves == 0x3c004000);
}

TEST_CASE("loads and stores extend and cut", "[ptx]") {
  const std::vector<s32> values{-2, 200, 70000, -70000};
  const auto through = [&](const std::string& store, const std::string& load) {
    const device_array<s64> in(std::vector<s64>(values.begin(), values.end()));
    return results_of<s32>("ld.param.u64 %p, [p0];\nmad.lo.s64 %q, %at, 4, %p;\nst.global." + store +
                               " [%q], %a;\nld.global." + load + " %d, [%q];",
                           values);
  };
  CHECK(through("b8", "s8") == std::vector<s32>{-2, -56, 112, -112});
  CHECK(through("b8", "u8") == std::vector<s32>{254, 200, 112, 144});
  CHECK(through("b16", "s16") == std::vector<s32>{-2, 200, 4464, -4464});
}

TEST_CASE("carries go from word to word", "[ptx]") {
  __extension__ typedef unsigned __int128 wide;
  const auto [a, b] = integer_pairs<u64>();
  const auto high_of = [&](const std::string& instructions) { return results_of<u64>(instructions, a, b); };
  const std::string zero = ".reg .b64 %z, %low;\nmov.u64 %z, 0;\n";
  const std::string words =
      ".reg .b32 %a0, %a1, %b0, %b1, %d0, %d1;\nmov.b64 {%a0, %a1}, %a;\nmov.b64 {%b0, %b1}, %b;\n";
  const auto sums = high_of(zero + "add.cc.u64 %low, %a, %b;\naddc.u64 %d, %z, %z;");
  const auto borrowed = high_of(zero + "sub.cc.u64 %low, %a, %b;\nsubc.u64 %d, %z, %z;");
  const auto product =
      high_of(zero + "mul.lo.u64 %low, %a, %b;\nadd.cc.u64 %low, %low, %a;\nmadc.hi.u64 %d, %a, %b, %z;");
  const auto of_words = high_of(words + "add.cc.u32 %d0, %a0, %b0;\naddc.u32 %d1, %a1, %b1;\nmov.b64 %d, {%d0, %d1};");
  const auto chained = high_of(words +
                               "mad.lo.cc.u32 %d0, %a0, %b0, %a1;\nmadc.hi.cc.u32 %d1, %a0, %b0, %b1;\n"
                               "addc.u32 %d0, 0, 0;\nmov.b64 %d, {%d1, %d0};");
  const auto low_word = [](u64 x) { return x & 0xffffffffu; };
  for (std::size_t i = 0; i < a.size(); ++i) {
    const wide left = a[i], right = b[i];
    CHECK(sums[i] == static_cast<u64>((left + right) >> 64));
    CHECK(borrowed[i] == (a[i] < b[i] ? ~u64{0} : 0));
    CHECK(product[i] == static_cast<u64>((left * right + left) >> 64));
    CHECK(of_words[i] == a[i] + b[i]);
    const wide whole =
        static_cast<wide>(low_word(a[i])) * low_word(b[i]) + (a[i] >> 32) + (static_cast<wide>(b[i] >> 32) << 32);
    CHECK(chained[i] == static_cast<u64>(whole >> 32));
  }
}
