// tests/data/tensor_dataset.cpp: examples that lie in memory.
// Parts of tensors and windows of tokens come to their places; what does not fit together is refused.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/tensor_dataset.hpp>

#include <tenon/data/loader.hpp>
#include <tenon/expressions.hpp>

#include "support/text_of.hpp"

namespace data = tenon::data;

namespace {

tenon::tensor<std::int64_t, tenon::rank<1>> tokens_up_to(tenon::index count) {
  tenon::tensor<std::int64_t, tenon::rank<1>> tokens({count});
  for (tenon::index i = 0; i < count; ++i) tokens(i) = 10 + i;
  return tokens;
}

}  // namespace

TEST_CASE("a batch is a tuple of parts of the tensors", "[tensor_dataset]") {
  tenon::tensor<float, tenon::shape<5, 2, tenon::dyn>> x(tenon::shape<5, 2, tenon::dyn>(5, 2, 3));
  for (tenon::index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
  const data::tensor_dataset examples(std::move(x), tokens_up_to(5));
  STATIC_REQUIRE(data::dataset<std::remove_const_t<decltype(examples)>>);
  data::loader loader(examples, {.batch = 2});
  tenon::index number = 0;
  for (const auto& [inputs, labels] : loader.epoch(0)) {
    STATIC_REQUIRE(std::is_same_v<typename std::remove_cvref_t<decltype(inputs)>::shape_type,
                                  tenon::shape<tenon::dyn, 2, tenon::dyn>>);
    REQUIRE(inputs.extent(0) == labels.extent(0));
    for (tenon::index place = 0; place < labels.extent(0); ++place, ++number) {
      CHECK(labels(place) == 10 + number);
      for (tenon::index i = 0; i < 6; ++i) {
        CHECK(inputs(place, i / 3, i % 3) == static_cast<float>(number * 6 + i));
      }
    }
  }
  CHECK(number == 5);
}

TEST_CASE("tensors of unequally many examples are refused", "[tensor_dataset]") {
  CHECK(tenon_test::text_of<tenon::shape_error>([] {
          const data::tensor_dataset refused(tokens_up_to(4), tokens_up_to(4), tokens_up_to(5));
        }) == "tensor_dataset: tensor 2: axis 0: extent 5, expected 4 as of the first");
  CHECK(data::tensor_dataset(tokens_up_to(0)).size() == 0);
}

TEST_CASE("of expressions and views a data set keeps the values", "[tensor_dataset]") {
  auto tokens = tokens_up_to(3);
  const data::tensor_dataset examples(tokens * 2, tokens.view(), tenon::arange<float>(0, 3));
  tokens(1) = 0;
  auto batch = examples.make_batch(1);
  examples.copy_example(1, batch, 0);
  CHECK(std::get<0>(batch)(0) == 22);
  CHECK(std::get<1>(batch)(0) == 11);
  CHECK(std::get<2>(batch)(0) == 1);
}

TEST_CASE("windows of tokens come with the tokens that follow", "[tensor_dataset]") {
  const data::token_windows windows(tokens_up_to(11), {.length = 3, .stride = 2});
  REQUIRE(windows.size() == 4);  // from 0, 2, 4, 6; the last one ends at 9, and its targets at 10
  auto batch = windows.make_batch(2);
  windows.copy_example(3, batch, 1);
  const auto& [inputs, targets] = batch;
  CHECK(inputs.shape() == tenon::rank<2>(2, 3));
  for (tenon::index i = 0; i < 3; ++i) {
    CHECK(inputs(1, i) == 16 + i);
    CHECK(targets(1, i) == 17 + i);
  }
}

TEST_CASE("as many windows as fit", "[tensor_dataset]") {
  const auto count = [](tenon::index tokens, tenon::index length, tenon::index stride) {
    return data::token_windows(tokens_up_to(tokens), {.length = length, .stride = stride}).size();
  };
  CHECK(count(9, 4, 0) == 2);
  CHECK(count(8, 4, 0) == 1);
  CHECK(count(5, 4, 1) == 1);
  CHECK(count(4, 4, 1) == 0);
  CHECK(count(0, 4, 1) == 0);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { count(9, 0, 0); }) ==
        "token_windows: length 0, stride 0, expected at least 1 and 0");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { count(9, 2, -1); }) ==
        "token_windows: length 2, stride -1, expected at least 1 and 0");
}
