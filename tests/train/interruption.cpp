// tests/train/interruption.cpp: signals are noted once, and handlers are as before afterwards.
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <tenon/train/interruption.hpp>

#include "support/text_of.hpp"

namespace {

volatile std::sig_atomic_t outer_signals = 0;

/// The signal that ends a child process which runs `body`; 0 where it ends by itself.
template <class Body>
int signal_that_ends(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

TEST_CASE("the first signal is a wish, the second ends the program", "[interruption]") {
  for (const int number : {SIGINT, SIGTERM}) {
    CHECK(signal_that_ends([&] {
            const tenon::train::interruption stop;
            std::raise(number);
          }) == 0);
    CHECK(signal_that_ends([&] {
            const tenon::train::interruption stop;
            std::raise(number), std::raise(number);
          }) == number);
  }
}

TEST_CASE("handlers are as before when it is gone", "[interruption]") {
  const auto before = std::signal(SIGTERM, [](int) { outer_signals = outer_signals + 1; });
  {
    const tenon::train::interruption stop;
    CHECK_FALSE(stop.requested());
    std::raise(SIGTERM);
    CHECK(stop.requested());
    CHECK(stop.signal() == SIGTERM);
    CHECK(outer_signals == 0);
    CHECK(tenon_test::text_of<tenon::error>([] { tenon::train::interruption(); }) ==
          "interruption: another one lives, expected one at a time in a process");
  }
  std::raise(SIGTERM);
  CHECK(outer_signals == 1);
  const tenon::train::interruption next;
  CHECK_FALSE(next.requested());
  std::signal(SIGTERM, before);
}
