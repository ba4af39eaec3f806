// tests/data/loader.cpp: batches made ahead of their use.
// Order and content must not depend on the number of workers or on their timing, and nothing may hang.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/loader.hpp>

#include <atomic>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <tenon/data/weighted_sampler.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/train/checkpoint.hpp>

#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

namespace data = tenon::data;

namespace {

/// Numbers 0, 1, 2, ...; a batch lists those that it was given. Example `faulty` throws.
struct numbers {
  using batch_type = std::vector<tenon::index>;
  tenon::index count = 0;
  tenon::index faulty = -1;
  tenon::index slow = -1;
  mutable std::atomic<int> copies = 0;

  explicit numbers(tenon::index n) : count(n) {}
  tenon::index size() const { return count; }
  batch_type make_batch(tenon::index n) const { return batch_type(static_cast<std::size_t>(n)); }
  void copy_example(tenon::index i, batch_type& batch, tenon::index place) const {
    ++copies;
    if (i == slow) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (i == faulty) throw std::runtime_error("it is torn");
    batch[static_cast<std::size_t>(place)] = i;
  }
};

std::vector<std::vector<tenon::index>> batches_of(data::loader<numbers>& loader, tenon::index epoch) {
  std::vector<std::vector<tenon::index>> result;
  for (const auto& batch : loader.epoch(epoch)) result.push_back(batch);
  return result;
}

}  // namespace

TEST_CASE("batches come in order, the last one short", "[loader]") {
  for (const int workers : {0, 1, 3}) {
    CAPTURE(workers);
    const numbers examples(7);
    data::loader<numbers> loader(examples, {.batch = 3, .workers = workers});
    CHECK(loader.batches() == 3);
    const std::vector<std::vector<tenon::index>> expected{{0, 1, 2}, {3, 4, 5}, {6}};
    CHECK(batches_of(loader, 0) == expected);
    CHECK(batches_of(loader, 1) == expected);
  }
}

TEST_CASE("a short last batch is dropped on request", "[loader]") {
  const numbers examples(7);
  data::loader<numbers> loader(examples, {.batch = 3, .drop_last = true});
  CHECK(loader.batches() == 2);
  CHECK(batches_of(loader, 0) == std::vector<std::vector<tenon::index>>{{0, 1, 2}, {3, 4, 5}});
}

TEST_CASE("a batch may be larger than all examples", "[loader]") {
  constexpr auto greatest = std::numeric_limits<tenon::index>::max();
  const numbers examples(7);
  for (const int workers : {0, 2}) {
    data::loader<numbers> loader(examples, {.batch = greatest, .workers = workers});
    CHECK(loader.batches() == 1);
    CHECK(batches_of(loader, 0) == std::vector<std::vector<tenon::index>>{{0, 1, 2, 3, 4, 5, 6}});
    CHECK(loader.state() == data::loader_state{1, 0, 0});
  }
  const data::loader<numbers> dropped(examples, {.batch = greatest, .drop_last = true});
  CHECK(dropped.batches() == 0);
  data::loader<numbers> half(examples, {.batch = greatest, .shard = {.rank = 1, .ranks = 2}});
  CHECK(batches_of(half, 0) == std::vector<std::vector<tenon::index>>{{1, 3, 5, 0}});
  int network = 0;
  half.visit_state(network, [&](const std::string& name, auto& value) {
    if constexpr (tenon::is_kept_number<std::remove_cvref_t<decltype(value)>>) {
      if (name == "batch") CHECK(static_cast<tenon::index>(value.number()) == greatest);
    }
  });
}

TEST_CASE("workers and their timing do not change what comes", "[loader]") {
  numbers examples(101);
  examples.slow = 50;
  data::loader<numbers> alone(examples, {.batch = 4, .shuffle = true, .seed = 3, .workers = 0});
  const auto expected = batches_of(alone, 2);
  for (const int workers : {1, 2, 4}) {
    data::loader<numbers> loader(examples, {.batch = 4, .shuffle = true, .seed = 3, .workers = workers});
    CHECK(batches_of(loader, 2) == expected);
  }
  CHECK(batches_of(alone, 3) != expected);
}

TEST_CASE("batches are made ahead, but not without end", "[loader]") {
  const numbers examples(100);
  data::loader<numbers> loader(examples, {.batch = 10, .workers = 1, .prefetch = 2});
  auto epoch = loader.epoch(0);
  const auto first = epoch.begin();
  CHECK((*first)[0] == 0);
  for (int waited = 0; examples.copies < 30 && waited < 2000; ++waited) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(examples.copies == 30);  // the batch in use and two ahead
}

