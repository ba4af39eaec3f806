// tenon/profile.hpp: what the statements of a scope cost.
// Every launch is told to the observer of its thread; a profile notes time, bytes and statement of each.
// Floor 6: may include base, device, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iostream>
#include <tenon/device/host_clock.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/plan/describe.hpp>
#include <vector>

namespace tenon {

/// The launches of one kernel for one statement.
struct profile_row {
  std::string statement;      ///< as `explain` writes it, tensors as x; empty for what no statement asked for
  std::string kernel;         ///< the name of the kernel or loop
  const launch_clock* clock;  ///< of its space
  std::int64_t launches = 0;
  std::int64_t bytes = 0;  ///< of all launches: distinct tensors read, and elements written; 0 without a statement
  double seconds = 0;      ///< of all launches

  double bytes_per_second() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
  /// Of the rate of a large copy in the same space, which is measured once for the process.
  double fraction_of_copy() const { return bytes_per_second() / clock->copy_rate(); }
};

/// Notes what the calling thread launches while it lives, and prints a table at its end: for each statement its kernel,
/// launches, time, bytes and the fraction of a large copy's rate. Profiles may be nested: the outer one sees all.
/// cost      two readings of the clock and some text for each launch; on cuda two events, and a synchronisation at the
///           end. Short statements of the host run by the loop of long ones, which takes them 0.1 us more.
///           Launches that a graph captures count, with a time of 0
/// example   { tenon::profile p; y = softmax(x, axis<-1>); }
///           tenon::profile p(nullptr); ...; for (const auto& row : p.rows()) ...
class profile final : private launch_observer {
 public:
  /// `out` is where the table goes; nowhere where it is null.
  explicit profile(std::ostream* out = &std::cout) : out_(out), scope_(this) {}
  ~profile() override {
    try {
      if (out_ != nullptr) print(*out_);
    } catch (...) {  // a failing stream or device has its say at the next call of the user's
    }
  }

  /// What has been launched so far, in the order of first launches. Waits for it.
  const std::vector<profile_row>& rows() {
    for (const auto& each : timed_) rows_[each.row].seconds += rows_[each.row].clock->seconds(each.first, each.second);
    timed_.clear();
    return rows_;
  }

  void print(std::ostream& out) {
    out << "  kernel        launches       mean      total      bytes     GB/s  of copy  statement\n";
    for (const auto& row : rows()) print_row(out, row);
  }

 private:
  struct timed_launch {
    std::size_t row;
    std::uint64_t first, second;
  };

  void statement(const statement_facts& facts) override {
    if (scope_.outer() != nullptr) scope_.outer()->statement(facts);
    statement_text words;
    words.result(facts.dtype, facts.extents, facts.rank, 0);
    append_operation(words, *facts.words);
    statement_ = words.text();
    bytes_ = facts.bytes_read + facts.bytes_written;
  }
  bool begin(const launch_facts& facts) override {
    if (scope_.outer() != nullptr && !scope_.outer()->begin(facts)) return false;
    const launch_clock& clock = facts.clock == nullptr ? host_launch_clock() : *facts.clock;
    timed_launch launch{find_row(facts.kernel, clock), 0, 0};
    statement_.clear();
    bytes_ = 0;
    launch.first = clock.mark();
    running_.push_back(launch);
    return true;
  }
  void end() noexcept override {
    if (running_.empty()) return;  // what was under way when the profile began
    timed_launch launch = running_.back();
    running_.pop_back();
    try {
      launch.second = rows_[launch.row].clock->mark();
      timed_.push_back(launch);
    } catch (...) {  // its time is lost
    }
    if (scope_.outer() != nullptr) scope_.outer()->end();
  }
  void wrote(const statement_result& result) override {
    if (scope_.outer() != nullptr) scope_.outer()->wrote(result);
  }
  std::size_t find_row(const char* kernel, const launch_clock& clock) {
    std::size_t at = 0;
    const auto is_wanted = [&](const profile_row& row) {
      return row.clock == &clock && row.kernel == kernel && row.statement == statement_;
    };
    while (at < rows_.size() && !is_wanted(rows_[at])) ++at;
    if (at == rows_.size()) rows_.push_back({statement_, kernel, &clock});
    ++rows_[at].launches;
    rows_[at].bytes += bytes_;
    return at;
  }

  static std::string describe_seconds(double seconds) {
    const char* const units[] = {"s", "ms", "us", "ns"};
    int unit = 0;
    while (unit < 3 && seconds < 1) ++unit, seconds *= 1000;
    char text[32];
    __builtin_snprintf(text, sizeof(text), "%.3g %s", seconds, units[unit]);
    return text;
  }
  static void print_row(std::ostream& out, const profile_row& row) {
    char text[160];
    const auto each = describe_seconds(row.seconds / static_cast<double>(row.launches));
    const auto total = describe_seconds(row.seconds), bytes = row.bytes == 0 ? "" : describe_bytes(row.bytes);
    __builtin_snprintf(text, sizeof(text), "  %-14.30s%8lld %10s %10s %10s", row.kernel.c_str(),
                       static_cast<long long>(row.launches), each.c_str(), total.c_str(), bytes.c_str());
    out << text;
    if (row.bytes != 0) {
      __builtin_snprintf(text, sizeof(text), " %8.1f %7.0f%%", row.bytes_per_second() * 1e-9,
                         100 * row.fraction_of_copy());
      out << text;
    }
    out << "  " << row.statement << '\n';
  }

  std::ostream* out_;
  observer_scope scope_;
  std::vector<profile_row> rows_;
  std::vector<timed_launch> timed_, running_;
  std::string statement_;  // of the next launch
  std::int64_t bytes_ = 0;
};

}  // namespace tenon
