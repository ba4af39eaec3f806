// tests/expr/random_permutation.cpp: permutations drawn by a seed.
// Whole numbers come once, and orders equally often, by Pearson's statistic.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/random_permutation.hpp>

#include <algorithm>
#include <map>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon_test::chi_square;
using tenon_test::numbers_of;
using tenon_test::text_of;

TEMPLATE_LIST_TEST_CASE("a permutation has every number once", "[random_permutation]", tenon_test::spaces) {
  for (const tenon::index count : {0, 1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 1000, 4097}) {
    auto values = numbers_of<TestType>(tenon::permutation(count, 7));
    std::vector<double> expected;
    for (tenon::index i = 0; i < count; ++i) expected.push_back(static_cast<double>(i));
    CHECK((count < 10 || values != expected));
    std::sort(values.begin(), values.end());
    CHECK(values == expected);
  }
}

TEST_CASE("permutations of four come equally often, and so does each place in longer ones", "[random_permutation]") {
  std::map<std::vector<double>, double> found;
  std::vector<double> images(13, 0.0), pairs(13 * 13, 0.0);
  for (std::uint64_t seed = 0; seed < 24000; ++seed) {
    found[numbers_of(tenon::permutation(4, seed))] += 1;
    if (seed % 2 == 0) {
      const auto values = numbers_of(tenon::slice(tenon::permutation(13, seed), tenon::range(5, 7)));
      images[static_cast<std::size_t>(values[0])] += 1;
      pairs[static_cast<std::size_t>(values[0] * 13 + values[1])] += 1;
    }
  }
  REQUIRE(found.size() == 24);
  std::vector<double> counts, apart;
  for (const auto& [permutation, count] : found) counts.push_back(count);
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    if (pair % 14 != 0) apart.push_back(pairs[pair]);  // two places never have the same number
    else CHECK(pairs[pair] == 0);
  }
  CHECK(std::fabs(chi_square(counts)) < 4);
  CHECK(std::fabs(chi_square(images)) < 4);
  CHECK(std::fabs(chi_square(apart)) < 4);
}

TEST_CASE("permutations of more numbers than the element type holds are refused", "[random_permutation]") {
  CHECK(numbers_of(tenon::permutation<std::int8_t>(128, 1)).size() == 128);
  CHECK(text_of<tenon::dtype_error>([] { tenon::permutation<std::int8_t>(129, 1); }) ==
        "permutation: number 128, expected -128 to 127 (elements of int8)");
  CHECK(numbers_of(tenon::permutation<std::uint8_t>(0, 1)).empty());
}
