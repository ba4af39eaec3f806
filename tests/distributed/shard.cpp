// tests/distributed/shard.cpp: the parts of all ranks are the batches of one process.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tenon/data/loader.hpp>
#include <tenon/distributed/shard.hpp>

#include "support/text_of.hpp"

namespace {

using tenon::distributed::shard;

/// Numbers 0, 1, 2, ...; a batch lists those that it was given.
struct counted_examples {
  using batch_type = std::vector<tenon::index>;
  tenon::index count;
  tenon::index size() const { return count; }
  batch_type make_batch(tenon::index n) const { return batch_type(static_cast<std::size_t>(n)); }
  void copy_example(tenon::index i, batch_type& batch, tenon::index place) const {
    batch[static_cast<std::size_t>(place)] = i;
  }
};

using batch_list = std::vector<std::vector<tenon::index>>;

template <class Dataset>
batch_list batches_of_epoch(const Dataset& examples, const tenon::data::loader_options& options, tenon::index epoch) {
  tenon::data::loader<Dataset> loader(examples, options);
  batch_list result;
  for (const auto& batch : loader.epoch(epoch)) result.push_back(batch);
  return result;
}

}  // namespace

TEST_CASE("the parts of all ranks, one behind another, are the batches of a loader", "[shard]") {
  for (const tenon::index count : {0, 1, 3, 12, 13, 14, 23}) {
    for (const int ranks : {1, 2, 3}) {
      CAPTURE(count, ranks);
      const counted_examples examples{count};
      auto expected = batches_of_epoch(examples, {.batch = 6, .shuffle = true, .seed = 5}, 4);
      if (!expected.empty() && static_cast<int>(expected.back().size()) < ranks) expected.pop_back();
      batch_list joined(expected.size());
      for (int rank = 0; rank < ranks; ++rank) {
        const shard part(examples, {.batch = 6, .rank = rank, .ranks = ranks, .shuffle = true, .seed = 5, .epoch = 4});
        CHECK(part.batch() == 6 / ranks);
        CHECK(part.batches_in_epoch() == static_cast<tenon::index>(expected.size()));
        const auto batches = batches_of_epoch(part, {.batch = part.batch()}, 0);
        REQUIRE(batches.size() == expected.size());
        for (std::size_t i = 0; i < batches.size(); ++i) {
          joined[i].insert(joined[i].end(), batches[i].begin(), batches[i].end());
        }
      }
      CHECK(joined == expected);
    }
  }
}

TEST_CASE("a shard may begin in mid-epoch", "[shard]") {
  const counted_examples examples{10};
  const shard part(examples, {.batch = 4, .rank = 1, .ranks = 2, .first_batch = 1});
  CHECK(batches_of_epoch(part, {.batch = 2}, 0) == batch_list{{6, 7}, {9}});
  CHECK(part.batches_in_epoch() == 3);
  const shard behind(examples, {.batch = 4, .first_batch = 3});
  CHECK(behind.size() == 0);
}

TEST_CASE("a shard's examples are those of its epoch", "[shard]") {
  struct epochs : counted_examples {
    void copy_example(const tenon::data::example_id& id, batch_type& batch, tenon::index place) const {
      batch[static_cast<std::size_t>(place)] = id.epoch;
    }
  };
  const epochs examples{{4}};
  const shard part(examples, {.batch = 2, .epoch = 3});
  CHECK(batches_of_epoch(part, {.batch = 2}, 0) == batch_list{{3, 3}, {3, 3}});
}

TEST_CASE("batches that cannot be shared out are refused", "[shard]") {
  const counted_examples examples{10};
  const auto text = [&](const tenon::distributed::shard_options& options) {
    return tenon_test::text_of<tenon::shape_error>([&] { shard(examples, options); });
  };
  CHECK(text({.batch = 5, .ranks = 2}) == "shard: batch 5, expected a multiple of the 2 ranks that share it");
  CHECK(text({.batch = 0}) == "shard: batch 0, expected a multiple of the 1 ranks that share it");
  CHECK(text({.batch = 4, .rank = 2, .ranks = 2}) == "shard: rank 2 of 2, expected one below");
}
