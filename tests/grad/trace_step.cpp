// tests/grad/trace_step.cpp: steps that come back, and what is kept while somebody needs it.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/trace_step.hpp>

#include <optional>
#include <tenon/expressions.hpp>
#include <thread>

#include "support/catch.hpp"
#include "support/late_destructor.hpp"

using tenon::rank;

namespace {

using step = tenon::detail::value_step<float, rank<1>, tenon::host>;

/// A step that knows what became of it.
struct counted_step : step {
  inline static int let_go_of = 0, pulled = 0;
  void pull_back() override { ++pulled; }
  void forget() override { ++let_go_of; }
};
using kept_step = tenon::detail::step_link<counted_step>;

counted_step& taken(tenon::index count) {
  auto& made = tenon::detail::taken_step<counted_step>(count);
  made.memory.resize(rank<1>(count));
  return made;
}

}  // namespace

TEST_CASE("a step goes back with its last link, and comes again", "[trace_step]") {
  counted_step::let_go_of = 0;
  counted_step* first = nullptr;
  {
    const kept_step one(&taken(5));
    const kept_step two = one;
    first = two.get();
    CHECK(counted_step::let_go_of == 0);
  }
  CHECK(counted_step::let_go_of == 1);
  const kept_step again(&taken(5));
  CHECK(again.get() == first);
}

TEST_CASE("a link that is handed over counts once, and the last of many threads gives the step back", "[trace_step]") {
  counted_step::let_go_of = 0;
  {
    kept_step one(&taken(5));
    const kept_step two = one.handed_over();
    CHECK(two.get() != nullptr);
    CHECK(one.get() == nullptr);
    CHECK(counted_step::let_go_of == 0);
    {
      const kept_step three = two;
    }
    CHECK(counted_step::let_go_of == 0);
  }
  CHECK(counted_step::let_go_of == 1);
  for (int turn = 0; turn < 20; ++turn) {
    std::optional<kept_step> shared(&taken(5));
    std::vector<std::thread> threads;
    for (int each = 0; each < 3; ++each) {
      threads.emplace_back([own = *shared] { const kept_step copy = own; });
    }
    shared.reset();
    for (auto& thread : threads) thread.join();
  }
  CHECK(counted_step::let_go_of == 21);
}

TEST_CASE("a pool gives the step whose memory fits best", "[trace_step]") {
  std::vector<counted_step*> steps;
  {
    std::vector<kept_step> links;
    for (const tenon::index count : {100, 10, 1000}) {
      links.emplace_back(&taken(count));
      steps.push_back(links.back().get());
    }
  }
  const kept_step exact(&taken(1000)), above(&taken(50)), rest(&taken(20));
  CHECK(exact.get() == steps[2]);
  CHECK(above.get() == steps[0]);
  CHECK(rest->capacity() >= 20);
}

TEST_CASE("what a step was made of lives as long as it needs gradients", "[trace_step]") {
  counted_step::let_go_of = 0;
  {
    std::optional<kept_step> source(&taken(3));
    source->get()->needs_gradient = true;
    const kept_step made(&taken(3));
    made->add_input(source->get());
    CHECK(made->needs_gradient);
    source.reset();
    CHECK(counted_step::let_go_of == 0);
    counted_step::pulled = 0;
    tenon::detail::run_backward(*made, 0);
    CHECK(counted_step::pulled == 1);  // which gives its source no gradient
  }
  CHECK(counted_step::let_go_of == 2);
  const kept_step source(&taken(3)), made(&taken(3));
  made->add_input(source.get());
  CHECK(!made->needs_gradient);
  source->needs_gradient = true;
  const tenon::no_grad testing;
  made->add_input(source.get());
  CHECK(!made->needs_gradient);
}

TEST_CASE("gradients of a step add up", "[trace_step]") {
  const kept_step one(&taken(2));
  const rank<1> extents(2);
  one->add_gradient(extents, tenon::constants(extents, 1.0f));
  one->add_gradient(extents, tenon::constants(extents, 2.0f));
  tenon::view<float, rank<1>>(one->next_gradient(2), extents) = 4.0f;
  one->add_next_gradient();
  tenon::buffer<float, rank<1>, tenon::host> last;
  last.resize(extents) = 8.0f;
  one->take_over(last);
  CHECK(one->gradient()[0] == 15);
  CHECK(one->gradient()[1] == 15);
}

TEST_CASE("a step may end on another thread, and after its own", "[trace_step]") {
  counted_step::let_go_of = 0;
  std::optional<kept_step> kept;
  std::thread([&] { kept.emplace(&taken(4)); }).join();
  kept.reset();
  CHECK(counted_step::let_go_of == 1);
}

TEST_CASE("memory of steps to come is freed when asked for", "[trace_step]") {
  const kept_step kept(&taken(7));
  {
    const kept_step idle(&taken(3000));
  }
  tenon::free_traced_memory();
  const kept_step fresh(&taken(5));
  CHECK(fresh->capacity() == 5);
  CHECK(kept->capacity() >= 7);
}

TEST_CASE("destructors that run when the idle steps of their thread are gone make and destroy steps", "[trace_step]") {
  counted_step* before = nullptr;
  tenon_test::run_and_outlive(
      [&] { before = kept_step(&taken(5)).get(); },
      [&] {
        counted_step::let_go_of = 0;
        {
          const kept_step made(&taken(5)), another(&taken(5));
        }
        CHECK(counted_step::let_go_of == 2);
        CHECK(tenon::detail::step_pool::take(&tenon::detail::step_kind<counted_step>, 5) == nullptr);
        tenon::detail::step_pool::clear();
      });
  CHECK(before != nullptr);
}
