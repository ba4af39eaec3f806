// tests/expr/attention.cpp: what scaled_dot_product_attention means.
// Against the same statement in words of softmax and matmul, which is two or three kernels.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/attention.hpp>
#include <tenon/tenon.hpp>

#include "contraction/attentions.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon::rank;
using tenon::scaled_dot_product_attention;
using tenon_test::attention_difference;
using tenon_test::numbers_of;

namespace {

template <class Space, class Shape>
auto attention_operand(const Shape& extents, std::uint64_t seed) {
  return tenon::tensor<float, Shape, Space>(tenon::uniform<float>(extents, seed, -1.0f, 1.0f));
}

/// The definition, for scores with `added` to them.
template <class Query, class Key, class Value, class Added>
auto attention_defined(const Query& query, const Key& key, const Value& value, const Added& added) {
  const float scale = 1 / std::sqrt(static_cast<float>(query.extent(Query::rank - 1)));
  return tenon::matmul(tenon::softmax(tenon::matmul(query, tenon::transpose(key)) * scale + added, tenon::axis<-1>),
                       value);
}

template <class Actual, class Expected>
std::string attention_error(const Actual& actual, const Expected& expected) {
  return attention_difference(numbers_of(actual), numbers_of(expected), 2e-6);
}

constexpr float unbounded = std::numeric_limits<float>::infinity();

}  // namespace

TEMPLATE_LIST_TEST_CASE("batches repeat as in matmul", "[attention]", tenon_test::spaces) {
  const auto query = attention_operand<TestType>(rank<4>(2, 3, 5, 8), 1);
  const auto key = attention_operand<TestType>(rank<3>(3, 7, 8), 2);
  const auto value = attention_operand<TestType>(rank<4>(2, 1, 7, 4), 3);
  CHECK(attention_error(scaled_dot_product_attention(query, key, value), attention_defined(query, key, value, 0.0f)) ==
        "");
  const auto alone = attention_operand<TestType>(tenon::shape<5, 8>{}, 4);
  const auto result = scaled_dot_product_attention(alone, key, attention_operand<TestType>(tenon::shape<7, 2>{}, 5));
  STATIC_REQUIRE(std::is_same_v<typename decltype(result)::shape_type, tenon::shape<tenon::dyn, 5, 2>>);
  CHECK(attention_error(
            result, attention_defined(alone, key, attention_operand<TestType>(tenon::shape<7, 2>{}, 5), 0.0f)) == "");
}

TEMPLATE_LIST_TEST_CASE("masks are expressions that repeat over scores", "[attention]", tenon_test::spaces) {
  const auto query = attention_operand<TestType>(rank<3>(2, 5, 8), 1),
             key = attention_operand<TestType>(rank<3>(2, 5, 8), 2);
  const auto value = attention_operand<TestType>(rank<3>(2, 5, 3), 3),
             added = attention_operand<TestType>(rank<3>(2, 5, 5), 4);
  const auto row = attention_operand<TestType>(rank<1>(5), 5);
  CHECK(attention_error(scaled_dot_product_attention(query, key, value, added),
                        attention_defined(query, key, value, added)) == "");
  CHECK(attention_error(scaled_dot_product_attention(query, key, value, row),
                        attention_defined(query, key, value, row)) == "");
  const auto is_seen = added > -0.5f;
  CHECK(attention_error(scaled_dot_product_attention(query, key, value, is_seen),
                        attention_defined(query, key, value, tenon::where(is_seen, 0.0f, -unbounded))) == "");
  const auto before = tenon::tril(tenon::ones_like(added)) > 0;
  CHECK(numbers_of(scaled_dot_product_attention(query, key, value, before)) ==
        numbers_of(scaled_dot_product_attention(query, key, value, {.is_causal = true})));
}

/// The launches of a statement, and how far its result is from that of the definition.
template <class Space, class Statement, class Expected>
std::string check_attention_launches(const Statement& statement, const Expected& expected, int launches) {
  tenon::tensor<float, rank<3>, Space> result;
  const tenon::launch_counter counter;
  result = statement;
  CHECK(counter.count() == launches);
  CHECK(tenon::kernel_count<Statement> == launches);
  return attention_error(result, expected);
}

TEMPLATE_LIST_TEST_CASE("attention is one kernel with what is around it", "[attention]", tenon_test::spaces) {
  const auto query = attention_operand<TestType>(rank<3>(2, 5, 8), 1),
             key = attention_operand<TestType>(rank<3>(2, 6, 8), 2);
  const auto value = attention_operand<TestType>(rank<3>(2, 6, 4), 3),
             residual = attention_operand<TestType>(rank<3>(2, 5, 4), 4);
  const auto added = attention_operand<TestType>(rank<2>(5, 6), 5),
             weight = attention_operand<TestType>(rank<2>(8, 8), 6);
  CHECK(check_attention_launches<TestType>(
            tenon::relu(scaled_dot_product_attention(query * 2, tenon::exp(key), value + 1, added * 3)) + residual,
            tenon::relu(attention_defined(tenon::evaluated_tensor(query * 2), tenon::evaluated_tensor(tenon::exp(key)),
                                          tenon::evaluated_tensor(value + 1), added * 3)) +
                residual,
            1) == "");
  CHECK(check_attention_launches<TestType>(
            scaled_dot_product_attention(tenon::matmul(query, weight), key, value),
            attention_defined(tenon::evaluated_tensor(tenon::matmul(query, weight)), key, value, 0.0f), 2) == "");
}

