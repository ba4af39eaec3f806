// tests/device/fiber.cpp: stopping functions and letting them go on.
// ThreadSanitizer takes fibers for threads that nothing orders, so what these tests share is kept from it.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/fiber.hpp>

#include <cmath>
#include <deque>
#include <stdexcept>
#include <string>

#include "support/catch.hpp"

namespace {

using tenon::detail::fiber;

struct counting_task {
  fiber* on = nullptr;
  int steps = 0;
  double sum = 0;
  bool caught = false;
};

// Many values alive across the switch: callee-saved registers and the stack must all survive it.
void count_up(void* argument) {
  const tenon::detail::unobserved quiet;
  auto& task = *static_cast<counting_task*>(argument);
  double a = 1, b = 2, c = 3;
  long i = 10, j = 20, k = 30, l = 40, m = 50, n = 60;
  for (int step = 0; step < 5; ++step) {
    ++task.steps;
    task.on->suspend();
    a += 1, b += a, c += b;
    i += 1, j += i, k += j, l += k, m += l, n += m;
  }
  task.sum = a + b + c + static_cast<double>(i + j + k + l + m + n);
}

double expected_sum() {
  double a = 1, b = 2, c = 3;
  long i = 10, j = 20, k = 30, l = 40, m = 50, n = 60;
  for (int step = 0; step < 5; ++step) {
    a += 1, b += a, c += b;
    i += 1, j += i, k += j, l += k, m += l, n += m;
  }
  return a + b + c + static_cast<double>(i + j + k + l + m + n);
}

int use_stack(int depth) {
  volatile char frame[512] = {};
  frame[depth % 512] = 1;
  return depth == 0 ? frame[0] : use_stack(depth - 1) + frame[depth % 512];
}

}  // namespace

TEST_CASE("fibers interleave and keep their values", "[device]") {
  std::deque<fiber> fibers(7);
  std::vector<counting_task> tasks(7);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].on = &fibers[i];
    fibers[i].set_body(count_up, &tasks[i]);
  }
  const tenon::detail::unobserved quiet;
  for (int round = 1; round <= 5; ++round) {
    for (fiber& each : fibers) each.resume();
    for (const counting_task& task : tasks) CHECK(task.steps == round);
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    CHECK_FALSE(fibers[i].is_idle());
    fibers[i].resume();
    CHECK(fibers[i].is_idle());
    CHECK(tasks[i].sum == expected_sum());
  }
}

TEST_CASE("an idle fiber runs another body", "[device]") {
  fiber reused;
  int runs = 0;
  const tenon::detail::unobserved quiet;
  for (int i = 1; i <= 3; ++i) {
    reused.set_body(
        [](void* count) {
          const tenon::detail::unobserved apart;
          ++*static_cast<int*>(count);
        },
        &runs);
    reused.resume();
    CHECK(runs == i);
    CHECK(reused.is_idle());
  }
}

TEST_CASE("exceptions are thrown and caught on a fiber, across a switch", "[device]") {
  fiber throwing;
  counting_task task;
  task.on = &throwing;
  throwing.set_body(
      [](void* argument) {
        const tenon::detail::unobserved apart;
        auto& self = *static_cast<counting_task*>(argument);
        try {
          self.on->suspend();
          throw std::runtime_error("thrown after the switch");
        } catch (const std::runtime_error&) {
          self.caught = true;
        }
      },
      &task);
  const tenon::detail::unobserved quiet;
  throwing.resume();
  CHECK_FALSE(task.caught);
  throwing.resume();
  CHECK(task.caught);
}

TEST_CASE("a fiber's stack is deep enough for ordinary kernels", "[device]") {
  fiber deep;
  int result = -1;
  deep.set_body(
      [](void* out) {
        const tenon::detail::unobserved apart;
        *static_cast<int*>(out) = use_stack(100);
      },
      &result);
  const tenon::detail::unobserved quiet;
  deep.resume();
  CHECK(result == 101);
}

TEST_CASE("the pool hands out what was given back", "[device]") {
  auto& pool = tenon::detail::fiber_pool::of_thread();
  fiber* first = pool.take();
  pool.give_back(first);
  CHECK(pool.take() == first);
  pool.give_back(first);
}
