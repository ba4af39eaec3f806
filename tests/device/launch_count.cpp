// tests/device/launch_count.cpp: counting launches.
// Fusion promises are tested in these numbers, so they must be exact and each thread's own.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/launch_count.hpp>

#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace {

/// Writes down what it is told, and lets run what `runs` says.
struct diary final : tenon::launch_observer {
  std::vector<std::string> lines;
  bool runs = true;

  void statement(const tenon::statement_facts&) override { lines.push_back("statement"); }
  bool begin(const tenon::launch_facts& facts) override {
    lines.push_back(std::string("begin ") + facts.kernel);
    return runs;
  }
  void end() noexcept override { lines.push_back("end"); }
};

}  // namespace

TEST_CASE("a counter sees the launches since its construction", "[device]") {
  tenon::count_launch("before");
  const tenon::launch_counter outer;
  CHECK(outer.count() == 0);
  tenon::count_launch("pointwise");
  const tenon::launch_counter inner;
  tenon::count_launch("reduce");
  CHECK(outer.count() == 2);
  CHECK(inner.count() == 1);
  CHECK(std::string(inner.last_kind()) == "reduce");
}

TEST_CASE("launches of another thread are not counted", "[device]") {
  const tenon::launch_counter here;
  std::thread([] { tenon::count_launch("elsewhere"); }).join();
  CHECK(here.count() == 0);
}

TEST_CASE("an observer is told of the launches of its thread while its scope lives", "[device]") {
  diary outer, inner;
  const tenon::launch_counter counter;
  {
    const tenon::observer_scope scope(&outer);
    CHECK(tenon::current_launch_observer() == &outer);
    {
      const tenon::counted_launch counted("first");
    }
    {
      const tenon::observer_scope nested(&inner);
      CHECK(nested.outer() == &outer);
      const tenon::counted_launch counted("second");
      CHECK(inner.lines == std::vector<std::string>{"begin second"});
    }
    std::thread([] { const tenon::counted_launch counted("elsewhere"); }).join();
  }
  {
    const tenon::counted_launch counted("unobserved");
  }
  CHECK(tenon::current_launch_observer() == nullptr);
  CHECK(outer.lines == std::vector<std::string>{"begin first", "end"});
  CHECK(counter.count() == 3);
  CHECK(std::string(counter.last_kind()) == "unobserved");
}

TEST_CASE("a launch that its observer does not run is not counted", "[device]") {
  diary refusing;
  refusing.runs = false;
  const tenon::observer_scope scope(&refusing);
  const tenon::launch_counter counter;
  const tenon::counted_launch counted(tenon::launch_facts{.kernel = "refused"});
  CHECK_FALSE(counted.runs());
  CHECK(counter.count() == 0);
}
