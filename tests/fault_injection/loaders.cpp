// tests/fault_injection/loaders.cpp: epochs whose workers, ranks or memory the system refuses.
// Nothing hangs, the error has a name, and a second attempt is whole.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <tenon/data/space_batches.hpp>
#include <tenon/data/tensor_dataset.hpp>
#include <tenon/distributed/threads.hpp>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/faults.hpp"
#include "support/text_of.hpp"

namespace {

namespace data = tenon::data;
using tenon::rank;
using tenon_test::attack;
using tenon_test::bits_of;
using tenon_test::fault_calls;
using tenon_test::fault_scope;
using tenon_test::fault_threads;
using tenon_test::text_of;

/// A loader in the middle of epoch 1, and the batches that it gave out.
struct reading {
  using examples = data::tensor_dataset<tenon::tensor<float, rank<2>>>;
  examples set{tenon::tensor<float, rank<2>>(tenon::uniform<float>(rank<2>(43, 3), 1, 0.0f, 1.0f))};
  data::loader<examples> loader{set, {.batch = 4, .shuffle = true, .workers = 3, .prefetch = 1}};
  std::string batches;
  float first = -1;  // number of the last batch

  reading() { loader.restore({1, 2, 7}); }
};

std::string position_bits(reading& all) {
  const auto& state = all.loader.state();
  return bits_of(state.epoch) + bits_of(state.position) + bits_of(state.seed);
}
std::string batch_bits(reading& all) { return all.batches; }

/// Reads what is left of the epoch; where that fails, the loader goes back to where it stood.
template <class Range>
void read(reading& all, const Range& range) {
  const auto before = all.loader.state();
  try {
    all.batches.clear();
    for (const auto& [x] : range(all.loader)) all.batches += bits_of(x);
  } catch (...) {
    all.loader.restore(before);
    throw;
  }
}

}  // namespace

TEST_CASE("an epoch that failed is read again, whole", "[loaders]") {
  const auto make = [] { return std::make_unique<reading>(); };
  const auto plain = [](reading& all) { read(all, [](auto& loader) { return loader.epoch(1); }); };
  const auto copied = [](reading& all) {
    read(all, [](auto& loader) { return data::batches_in<tenon::host>(loader, 1); });
  };
  CHECK(attack("loader: an epoch", make, plain, position_bits, batch_bits, {fault_threads::all}).is_good());
  CHECK(attack("loader: an epoch in a space", make, copied, position_bits, batch_bits, {fault_threads::all}).is_good());
}

TEST_CASE("a first batch that cannot be copied leaves the loader as it was", "[loaders]") {
  const auto make = [] { return std::make_unique<reading>(); };
  const auto begin = [](reading& all) {
    auto batches = data::batches_in<tenon::host>(all.loader, 1);
    const auto& [x] = *batches.begin();
    all.first = x.data()[0];
  };
  const auto both = [](reading& all) { return position_bits(all) + bits_of(all.first); };
  CHECK(attack("loader: a first batch in a space", make, begin, both).is_good());
}

TEST_CASE("a worker that cannot be started is named, and the loader stays usable", "[loaders]") {
  if (!tenon_test::refuses_threads()) return;
  for (int worker = 0; worker < 3; ++worker) {
    reading all;
    const auto before = position_bits(all);
    {
      const fault_scope fault(worker + 1, fault_threads::own, fault_calls::threads);
      CHECK(text_of<tenon::thread_error>([&] { all.loader.epoch(1); }) ==
            tenon::compose_text("loader: worker ", worker,
                                " of 3 cannot be started: Resource temporarily unavailable; take fewer workers?"));
    }
    CHECK(position_bits(all) == before);
    int batches = 0;
    for (const auto& [x] : all.loader.epoch(1)) batches += x.extent(0) > 0 ? 1 : 0;
    CHECK(batches == 9);
  }
}

TEST_CASE("ranks that wait for one that cannot be started end", "[loaders]") {
  if (!tenon_test::refuses_threads()) return;
  for (int rank = 0; rank < 3; ++rank) {
    const fault_scope fault(rank + 1, fault_threads::own, fault_calls::threads);
    CHECK(text_of<tenon::thread_error>([] {
            tenon::distributed::run_in_threads(3, [](auto& all) { all.broadcast(nullptr, 0); });
          }) == tenon::compose_text("run_in_threads: rank ", rank,
                                    " of 3 cannot be started: Resource temporarily unavailable"));
  }
}
