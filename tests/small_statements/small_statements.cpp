// tests/small_statements/small_statements.cpp: how many instructions small statements of the host take, each call by
// itself. A process traces the one that runs them, step by step; a statement fails that takes more than its row allows.
// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tenon/grad/trace_step.hpp>
#include <tenon/linalg/solve.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/tenon.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

namespace tn = tenon;
using vector = tn::tensor<float, tn::rank<1>>;
using matrix = tn::tensor<float, tn::rank<2>>;

/// What a statement took when it was last looked at (g++ 12, -O2 -march=x86-64-v3).
struct row {
  const char* name;
  long instructions;

  /// Other versions of g++ and of the C library need a little more or less.
  long limit() const { return instructions + instructions * 15 / 100 + 10; }
};
constexpr row table[] = {
    {"a + 2 b of 3", 124},
    {"a + 2 b of 8", 91},
    {"a + 2 b of 64", 133},
    {"a + 2 b of static 3", 12},
    {"a + 2 b of static 64", 30},
    {"row of a matrix = a", 254},
    {"sum of 64", 294},
    {"dot of 8", 306},
    {"column sums of 4 x 4", 1475},
    {"z-scores of columns of 4 x 4", 5482},
    {"softmax of a row of 10", 2521},
    {"matrix 8 x 8 times vector", 913},
    {"product of 4 x 4", 2579},
    {"product of static 3 x 3", 89},
    {"product of static 4 x 4", 94},
    {"solve 4 x 4", 1671},
    {"linear layer of 16, batch 1", 2083},
};

/// One call, between two signals that the tracing process waits for.
template <class Statement>
[[gnu::noinline]] void call(Statement& statement) {
  statement();
}
template <class Statement>
void show(Statement statement) {
  asm volatile("" : : "r"(&statement) : "memory");  // what it writes will be read
  for (int warm = 0; warm < 5; ++warm) call(statement);
  raise(SIGUSR1);
  call(statement);
  raise(SIGUSR1);
  asm volatile("" : : : "memory");
}

vector counted(tn::index length) { return tn::arange<float>(length) + 1.0f; }
matrix counted(tn::index rows, tn::index columns) {
  return tn::reshape(counted(rows * columns), tn::rank<2>(rows, columns)) + 9.0f * tn::eye<float>(rows, columns);
}

/// All statements, in the order of the table, after one that is empty.
void run_statements() {
  show([] {});
  for (const tn::index length : {3, 8, 64}) {
    show([a = counted(length), b = counted(length), y = counted(length)]() mutable { y = a + 2.0f * b; });
  }
  const auto pointwise = [](auto a) { show([a, b = a, y = a]() mutable { y = a + 2.0f * b; }); };
  pointwise(tn::tensor<float, tn::shape<3>>(counted(3)));
  pointwise(tn::tensor<float, tn::shape<64>>(counted(64)));
  vector a = counted(64), b = counted(8), c = counted(8), d = counted(4);
  matrix m = counted(4, 64), four = counted(4, 4), other = four, eight = counted(8, 8), line = counted(1, 10);
  volatile float number = 0;
  show([&] { m(1, tn::all_of) = a; });
  show([&] { number = tn::sum(a); });
  show([&] { number = tn::dot(b, c); });
  show([&] { d = tn::sum(four, tn::axis<0>); });
  show([&] { other = (four - tn::mean(four, tn::axis<0>)) / tn::stddev(four, tn::axis<0>); });
  show([&] { line = tn::softmax(line, tn::axis<1>); });
  show([&] { c = tn::matmul(eight, b); });
  show([&] { other = tn::matmul(four, four); });
  const auto product = [](auto left) { show([left, to = left]() mutable { to = tn::matmul(left, left); }); };
  product(tn::tensor<float, tn::shape<3, 3>>(counted(3, 3)));
  product(tn::tensor<float, tn::shape<4, 4>>(counted(4, 4)));
  vector solution = d;
  show([&] { solution = tn::solve(four, d); });
  const tn::no_grad in_use;
  tn::nn::linear<tn::dyn, tn::dyn> layer(16, 16);
  layer.initialise(1);
  matrix input = counted(1, 16), output = input;
  show([&] { output = layer(input); });
}

/// How many instructions a traced process runs until it gives its signal; -1 where it ends before.
long steps_to_signal(pid_t process, __ptrace_request how) {
  for (long steps = 0;; ++steps) {
    int status = 0;
    if (ptrace(how, process, nullptr, nullptr) != 0 || waitpid(process, &status, 0) != process) return -1;
    if (!WIFSTOPPED(status)) return -1;
    if (WSTOPSIG(status) == SIGUSR1) return steps;
    if (WSTOPSIG(status) != SIGTRAP) return -1;
  }
}
long next_count(pid_t process) {
  return steps_to_signal(process, PTRACE_CONT) < 0 ? -1 : steps_to_signal(process, PTRACE_SINGLESTEP);
}

int skip(const char* why) {
  std::printf("skipped: %s\n", why);
  return 77;
}

}  // namespace

int main() {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return skip("the processor has no AVX2");
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
  sched_setaffinity(0, sizeof(one), &one);  // the two processes take turns, which is quick on one core
  const pid_t process = fork();
  if (process == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(77);
    raise(SIGSTOP);
    run_statements();
    _exit(0);
  }
  int status = 0;
  if (process < 0 || waitpid(process, &status, 0) != process || !WIFSTOPPED(status)) {
    return skip("this process may not trace another");
  }
  const long empty = next_count(process);
  int failed = empty < 0;
  for (const row& each : table) {
    const long found = next_count(process) - empty;
    const bool fits = found >= 0 && found <= each.limit();
    std::printf("%-30s %5ld instructions, at most %5ld%s\n", each.name, found, each.limit(), fits ? "" : ": too many");
    failed += !fits;
  }
  kill(process, SIGKILL);
  waitpid(process, &status, 0);
  if (failed != 0) {
    std::printf(
        "Who means a statement to do more says so in the table of small_statements.cpp, and why in the commit.\n");
  }
  return failed == 0 ? 0 : 1;
}
