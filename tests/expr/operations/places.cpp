// tests/expr/operations/places.cpp: what a function gives hangs on its operands, not on their place in an array.
// Each element alone is the reference of itself in every prefix and suffix: in packs, in rests, beside any other.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/every_function.hpp"
#include "support/random.hpp"

#if !defined(__CUDACC__)  // bodies and rests are the host's
namespace places_test {

namespace {

constexpr tenon::index length = 70;

template <class T>
bool same_bits(T left, T right) {
  using bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  if (left != left || right != right) return left != left && right != right;
  return __builtin_bit_cast(bits, left) == __builtin_bit_cast(bits, right);
}

/// Zeros, infinities, NaN, subnormals, limits of ranges, whole and great numbers, among random ones of all magnitudes.
template <class T>
std::vector<T> values(std::uint64_t seed) {
  using wide = tenon::compute_type<T>;
  using limits = std::numeric_limits<wide>;
  const wide special[] = {0,
                          wide(-0.0),
                          1,
                          -1,
                          limits::infinity(),
                          -limits::infinity(),
                          limits::quiet_NaN(),
                          limits::denorm_min(),
                          -limits::denorm_min(),
                          limits::min() / 2,
                          limits::max(),
                          limits::lowest(),
                          wide(0.5),
                          wide(-0.5),
                          2,
                          3,
                          -2,
                          -3,
                          10,
                          wide(-1e-20),
                          wide(1e-20),
                          wide(700),
                          wide(-700),
                          wide(1e6),
                          wide(-1e7),
                          wide(1e18),
                          wide(0.7853),
                          wide(-4.5),
                          wide(30)};
  tenon_test::random_source source(seed);
  std::vector<T> result;
  for (std::size_t i = 0; i < length; ++i) {
    const std::size_t count = std::size(special), choice = static_cast<std::size_t>(source.bits() % (2 * count));
    const int exponent = static_cast<int>(source.bits() % 24) - 16;
    const double number =
        choice < count ? static_cast<double>(special[choice]) : std::ldexp(source.uniform(-2, 2), exponent);
    result.push_back(static_cast<T>(static_cast<wide>(number)));
  }
  return result;
}

/// Where a function gives an element other bits than alone.
template <class T>
std::string misplaced(const tenon_test::function_row<T>& function) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const std::vector<T> operands[] = {values<T>(seed), values<T>(seed + 10), values<T>(seed + 20)};
    const auto run = [&](tenon::index first, tenon::index count, T* to) {
      const T* const from[] = {operands[0].data() + first, operands[1].data() + first, operands[2].data() + first};
      function.apply(from, to, count);
    };
    std::vector<T> alone(length), found(length);
    for (tenon::index i = 0; i < length; ++i) run(i, 1, alone.data() + i);
    const auto differs = [&](tenon::index first, tenon::index count) {
      run(first, count, found.data());
      for (tenon::index i = 0; i < count; ++i) {
        if (!same_bits(found[static_cast<std::size_t>(i)], alone[static_cast<std::size_t>(first + i)]))
          return first + i;
      }
      return tenon::index{-1};
    };
    for (tenon::index cut = 1; cut <= length; ++cut) {
      const tenon::index in_prefix = differs(0, cut), in_suffix = differs(cut - 1, length - cut + 1);
      const auto at = static_cast<std::size_t>(in_prefix >= 0 ? in_prefix : in_suffix);
      if (in_prefix < 0 && in_suffix < 0) continue;
      return tenon::compose_text(function.name, ": of ", static_cast<double>(operands[0][at]), " and ",
                                 static_cast<double>(operands[1][at]),
                                 ": not as alone: ", static_cast<double>(alone[at]), " cut ", cut, "; ");
    }
  }
  return "";
}

template <class T>
void check_places() {
  std::string text;
  for (const auto& functions :
       {tenon_test::unary_functions<T>(), tenon_test::binary_functions<T>(), tenon_test::ternary_functions<T>()}) {
    for (const auto& function : functions) text += misplaced(function);
  }
  CHECK(text == "");
}

}  // namespace

TEST_CASE("functions of floats give the same bits at every place", "[places]") { check_places<float>(); }
TEST_CASE("functions of doubles give the same bits at every place", "[places]") { check_places<double>(); }
TEST_CASE("functions of 16-bit floats give the same bits at every place", "[places]") {
  check_places<tenon::half>();
  check_places<tenon::bfloat16>();
}

}  // namespace places_test
#endif
