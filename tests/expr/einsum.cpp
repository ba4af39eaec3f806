// tests/expr/einsum.cpp: sums of products written in letters, in every space.
// The reference reads the same text at run time and loops over all letters in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/einsum.hpp>

#include <map>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::einsum;
using tenon::rank;
using tenon::shape;
using tenon_test::difference;
using tenon_test::extents_of;
using tenon_test::numbers_of;
using tenon_test::text_of;
using numbers = std::vector<double>;

const std::map<char, tenon::index> letter_extents{{'a', 3}, {'b', 2}, {'i', 4}, {'j', 5}, {'k', 3}, {'l', 1}, {'z', 0}};

/// The place of a position, given letter by letter, in a tensor of the letters of `term`.
std::size_t place_of(const std::string& term, const std::map<char, tenon::index>& position) {
  tenon::index place = 0;
  for (const char letter : term) place = place * letter_extents.at(letter) + position.at(letter);
  return static_cast<std::size_t>(place);
}

tenon::index count_of(const std::string& term) {
  tenon::index count = 1;
  for (const char letter : term) count *= letter_extents.at(letter);
  return count;
}

/// The definition: every position of every letter adds one product.
numbers definition(const std::vector<std::string>& terms, const std::string& output,
                   const std::vector<numbers>& operands) {
  std::string letters;
  for (const auto& term : terms) {
    for (const char letter : term) letters += letters.find(letter) == std::string::npos ? std::string(1, letter) : "";
  }
  numbers result(static_cast<std::size_t>(count_of(output)), 0.0);
  for (tenon::index number = 0; number < count_of(letters); ++number) {
    std::map<char, tenon::index> position;
    tenon::index rest = number;
    for (const char letter : letters) {
      position[letter] = rest % letter_extents.at(letter);
      rest /= letter_extents.at(letter);
    }
    double product = 1;
    for (std::size_t i = 0; i < terms.size(); ++i) product *= operands[i][place_of(terms[i], position)];
    result[place_of(output, position)] += product;
  }
  return result;
}

template <class T, class Space, std::size_t Size>
auto random_operand(const char (&term)[Size], std::uint64_t seed) {
  tenon::array<tenon::index, static_cast<int>(Size) - 1> extents{};
  for (std::size_t axis = 0; axis + 1 < Size; ++axis)
    extents[static_cast<tenon::index>(axis)] = letter_extents.at(term[axis]);
  const rank<static_cast<int>(Size) - 1> shape_of_operand(extents);
  return tenon_test::tensor_of<Space>(
      shape_of_operand, tenon_test::random_values<T>(static_cast<std::size_t>(shape_of_operand.count()), seed));
}

/// Compares `einsum<Text>` of random operands of the terms with the definition.
template <tenon::einsum_text Text, class Space, std::size_t... Sizes>
void check_terms(const std::string& output, const char (&... terms)[Sizes]) {
  CAPTURE(Text.characters);
  const auto compare = [&](const auto&... operands) {
    const auto expected = definition({terms...}, output, {numbers_of(operands)...});
    const auto result = einsum<Text>(operands...);
    CHECK(difference(numbers_of(result), expected, 1e-5) == "");
    std::vector<tenon::index> extents;
    for (const char letter : output) extents.push_back(letter_extents.at(letter));
    CHECK(extents_of(result) == extents);
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    compare(random_operand<float, Space>(terms, I + 1)...);
  }(std::make_index_sequence<sizeof...(Sizes)>{});
}