TEST_CASE("leaving an epoch early stops the workers", "[loader]") {
  const numbers examples(1000);
  data::loader<numbers> loader(examples, {.batch = 1, .workers = 2});
  for (const auto& batch : loader.epoch(0)) {
    if (batch[0] == 3) break;
  }
  CHECK(batches_of(loader, 0).size() == 1000);
}

TEST_CASE("an error of an example reaches the reader with its number", "[loader]") {
  for (const int workers : {0, 2}) {
    numbers examples(20);
    examples.faulty = 13;
    data::loader<numbers> loader(examples, {.batch = 5, .workers = workers});
    tenon::index seen = 0;
    const auto text = tenon_test::text_of<tenon::error>([&] {
      for (const auto& batch : loader.epoch(0)) seen += static_cast<tenon::index>(batch.size());
    });
    CHECK(text == "loader: example 13: it is torn");
    CHECK(seen == 10);
  }
}

TEST_CASE("a sampler that gives other numbers than those of examples is refused", "[loader]") {
  struct one_number {
    tenon::index number = 0;
    tenon::index size() const { return 1; }
    std::vector<tenon::index> order(std::uint64_t, tenon::index) const { return {number}; }
  };
  const numbers examples(23);
  for (const int workers : {0, 2}) {
    const auto text = [&](auto order) {
      data::loader<numbers> loader(examples, order, {.batch = 5, .workers = workers});
      return tenon_test::text_of<tenon::index_error>([&] { batches_of(loader, 0); });
    };
    CHECK(text(data::sequential_sampler{24}) ==
          "loader: the sampler gave example 23, expected numbers from 0 on and below 23");
    CHECK(text(one_number{-1}) == "loader: the sampler gave example -1, expected numbers from 0 on and below 23");
    CHECK(text(data::random_sampler{4000}) != "");
    CHECK(examples.copies == 0);
  }
}

TEST_CASE("an epoch within an epoch has batches of its own", "[loader]") {
  const numbers examples(7);
  const std::vector<std::vector<tenon::index>> expected{{0, 1, 2}, {3, 4, 5}, {6}};
  for (const int workers : {0, 1, 3}) {
    CAPTURE(workers);
    data::loader<numbers> loader(examples, {.batch = 3, .workers = workers});
    std::size_t outer = 0;
    for (const auto& batch : loader.epoch(0)) {
      CHECK(batches_of(loader, 5) == expected);
      CHECK(loader.state() == data::loader_state{6, 0, 0});
      CHECK(batch == expected[outer++]);
    }
    CHECK(outer == 3);
  }
}

TEST_CASE("an empty dataset has no batches", "[loader]") {
  const numbers examples(0);
  data::loader<numbers> loader(examples);
  CHECK(loader.batches() == 0);
  CHECK(batches_of(loader, 0).empty());
}

TEST_CASE("options that make no sense are refused", "[loader]") {
  const numbers examples(3);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { const data::loader<numbers> refused(examples, {.batch = 0}); }) ==
        "loader: batch 0, workers 1, prefetch 2, expected at least 1, 0 and 1");
}

TEST_CASE("a loader takes the order of any sampler, and the shard of its rank", "[loader]") {
  const numbers examples(6);
  data::loader backwards(examples, data::weighted_sampler({0, 0, 0, 0, 1, 0}, 3), {.batch = 2});
  CHECK(batches_of(backwards, 0) == std::vector<std::vector<tenon::index>>{{4, 4}, {4}});
  data::loader<numbers> second(examples, {.batch = 2, .shard = {.rank = 1, .ranks = 2}});
  CHECK(second.batches() == 2);
  CHECK(batches_of(second, 0) == std::vector<std::vector<tenon::index>>{{1, 3}, {5}});
}

TEST_CASE("the batches of all ranks are those of one process", "[loader]") {
  const numbers examples(24);
  data::loader<numbers> whole(examples, {.batch = 6, .shuffle = true, .seed = 9});
  const auto expected = batches_of(whole, 4);
  for (tenon::index rank = 0; rank < 3; ++rank) {
    data::loader<numbers> part(examples, {.batch = 2, .shuffle = true, .seed = 9, .shard = {rank, 3}});
    const auto own = batches_of(part, 4);
    REQUIRE(own.size() == expected.size());
    for (std::size_t batch = 0; batch < own.size(); ++batch) {
      for (std::size_t i = 0; i < 2; ++i) {
        CHECK(own[batch][i] == expected[batch][3 * i + static_cast<std::size_t>(rank)]);
      }
    }
  }
}

