// tests/support/faults.hpp: the system refuses memory, a thread, or a call on a file, at a place of the test's choice.
// An operation is attacked at each of its places: it must leave the state from before, and succeed when tried again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <tenon/core/tensor.hpp>
#include <tenon/device/threads.hpp>
#include <thread>

namespace tenon_test {

/// Whose calls count: those of the thread that made the scope, or of every thread.
enum class fault_threads { own, all };
/// Which calls count.
enum class fault_calls { every, memory, threads };

/// While it lives, the call number `place` among those that may fail does fail: operator new, pthread_create, open,
/// write, fchmod, fsync and rename. Counting begins at 1. The calls are in tests/fault_injection/system.cpp.
class fault_scope {
 public:
  fault_scope(long place, fault_threads whose, fault_calls calls = fault_calls::every);
  fault_scope(const fault_scope&) = delete;
  fault_scope& operator=(const fault_scope&) = delete;
  ~fault_scope();

  /// Whether that place was reached.
  bool has_failed() const;
  /// Whether another thread than the scope's reached it.
  bool has_failed_elsewhere() const;
};

/// Whether threads can be refused: sanitizers start them by a function of their own.
bool refuses_threads();

/// What an attack lets fail, and how many threads the loops of the host have.
struct attack_options {
  fault_threads whose = fault_threads::own;
  fault_calls calls = fault_calls::every;
  int loop_threads = 1;
};
/// Memory, also that which the threads of a shared loop take.
inline constexpr attack_options in_loops{fault_threads::all, fault_calls::memory, 3};

/// What an attack came to; `wrong` counts places after which bits were others, `crashed` those after which a second
/// attempt threw, `elsewhere` those on other threads than the operation's.
struct attack_report {
  int places = 0, wrong = 0, crashed = 0, elsewhere = 0;

  bool is_good() const { return places > 0 && wrong == 0 && crashed == 0; }
  attack_report& operator+=(const attack_report& other) {
    places += other.places, wrong += other.wrong, crashed += other.crashed, elsewhere += other.elsewhere;
    return *this;
  }
};

inline attack_report& all_attacks() {
  static attack_report total;
  return total;
}
inline void print_report(const std::string& name, const attack_report& report) {
  std::printf("%-48s %4d places failed, %d wrong, %d crashed; %d on other threads\n", name.c_str(), report.places,
              report.wrong, report.crashed, report.elsewhere);
}

/// The bits of a tensor that the host sees, or of a number.
template <class T, class Shape, class Space>
std::string bits_of(const tenon::tensor<T, Shape, Space>& value) {
  return {reinterpret_cast<const char*>(value.data()), static_cast<std::size_t>(value.size()) * sizeof(T)};
}
template <class Number>
  requires std::is_arithmetic_v<Number>
std::string bits_of(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

/// As many threads share loops while it lives.
class loop_threads_scope {
 public:
  explicit loop_threads_scope(int count) {
    if (count == 1) alone_.emplace();
    else tenon::set_num_threads(count);
  }
  ~loop_threads_scope() {
    if (!alone_) tenon::set_num_threads(0);
  }

 private:
  std::optional<tenon::single_thread_scope> alone_;
};

/// Runs a body on a thread of its own, which has none of the memory that threads keep for later statements. Nor have
/// those that share its loops, where g++'s OpenMP starts them; clang's are those of the whole process.
/// throws    what the body throws
template <class Body>
void on_fresh_thread(const Body& body, int loop_threads = 1) {
  std::exception_ptr failure;
  std::jthread([&] {
    const loop_threads_scope threads(loop_threads);
    try {
      body();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

/// Attacks `run(subject)` at each of its places; `make()` makes a subject. What lasts of a subject is `state(subject)`:
/// where `run` throws, that from before or, whole, that of success. What a run comes to is `result(subject)`.
template <class Make, class Run, class State, class Result>
attack_report attack(const std::string& name, const Make& make, const Run& run, const State& state,
                     const Result& result, const attack_options& options = {}) {
  auto undisturbed = make();
  const std::string before = state(*undisturbed);
  on_fresh_thread([&] { run(*undisturbed); }, options.loop_threads);
  const std::string after = state(*undisturbed), expected = result(*undisturbed);
  attack_report report;
  bool has_failed = true;
  while (has_failed) {
    auto subject = make();
    bool has_thrown = false;
    on_fresh_thread(
        [&] {
          const fault_scope fault(report.places + 1, options.whose, options.calls);
          try {
            run(*subject);
          } catch (const std::exception&) {
            has_thrown = true;
          }
          has_failed = fault.has_failed();
          report.elsewhere += fault.has_failed_elsewhere() ? 1 : 0;
        },
        options.loop_threads);
    if (!has_failed) break;
    ++report.places;
    const std::string found = state(*subject);
    if (has_thrown && found == after && found != before) continue;  // it is done, and throws for what comes behind
    const char* fault = has_thrown && found != before ? "neither the state from before nor that of success" : nullptr;
    try {
      if (has_thrown && fault == nullptr) on_fresh_thread([&] { run(*subject); }, options.loop_threads);
      if (fault == nullptr && (state(*subject) != after || result(*subject) != expected)) fault = "other bits";
      report.wrong += fault != nullptr ? 1 : 0;
    } catch (const std::exception&) {
      fault = "a second attempt throws";
      ++report.crashed;
    }
    if (fault != nullptr) std::printf("%s: place %d: %s\n", name.c_str(), report.places, fault);
  }
  print_report(name, report);
  print_report("all so far", all_attacks() += report);
  return report;
}
/// The same of a run that comes to the state itself.
template <class Make, class Run, class State>
attack_report attack(const std::string& name, const Make& make, const Run& run, const State& state,
                     const attack_options& options = {}) {
  return attack(name, make, run, state, state, options);
}

}  // namespace tenon_test