template <class Node>
constexpr int kernels_of(const Node&) {
  return tenon::kernel_count<Node>;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("einsum of one operand", "[einsum]", tenon_test::spaces) {
  using space = TestType;
  check_terms<"->", space>("", "");
  check_terms<"ij->ij", space>("ij", "ij");
  check_terms<"ij->ji", space>("ji", "ij");
  check_terms<"abij->jbia", space>("jbia", "abij");
  check_terms<"ij->i", space>("i", "ij");
  check_terms<"ij->j", space>("j", "ij");
  check_terms<"abij->ja", space>("ja", "abij");
  check_terms<"ij->", space>("", "ij");
  check_terms<"ii->i", space>("i", "ii");
  check_terms<"ii->", space>("", "ii");
  check_terms<"iji->ji", space>("ji", "iji");
  check_terms<"aiaia->i", space>("i", "aiaia");
  check_terms<"iz->i", space>("i", "iz");
  check_terms<"zi->iz", space>("iz", "zi");
}

TEMPLATE_LIST_TEST_CASE("einsum of two operands", "[einsum]", tenon_test::spaces) {
  using space = TestType;
  check_terms<"ij,jk->ik", space>("ik", "ij", "jk");
  check_terms<"ij,jk->ki", space>("ki", "ij", "jk");
  check_terms<"ji,kj->ik", space>("ik", "ji", "kj");
  check_terms<"bij,bjk->bik", space>("bik", "bij", "bjk");
  check_terms<"ijb,jkb->ikb", space>("ikb", "ijb", "jkb");
  check_terms<"abij,jk->abik", space>("abik", "abij", "jk");
  check_terms<"abij,ijk->abk", space>("abk", "abij", "ijk");
  check_terms<"aibj,jkil->lakb", space>("lakb", "aibj", "jkil");
  check_terms<"i,j->ij", space>("ij", "i", "j");
  check_terms<"ij,k->kji", space>("kji", "ij", "k");
  check_terms<"ij,ij->ij", space>("ij", "ij", "ij");
  check_terms<"ij,ji->", space>("", "ij", "ji");
  check_terms<"bij,bij->b", space>("b", "bij", "bij");
  check_terms<"ij,j->i", space>("i", "ij", "j");
  check_terms<"j,ij->i", space>("i", "j", "ij");
  check_terms<"ija,jkb->ik", space>("ik", "ija", "jkb");
  check_terms<"iij,jkk->ik", space>("ik", "iij", "jkk");
  check_terms<"i,->i", space>("i", "i", "");
  check_terms<"iz,zj->ij", space>("ij", "iz", "zj");
}

TEMPLATE_LIST_TEST_CASE("einsum of more operands folds from the left", "[einsum]", tenon_test::spaces) {
  using space = TestType;
  check_terms<"ij,jk,kl->il", space>("il", "ij", "jk", "kl");
  check_terms<"ai,bi,ij->abj", space>("abj", "ai", "bi", "ij");
  check_terms<"i,j,k,a->", space>("", "i", "j", "k", "a");
  check_terms<"bi,ijk,bj->bk", space>("bk", "bi", "ijk", "bj");
}

TEMPLATE_LIST_TEST_CASE("without an arrow the result is what NumPy makes it", "[einsum]", tenon_test::spaces) {
  using space = TestType;
  check_terms<"ij,jk", space>("ik", "ij", "jk");
  check_terms<"ki,ij", space>("jk", "ki", "ij");
  check_terms<"ba", space>("ab", "ba");
  check_terms<"ii", space>("", "ii");
  check_terms<" i j , j k -> k i ", space>("ki", "ij", "jk");
}

TEMPLATE_LIST_TEST_CASE("an ellipsis stands for further axes, which broadcast", "[einsum]", tenon_test::spaces) {
  const auto a = tenon_test::counting<double, TestType>(rank<4>(2, 3, 4, 5));
  const auto b = tenon_test::counting<double, TestType>(rank<3>(3, 5, 2));
  const auto c = tenon_test::counting<double, TestType>(rank<4>(2, 1, 5, 2));
  const auto expected = numbers_of(tenon::matmul(a, b));
  CHECK(numbers_of(einsum<"...ij,...jk->...ik">(a, b)) == expected);
  CHECK(numbers_of(einsum<"...ij,...jk">(a, b)) == expected);
  CHECK(numbers_of(einsum<"...ij,...jk->...ik">(a, c)) == numbers_of(tenon::matmul(a, c)));
  CHECK(numbers_of(einsum<"...j->...">(a)) == numbers_of(tenon::sum(a, tenon::axis<-1>)));
  CHECK(numbers_of(einsum<"i...->...i">(b)) == numbers_of(tenon::permute(b, tenon::axis<1, 2, 0>)));
}

TEST_CASE("two operands are one kernel, prologue and epilogue included", "[einsum]") {
  const tenon::tensor<float, rank<4>> a({2, 3, 4, 5});
  const tenon::tensor<float, rank<3>> b({4, 5, 6});
  CHECK(kernels_of(einsum<"abij,ijk->kab">(a * 2, b)) == 1);
  CHECK(kernels_of(tenon::relu(einsum<"abij,ijk->abk">(a, b) + 1)) == 1);
  CHECK(kernels_of(einsum<"abij->jiba">(a) + 1) == 1);
}

TEST_CASE("static extents and element types go through an einsum", "[einsum]") {
  const tenon::tensor<tenon::half, shape<2, 3, 3>> a;
  const tenon::tensor<float, shape<3, 4>> b;
  using node = decltype(einsum<"bii,ik->kb">(a, b));
  STATIC_REQUIRE(std::is_same_v<node::shape_type, shape<4, 2>>);
  STATIC_REQUIRE(std::is_same_v<node::element, float>);
  STATIC_REQUIRE(std::is_same_v<decltype(einsum<"bii->b">(a))::element, tenon::half>);
}

TEST_CASE("diagonals of expressions, of parts and of temporaries", "[einsum]") {
  const auto a = tenon_test::counting<double>(rank<2>(3, 3));
  CHECK(numbers_of(einsum<"ii->i">(a * 2)) == numbers{0, 8, 16});
  CHECK(numbers_of(einsum<"ii->i">(tenon_test::counting<double>(rank<2>(3, 3)))) == numbers{0, 4, 8});
  CHECK(numbers_of(einsum<"ii->i">(tenon::slice(a, tenon::range(0, 2), tenon::range(1, 3)))) == numbers{1, 5});
}

TEST_CASE("axes of one letter must have one extent", "[einsum]") {
  const tenon::tensor<float, rank<2>> a({2, 3}), b({4, 5});
  CHECK(text_of<tenon::shape_error>([&] { einsum<"ij,jk->ik">(a, b); }) ==
        "einsum: letter j of ij,jk->ik: extents 3 and 4 differ (operands [2, 3] and [4, 5])");
  CHECK(text_of<tenon::shape_error>([&] { einsum<"ii">(a); }) ==
        "einsum: letter i of ii: extents 2 and 3 differ (operand [2, 3])");
  CHECK(text_of<tenon::shape_error>([&] { einsum<"...i,...k">(a, b); }) ==
        "einsum: letter . of ...i,...k: extents 2 and 4 differ (operands [2, 3] and [4, 5])");
  const tenon::tensor<float, rank<1>> v({2});
  CHECK(text_of<tenon::shape_error>([&] { einsum<"i,j,ik->k">(v, v, b); }) ==
        "einsum: letter i of i,j,ik->k: extents 2 and 4 differ (operands [2], [2] and [4, 5])");
}