TEST_CASE("a loader goes on where another stood", "[loader]") {
  const numbers examples(23);
  for (const int workers : {0, 3}) {
    data::loader<numbers> whole(examples, {.batch = 4, .shuffle = true, .seed = 3, .workers = workers});
    CHECK(whole.state() == data::loader_state{0, 0, 3});
    std::vector<std::vector<tenon::index>> expected;
    std::vector<data::loader_state> states;
    for (tenon::index epoch = 0; epoch < 3; ++epoch) {
      for (const auto& batch : whole.epoch(epoch)) expected.push_back(batch), states.push_back(whole.state());
    }
    for (std::size_t stop = 0; stop < states.size(); ++stop) {
      CAPTURE(workers, stop);
      data::loader<numbers> resumed(examples, {.batch = 4, .shuffle = true, .seed = 77, .workers = workers});
      resumed.restore(states[stop]);
      std::vector<std::vector<tenon::index>> rest;
      for (tenon::index epoch = resumed.state().epoch; epoch < 3; ++epoch) {
        for (const auto& batch : resumed.epoch(epoch)) rest.push_back(batch);
      }
      CHECK(rest == std::vector(expected.begin() + static_cast<std::ptrdiff_t>(stop) + 1, expected.end()));
    }
  }
}

TEST_CASE("a state is visited by name, and set", "[loader]") {
  const numbers examples(23);
  data::loader<numbers> loader(examples, {.batch = 4, .seed = 3});
  for (const auto& batch : loader.epoch(1)) {
    if (batch[0] == 4) break;
  }
  int network = 0;
  std::string names;
  loader.visit_state(network, [&](const std::string& name, auto& value) {
    if constexpr (requires { value.text(); }) names += name + " " + value.text();
    else names += name + std::to_string(value) + " ";
  });
  CHECK(names == "epoch1 position2 seed3 batch4 examples23 sampler sequential_sampler");
  data::loader<numbers> resumed(examples, {.batch = 4});
  const tenon::index saved[] = {1, 2, 3, 4, 23};
  int number = 0;
  resumed.visit_state(network, [&](const std::string&, auto& value) {
    if constexpr (tenon::is_number_of_state<std::remove_cvref_t<decltype(value)>>) {
      value = static_cast<decltype(value.number())>(saved[number++]);
    }
  });
  CHECK(resumed.state() == loader.state());
  CHECK(batches_of(resumed, 1).size() == 4);
  CHECK(batches_of(resumed, 1).size() == 6);  // resumed once
  CHECK(tenon_test::text_of<tenon::index_error>([&] { resumed.restore({0, 7, 0}); }) ==
        "loader: restore: epoch 0, position 7, expected at least 0, and a position of at most 6 batches");
}

TEST_CASE("after the last batch of an epoch the next one begins", "[loader]") {
  const numbers examples(6);
  data::loader<numbers> loader(examples, {.batch = 2, .seed = 3});
  CHECK(batches_of(loader, 4).size() == 3);
  CHECK(loader.state() == data::loader_state{5, 0, 3});
  data::loader<numbers> resumed(examples, {.batch = 2});
  resumed.restore({4, 3, 3});  // as the same state was written before
  CHECK(resumed.state() == loader.state());
  CHECK(batches_of(resumed, resumed.state().epoch).size() == 3);
  const numbers none(0);
  data::loader<numbers> empty(none);
  empty.restore({7, 0, 1});
  CHECK(empty.state() == data::loader_state{7, 0, 1});
}

TEST_CASE("a position is kept until a batch of its epoch is given out", "[loader]") {
  const numbers examples(20);
  data::loader<numbers> loader(examples, {.batch = 2});
  loader.restore({1, 7, 3});
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto unused = loader.epoch(1);
    CHECK(loader.state() == data::loader_state{1, 7, 3});
  }
  CHECK(batches_of(loader, 1).size() == 3);
}

TEST_CASE("examples learn the epoch, and statements of workers stay on their thread", "[loader]") {
  struct epochs {
    using batch_type = std::vector<tenon::index>;
    tenon::index size() const { return 4; }
    batch_type make_batch(tenon::index n) const { return batch_type(static_cast<std::size_t>(n)); }
    void copy_example(data::example_id id, batch_type& batch, tenon::index place) const {
      batch[static_cast<std::size_t>(place)] = 100 * tenon::thread_count() + 10 * id.epoch + id.number;
    }
  };
  const epochs examples;
  data::loader loader(examples, {.batch = 4, .workers = 2});
  for (const auto& batch : loader.epoch(7)) CHECK(batch == epochs::batch_type{170, 171, 172, 173});
}