TEMPLATE_LIST_TEST_CASE("heads may lie anywhere", "[attention]", tenon_test::spaces) {
  const auto query = attention_operand<TestType>(rank<4>(2, 5, 3, 8), 1);  // batch, position, head, feature
  const auto key = attention_operand<TestType>(rank<4>(2, 7, 3, 8), 2),
             value = attention_operand<TestType>(rank<4>(2, 7, 3, 4), 3);
  const auto heads = [](const auto& x) { return tenon::permute(x, tenon::axis<0, 2, 1, 3>); };
  const auto whole = [&](const auto& x) { return tenon::evaluated_tensor(heads(x)); };
  tenon::tensor<float, rank<4>, TestType> result(rank<4>(2, 5, 3, 4));
  tenon::permute(result, tenon::axis<0, 2, 1, 3>) =
      scaled_dot_product_attention(heads(query), heads(key), heads(value));
  CHECK(attention_error(heads(result), attention_defined(whole(query), whole(key), whole(value), 0.0f)) == "");
}

TEMPLATE_LIST_TEST_CASE("queries share the keys of a group", "[attention]", tenon_test::spaces) {
  const auto query = attention_operand<TestType>(rank<4>(2, 6, 5, 8), 1);  // six heads of queries, two of keys
  const auto key = attention_operand<TestType>(rank<4>(2, 2, 7, 8), 2),
             value = attention_operand<TestType>(rank<4>(2, 2, 7, 4), 3);
  const auto grouped = scaled_dot_product_attention(tenon::reshape(query, rank<5>(2, 2, 3, 5, 8)),
                                                    tenon::new_axis<2>(key), tenon::new_axis<2>(value));
  const auto repeated = [](const auto& x) { return tenon::evaluated_tensor(tenon::repeat(x, 3, tenon::axis<1>)); };
  CHECK(attention_error(grouped, attention_defined(query, repeated(key), repeated(value), 0.0f)) == "");
}

TEMPLATE_LIST_TEST_CASE("weights are left out as bernoulli draws them", "[attention]", tenon_test::spaces) {
  const auto query = attention_operand<TestType>(rank<3>(2, 5, 8), 1);
  const auto key = attention_operand<TestType>(rank<3>(2, 70, 8), 2);
  const auto value = attention_operand<TestType>(rank<3>(2, 70, 3), 3);
  const auto added = attention_operand<TestType>(rank<2>(5, 70), 4);
  const tenon::attention_dropout dropout{.p = 0.25, .seed = 9};
  const auto kept = tenon::where(tenon::bernoulli<bool>(rank<3>(2, 5, 70), 9, 0.75), 1 / 0.75f, 0.0f);
  const auto weights =
      tenon::softmax(tenon::matmul(query, tenon::transpose(key)) / std::sqrt(8.0f) + added, tenon::axis<-1>);
  const auto expected = tenon::matmul(weights * kept, value);
  CHECK(check_attention_launches<TestType>(scaled_dot_product_attention(query, key, value, added, {}, dropout),
                                           expected, 1) == "");
  const auto none = tenon::attention_dropout{};
  CHECK(numbers_of(scaled_dot_product_attention(query, key, value, {}, none)) ==
        numbers_of(scaled_dot_product_attention(query, key, value)));
  const auto few = tenon::narrow(query, tenon::axis<1>, 0, 1);
  CHECK(attention_error(
            scaled_dot_product_attention(few, key, value, {}, dropout),
            tenon::matmul(tenon::softmax(tenon::matmul(few, tenon::transpose(key)) / std::sqrt(8.0f), tenon::axis<-1>) *
                              tenon::where(tenon::bernoulli<bool>(rank<3>(2, 1, 70), 9, 0.75), 1 / 0.75f, 0.0f),
                          value)) == "");
  CHECK(tenon_test::text_of<tenon::error>([&] {
          scaled_dot_product_attention(query, key, value, {}, tenon::attention_dropout{.p = 1});
        }) == "scaled_dot_product_attention: dropout 1, expected at least 0 and below 1");
}

