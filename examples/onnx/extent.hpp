// examples/onnx/extent.hpp: an extent of the network: a number, or a sum of products of what inputs say at run time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace onnx_in {

/// A whole number in terms of symbols, each the code of a number that `forward` knows.
struct extent {
  using symbols = std::vector<std::string>;  // sorted; their product
  std::map<symbols, std::int64_t> terms;     // with their factors, none of which is 0
  std::optional<std::int64_t> known;         // the number, where there are no symbols
  std::string code;

  extent(std::int64_t number) {
    if (number != 0) terms[{}] = number;
    settle();
  }
  explicit extent(const std::string& symbol) : terms{{{symbol}, 1}} { settle(); }

  bool is(std::int64_t number) const { return known == number; }
  bool operator==(const extent& other) const { return code == other.code; }

  /// Adds a product of symbols `factor` times; numbers wrap around, as those of a model do.
  void add(const symbols& product, std::int64_t factor) {
    std::int64_t& count = terms[product];
    count = static_cast<std::int64_t>(static_cast<std::uint64_t>(count) + static_cast<std::uint64_t>(factor));
    if (count == 0) terms.erase(product);
  }
  /// Writes the code anew, after terms have changed.
  void settle() {
    code.clear(), known.reset();
    for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
      const auto& [product, factor] = *term;
      const bool is_less = factor < 0 && factor != INT64_MIN && !code.empty();
      const std::int64_t count = is_less ? -factor : factor;
      std::string text;
      for (const std::string& each : product) text += (text.empty() ? "" : " * ") + each;
      if (text.empty()) text = count == INT64_MIN ? "(-9223372036854775807 - 1)" : std::to_string(count);
      else if (count != 1) text += " * " + std::to_string(count);
      code += (code.empty() ? "" : is_less ? " - " : " + ") + text;
    }
    if (terms.empty()) code = "0", known = 0;
    if (terms.size() == 1 && terms.begin()->first.empty()) known = terms.begin()->second;
  }
  /// The code as an operand of a quotient.
  std::string operand() const { return code.find(' ') == std::string::npos ? code : "(" + code + ")"; }
};
using extents = std::vector<extent>;

inline extent operator+(extent a, const extent& b) {
  for (const auto& [product, factor] : b.terms) a.add(product, factor);
  a.settle();
  return a;
}
inline extent operator*(const extent& a, const extent& b) {
  extent made = 0;
  for (const auto& [left, factor] : a.terms) {
    for (const auto& [right, other] : b.terms) {
      extent::symbols product = left;
      product.insert(product.end(), right.begin(), right.end());
      std::sort(product.begin(), product.end());
      made.add(product,
               static_cast<std::int64_t>(static_cast<std::uint64_t>(factor) * static_cast<std::uint64_t>(other)));
    }
  }
  made.settle();
  return made;
}
inline extent operator-(const extent& a, const extent& b) { return a + extent(-1) * b; }

/// The quotient: in terms of the same symbols where one product divides all terms, else a symbol of its own.
inline extent operator/(const extent& a, const extent& b) {
  if (a.known && b.known && !b.is(0)) return b.is(-1) ? extent(-1) * a : extent(*a.known / *b.known);
  if (a == b) return 1;
  const extent quotient("(" + a.operand() + " / " + b.operand() + ")");
  if (b.terms.size() != 1 || b.terms.begin()->second == -1) return quotient;
  const auto& [divisor, count] = *b.terms.begin();
  extent made = 0;
  for (const auto& [product, factor] : a.terms) {
    extent::symbols left;
    std::set_difference(product.begin(), product.end(), divisor.begin(), divisor.end(), std::back_inserter(left));
    if (factor % count != 0 || left.size() + divisor.size() != product.size()) return quotient;
    made.add(left, factor / count);
  }
  made.settle();
  return made;
}

inline extent product(const extents& all, std::size_t begin = 0, std::size_t end = SIZE_MAX) {
  extent result = 1;
  for (std::size_t i = begin; i < all.size() && i < end; ++i) result = result * all[i];
  return result;
}

}  // namespace onnx_in