TEST_CASE("a checkpoint of a training holds where its loader stands", "[loader]") {
  const numbers examples(23);
  tenon::nn::linear<2, 1> network;
  network.initialise(1);
  const tenon_test::scratch_file file("reading.safetensors");
  data::loader<numbers> loader(examples, {.batch = 4, .shuffle = true, .seed = 3});
  for (const auto& batch : loader.epoch(2)) {
    if (loader.state().position == 2) break;
    CHECK(batch.size() == 4);
  }
  tenon::train::training saved(network, loader);
  tenon::train::save_state(saved, file.path);
  data::loader<numbers> resumed(examples, {.batch = 4, .shuffle = true});
  tenon::train::training loaded(network, resumed);
  tenon::train::load_state(loaded, file.path);
  CHECK(resumed.state() == data::loader_state{2, 2, 3});
  const auto whole = batches_of(loader, 2);
  CHECK(batches_of(resumed, 2) == std::vector(whole.begin() + 2, whole.end()));
}

TEST_CASE("a checkpoint is refused where batches or examples are others", "[loader]") {
  tenon::nn::linear<2, 1> network;
  network.initialise(1);
  const tenon_test::scratch_file file("reading.safetensors");
  const numbers examples(23), fewer(22);
  data::loader<numbers> loader(examples, {.batch = 4, .seed = 3});
  for (const auto& batch : loader.epoch(2)) {
    if (batch[0] == 4) break;
  }
  tenon::train::training saved(network, loader);
  tenon::train::save_state(saved, file.path);
  const auto load = [&](data::loader<numbers>& into) {
    tenon::train::training loaded(network, into);
    tenon::train::load_state(loaded, file.path);
  };
  const auto refusal_of = [&](const numbers& others, const data::loader_options& options) {
    data::loader<numbers> other(others, options);
    const auto text = tenon_test::text_of<tenon::file_error>([&] { load(other); });
    CHECK(other.state() == data::loader_state{0, 0, 0});
    return text.substr(text.find(';') + 2);
  };
  CHECK(refusal_of(examples, {.batch = 8}) == "data.batch is 4, expected 8");
  CHECK(refusal_of(fewer, {.batch = 4}) == "data.examples is 23, expected 22");
  CHECK(refusal_of(examples, {.batch = 4, .shard = {.rank = 0, .ranks = 2}}) == "data.batch is 4, expected 8");
  data::loader<numbers> half(examples,
                             {.batch = 2, .shard = {.rank = 1, .ranks = 2}});  // the same batches on two ranks
  load(half);
  CHECK(half.state() == data::loader_state{2, 2, 3});
  tenon::io::safetensors_writer older;  // which knew none of them
  tenon::nn::visit_state(saved, [&](const std::string& name, const auto& value) {
    if (name != "data.batch" && name != "data.examples" && name != "data.sampler")
      older.add(name, tenon::train::detail::state_on_host(value));
  });
  older.save(file.path);
  data::loader<numbers> other(examples, {.batch = 8});
  load(other);
  CHECK(other.state() == data::loader_state{2, 2, 3});
}

TEST_CASE("a checkpoint is refused where examples come in another order", "[loader]") {
  struct backwards {
    tenon::index count;
    tenon::index size() const { return count; }
    std::vector<tenon::index> order(std::uint64_t, tenon::index) const { return {4, 3, 2, 1, 0}; }
  };
  struct named : backwards {
    std::string name = "every_fifth";
  };
  tenon::nn::linear<2, 1> network;
  network.initialise(1);
  const tenon_test::scratch_file file("order.safetensors");
  const numbers examples(5);
  data::loader<numbers> shuffled(examples, {.batch = 2, .shuffle = true, .seed = 3}), plain(examples, {.batch = 2});
  data::loader<numbers> own(examples, backwards{5}, {.batch = 2}), own_named(examples, named{{5}}, {.batch = 2});
  data::loader<numbers> drawn(examples, data::replacement_sampler{5, 5}, {.batch = 2});
  const auto refusal_of = [&](data::loader<numbers>& saved, data::loader<numbers>& other) {
    tenon::train::save_state(tenon::train::training(network, saved), file.path);
    tenon::train::training all(network, other);
    const auto text = tenon_test::text_of<tenon::file_error>([&] { tenon::train::load_state(all, file.path); });
    CHECK(other.state().seed == 0);
    return text.substr(text.find(';') + 2);
  };
  CHECK(refusal_of(shuffled, plain) == "data.sampler is random_sampler, expected sequential_sampler");
  CHECK(refusal_of(shuffled, drawn) == "data.sampler is random_sampler, expected replacement_sampler");
  CHECK(refusal_of(shuffled, own) == "data.sampler is random_sampler, expected nameless");
  CHECK(refusal_of(own, own_named) == "data.sampler is nameless, expected every_fifth");
}