TEMPLATE_LIST_TEST_CASE("queries without keys, NaN and infinities", "[attention]", tenon_test::spaces) {
  const auto query = attention_operand<TestType>(rank<2>(3, 4), 1),
             key = attention_operand<TestType>(rank<2>(70, 4), 2);
  const auto value = attention_operand<TestType>(rank<2>(70, 2), 3);
  const auto none = scaled_dot_product_attention(query, key, value, {.is_causal = true, .first_query = -2});
  const auto some = numbers_of(none);
  CHECK(std::vector<double>(some.begin(), some.begin() + 4) == std::vector<double>(4, 0));
  CHECK(some[4] == numbers_of(value)[0]);
  const auto empty = attention_operand<TestType>(rank<2>(0, 4), 1);
  CHECK(numbers_of(scaled_dot_product_attention(query, empty, attention_operand<TestType>(rank<2>(0, 2), 1))) ==
        std::vector<double>(6, 0));
  CHECK(numbers_of(scaled_dot_product_attention(empty, key, value)).empty());
  const auto featureless = attention_operand<TestType>(rank<2>(3, 0), 1);
  const auto means =
      numbers_of(scaled_dot_product_attention(featureless, attention_operand<TestType>(rank<2>(70, 0), 2), value));
  const auto mean = numbers_of(tenon::mean(value, tenon::axis<0>));
  for (std::size_t i = 0; i < 6; ++i) CHECK(std::fabs(means[i] - mean[i % 2]) < 1e-6);
  auto spoilt = attention_operand<tenon::host>(rank<2>(3, 4), 1);
  spoilt(1, 0) = std::numeric_limits<float>::quiet_NaN();
  const auto result = numbers_of(scaled_dot_product_attention(spoilt.template to<TestType>(), key, value));
  const auto clean = numbers_of(scaled_dot_product_attention(query, key, value));
  for (std::size_t i = 0; i < 6; ++i) CHECK((i / 2 == 1 ? std::isnan(result[i]) : result[i] == clean[i]));
  auto key_of_nan = attention_operand<tenon::host>(rank<2>(70, 4), 2);
  key_of_nan(0, 0) = std::numeric_limits<float>::quiet_NaN();
  const auto only_first = tenon::iota<int>(rank<1>(70)) < 1;
  for (const double each :
       numbers_of(scaled_dot_product_attention(query, key_of_nan.template to<TestType>(), value, only_first))) {
    CHECK(std::isnan(each));
  }
  const auto large = numbers_of(scaled_dot_product_attention(query * 1e4f, key, value));
  for (const double each : large) CHECK(std::isfinite(each));
}

TEST_CASE("extents that do not fit are refused", "[attention]") {
  const auto query = attention_operand<tenon::host>(rank<3>(2, 5, 8), 1),
             key = attention_operand<tenon::host>(rank<3>(2, 6, 7), 2);
  const auto fitting = attention_operand<tenon::host>(rank<3>(2, 6, 8), 2),
             value = attention_operand<tenon::host>(rank<3>(2, 5, 8), 3);
  const auto text = [](const auto& body) { return tenon_test::text_of<tenon::shape_error>(body); };
  CHECK(text([&] { scaled_dot_product_attention(query, key, value); }) ==
        "scaled_dot_product_attention: key, axis 2: extent 7, expected 8 as of queries (query [2, 5, 8], key [2, 6, "
        "7])");
  CHECK(text([&] { scaled_dot_product_attention(query, fitting, value); }) ==
        "scaled_dot_product_attention: value, axis 1: extent 5, expected 6 as of keys (key [2, 6, 8], value [2, 5, "
        "8])");
  CHECK(text([&] {
          scaled_dot_product_attention(query, fitting, fitting, attention_operand<tenon::host>(rank<2>(5, 5), 1));
        }) == "scaled_dot_product_attention: mask, axis 1: extent 5, expected 6 keys or 1 (mask [5, 5])");
  CHECK(text([&] {
          scaled_dot_product_attention(query, fitting, fitting, attention_operand<tenon::host>(rank<2>(2, 6), 1));
        }) == "scaled_dot_product_attention: mask, axis 0: extent 2, expected 5 queries or 1 (mask [2, 6])");
  CHECK(text([&] {
          scaled_dot_product_attention(query, attention_operand<tenon::host>(rank<3>(3, 6, 8), 1), fitting);
        }) ==
        "scaled_dot_product_attention: axis 0: extents 2 and 3 differ, expected equal or one of them 1 (operands [2] "
        "and [3])");
}

TEST_CASE("options of attention are doubles, and numbers", "[attention]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<double>(rank<2>(3, 4), 1, -1.0f, 1.0f));
  const auto capped = [&](double cap) { return numbers_of(scaled_dot_product_attention(x, x, x, {.softcap = cap})); };
  const double cap = 0.3;
  const auto scores = cap * tenon::tanh(tenon::matmul(x, tenon::transpose(x)) * (0.5 / cap));
  CHECK(attention_difference(capped(cap), numbers_of(tenon::matmul(tenon::softmax(scores, tenon::axis<-1>), x)),
                             1e-14) == "");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(tenon_test::text_of<tenon::error>([&] { capped(-1); }) ==
        "scaled_dot_product_attention: softcap -1, expected a number above 0, or 0 for none");
  CHECK_THROWS_AS(capped(nan), tenon::error);
  CHECK(tenon_test::text_of<tenon::error>([&] { scaled_dot_product_attention(x, x, x, {.scale = nan}); }) ==
        "scaled_dot_product_attention: scale NaN, expected a number, or 0 for 1 / sqrt(features)");
}
