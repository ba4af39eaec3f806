// tests/data/combinators.cpp: data sets made of others.
// Numbers are passed on rightly, with the epoch, to data sets that have a name and to temporary ones.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/combinators.hpp>

#include <algorithm>

#include "support/text_of.hpp"

namespace data = tenon::data;

namespace {

/// Example i is 1000 * epoch + first + i.
struct counting {
  using batch_type = std::vector<tenon::index>;
  tenon::index first = 0, count = 0;

  tenon::index size() const { return count; }
  batch_type make_batch(tenon::index n) const { return batch_type(static_cast<std::size_t>(n)); }
  void copy_example(data::example_id id, batch_type& batch, tenon::index place) const {
    batch[static_cast<std::size_t>(place)] = 1000 * id.epoch + first + id.number;
  }
};

template <data::dataset Dataset>
std::vector<tenon::index> all_of_dataset(const Dataset& examples) {
  auto batch = examples.make_batch(examples.size());
  for (tenon::index i = 0; i < examples.size(); ++i) examples.copy_example(data::example_id(i, 2), batch, i);
  return batch;
}

}  // namespace

TEST_CASE("a subset is the examples of its numbers", "[combinators]") {
  const counting examples{10, 5};
  CHECK(all_of_dataset(data::subset(examples, {4, 0, 4})) == std::vector<tenon::index>{2014, 2010, 2014});
  CHECK(all_of_dataset(data::subset(counting{20, 2}, {1})) == std::vector<tenon::index>{2021});
  STATIC_REQUIRE(std::is_same_v<decltype(data::subset(examples, {})), data::subset<const counting&>>);
  STATIC_REQUIRE(std::is_same_v<decltype(data::subset(counting{}, {})), data::subset<counting>>);
  CHECK(tenon_test::text_of<tenon::index_error>([&] { data::subset(examples, {0, 5}); }) ==
        "subset: number 1: example 5, expected at least 0 and below 5");
  CHECK(tenon_test::has(tenon_test::text_of<tenon::index_error>([&] { data::subset(examples, {-1}); }), "example -1"));
}

TEST_CASE("data sets follow one another", "[combinators]") {
  const counting first{10, 2}, empty{0, 0};
  CHECK(all_of_dataset(data::concatenated(first, empty, counting{20, 3}, first)) ==
        std::vector<tenon::index>{2010, 2011, 2020, 2021, 2022, 2010, 2011});
}

TEST_CASE("a random split gives every example to one part", "[combinators]") {
  const counting examples{0, 11};
  const auto [training, validation, rest] = data::random_split(examples, {0.5, 0.25, 0.25}, 3);
  CHECK(training.size() == 6);  // 5.5, 2.75 and 2.75: two are left
  CHECK(validation.size() == 3);
  CHECK(rest.size() == 2);
  std::vector<tenon::index> all;
  for (const auto* part : {&training, &validation, &rest}) {
    all.insert(all.end(), part->numbers().begin(), part->numbers().end());
  }
  CHECK(!std::is_sorted(all.begin(), all.end()));
  std::sort(all.begin(), all.end());
  CHECK(all == data::sequential_order(11));
  CHECK(data::random_split(examples, {4, 7}, 3)[1].size() == 7);
  CHECK(data::random_split(examples, {4, 7}, 3)[1].numbers() == data::random_split(examples, {4, 7}, 3)[1].numbers());
  CHECK(data::random_split(examples, {4, 7}, 3)[1].numbers() != data::random_split(examples, {4, 7}, 4)[1].numbers());
}

TEST_CASE("shares that are not the whole are refused", "[combinators]") {
  const counting examples{0, 11};
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { data::random_split(examples, {4, 6}); }) ==
        "random_split: shares that sum to 10, expected at least 0 each, and 11 together");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { data::random_split(examples, {0.5, 0.4}); }) ==
        "random_split: shares that sum to 0.9, expected at least 0 each, and 1 together");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { data::random_split(examples, {-1, 12}); }) ==
        "random_split: shares that sum to 11, expected at least 0 each, and 11 together");
}
