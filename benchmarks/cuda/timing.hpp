// benchmarks/cuda/timing.hpp: peers on the same data, timed by CUDA events, interleaved, as JSON.
// Results are compared first: a case whose peers differ is not timed, and the program fails. Medians of 25 samples.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/tenon.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace timing {

namespace tn = tenon;

inline constexpr std::size_t rotated_bytes = std::size_t{256} << 20;  // more than any second-level cache holds
inline constexpr int samples = 25;
inline constexpr float sample_milliseconds = 0.2f;

/// How many copies of a working set are rotated, so that none is found in a cache.
inline int slots_for(std::size_t bytes) {
  const std::size_t wanted = (rotated_bytes + bytes - 1) / bytes;
  return static_cast<int>(std::min<std::size_t>(wanted, 256));
}

/// A library that does the work of a case on working set number `slot`. `result` gives what it left for set 0, on the
/// host; null for what moves as many bytes and computes nothing (copies, empty kernels).
struct contender {
  std::string library;
  std::function<void(int slot)> run;
  std::function<std::vector<float>()> result;
};

/// What a case of a workload is measured by, and how close results must be: |a - b| <= bound * (1 + |b|).
struct measure {
  double bytes = 0;  ///< read and written by the ideal kernel
  double operations = 0;
  double bound = 1e-5;
  int slots = 1;
};

/// Elements of a device, as floats on the host; of more than 2^24, 256 runs of 2^16 from the first one to the last.
template <class T>
std::vector<float> on_host(const T* elements, std::size_t count) {
  const std::size_t runs = count > (std::size_t{1} << 24) ? 256 : 1;
  const std::size_t length = runs > 1 ? std::size_t{1} << 16 : count;
  std::vector<T> copied(runs * length);
  for (std::size_t run = 0; run < runs; ++run) {
    const std::size_t start = runs > 1 ? (count - length) / (runs - 1) * run : 0;
    tn::cuda::copy_to_host(copied.data() + run * length, elements + start, length * sizeof(T));
  }
  std::vector<float> values(copied.size());
  std::transform(copied.begin(), copied.end(), values.begin(), [](T each) { return static_cast<float>(each); });
  return values;
}
template <class Tensor>
std::function<std::vector<float>()> elements_of(const Tensor& tensor) {
  return [&tensor] { return on_host(tensor.data(), static_cast<std::size_t>(tensor.size())); };
}

/// Normal random numbers, the same in every run.
template <class T, class Shape>
tn::tensor<T, Shape, tn::cuda> random_tensor(const Shape& extents, std::uint64_t seed) {
  tn::tensor<T, Shape, tn::cuda> values(extents);
  values = tn::normal<T>(extents, seed);
  return values;
}

/// Events between which the device's time is measured.
class device_timer {
 public:
  device_timer() {
    for (auto& each : events_) tn::check_cuda("cudaEventCreate", cudaEventCreate(&each));
  }
  device_timer(const device_timer&) = delete;
  device_timer& operator=(const device_timer&) = delete;
  ~device_timer() {
    for (auto& each : events_) cudaEventDestroy(each);
  }
  /// Of one run.
  template <class Run>
  float milliseconds(const Run& run, int repetitions) const {
    tn::check_cuda("cudaEventRecord", cudaEventRecord(events_[0], tn::current_stream()));
    for (int i = 0; i < repetitions; ++i) run();
    tn::check_cuda("cudaEventRecord", cudaEventRecord(events_[1], tn::current_stream()));
    tn::check_cuda("cudaEventSynchronize", cudaEventSynchronize(events_[1]));
    float milliseconds = 0;
    tn::check_cuda("cudaEventElapsedTime", cudaEventElapsedTime(&milliseconds, events_[0], events_[1]));
    return milliseconds / static_cast<float>(repetitions);
  }

 private:
  cudaEvent_t events_[2]{};
};

/// The cases of a program, the file that they are written to, and a text that stands in the names of those to run.
class session {
 public:
  session(int argument_count, char** arguments) {
    if (argument_count != 2 && argument_count != 3) fail("usage: PROGRAM RESULT.json [PART OF NAMES]");
    path_ = arguments[1];
    if (argument_count == 3) part_ = arguments[2];
  }

  /// Runs each once and compares its result with that of the first; what is only compared need not be timed.
  bool must_agree(const std::string& name, const measure& by, const std::vector<contender>& contenders) {
    const std::string difference = difference_of(by, contenders);
    if (difference.empty()) return true;
    std::fprintf(stderr, "%s: %s\n", name.c_str(), difference.c_str());
    failed_ = true;
    return false;
  }

  /// Compares, then times in turns. What has been measured so far is in the file after each case.
  void compare(const std::string& name, const measure& by, const std::vector<contender>& contenders) {
    if (name.find(part_) == std::string::npos || !must_agree(name, by, contenders)) return;
    std::vector<int> repetitions;
    for (const auto& each : contenders) repetitions.push_back(repetitions_for(each, by.slots));
    std::vector<std::vector<float>> times(contenders.size());
    for (int sample = 0; sample < samples; ++sample) {
      for (std::size_t i = 0; i < contenders.size(); ++i) {
        times[i].push_back(time_of(contenders[i], by.slots, repetitions[i]));
      }
    }
    for (std::size_t i = 0; i < contenders.size(); ++i) add_row(name, by, contenders[i].library, times[i]);
    write();
  }

  /// Whether the results of some case differed.
  bool failed() const { return failed_; }

  [[noreturn]] static void fail(const std::string& what) {
    std::fprintf(stderr, "%s\n", what.c_str());
    std::exit(1);
  }

 private:
  /// Where a result differs from the first one; empty where none does.
  static std::string difference_of(const measure& by, const std::vector<contender>& contenders) {
    std::vector<float> expected;
    for (const auto& each : contenders) {
      if (!each.result) continue;
      each.run(0);
      const auto found = each.result();
      if (expected.empty()) expected = found;
      if (found.size() != expected.size()) return each.library + " has another number of results";
      for (std::size_t i = 0; i < found.size(); ++i) {
        const double wanted = expected[i];
        if (std::fabs(found[i] - wanted) <= by.bound * (1 + std::fabs(wanted))) continue;
        return tn::compose_text(each.library, ": result ", static_cast<tn::index>(i), " is ", found[i],
                                ", the first library has ", expected[i]);
      }
    }
    return {};
  }
  void write() const {
    std::FILE* file = std::fopen(path_.c_str(), "w");
    if (file == nullptr) fail(path_ + ": cannot be written");
    std::fprintf(file, "{\n  \"context\": %s,\n  \"benchmarks\": [\n", context().c_str());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      std::fprintf(file, "%s%s\n", rows_[i].c_str(), i + 1 < rows_.size() ? "," : "");
    }
    std::fprintf(file, "  ]\n}\n");
    std::fclose(file);
  }
  /// Milliseconds of one run.
  float time_of(const contender& each, int slots, int repetitions) {
    return timer_.milliseconds([&] { each.run(next_slot_++ % slots); }, repetitions);
  }
  /// Enough for a sample that events resolve. The runs before it warm up.
  int repetitions_for(const contender& each, int slots) {
    for (int i = 0; i < 3; ++i) time_of(each, slots, 1);
    const float once = time_of(each, slots, 4);
    return static_cast<int>(std::clamp(std::ceil(sample_milliseconds / std::max(once, 1e-4f)), 1.0f, 1000.0f));
  }
  void add_row(const std::string& name, const measure& by, const std::string& library, std::vector<float> times) {
    std::sort(times.begin(), times.end());
    const double median = static_cast<double>(times[times.size() / 2]);
    char text[640];
    std::snprintf(text, sizeof(text),
                  "    {\"name\": \"%s/%s_median\", \"aggregate_name\": \"median\", \"repetitions\": %d, "
                  "\"real_time\": %.9g, \"least_time\": %.9g, \"time_unit\": \"ms\", \"bound\": %g",
                  name.c_str(), library.c_str(), samples, median, static_cast<double>(times.front()), by.bound);
    std::string row = text;
    if (by.bytes > 0) row += field("bytes_per_second", by.bytes / (median * 1e-3));
    if (by.operations > 0) row += field("FLOP/s", by.operations / (median * 1e-3));
    rows_.push_back(row + "}");
    std::printf("%-40s %-10s %10.4f ms\n", name.c_str(), library.c_str(), median);
    std::fflush(stdout);
  }
  static std::string field(const char* key, double value) {
    char text[64];
    std::snprintf(text, sizeof(text), ", \"%s\": %.9g", key, value);
    return text;
  }
  static std::string context() {
    cudaDeviceProp device{};
    int driver = 0, runtime = 0, clock = 0;
    cudaGetDeviceProperties(&device, tn::current_cuda_device());
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, tn::current_cuda_device());
    char date[32];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", std::localtime(&now));
    return tn::compose_text("{\"device\": \"", device.name, "\", \"date\": \"", date, "\", \"driver\": ", driver,
                            ", \"runtime\": ", runtime, ", \"clock_kilohertz\": ", clock,
                            ", \"data\": \"normal, random\"}");
  }
  std::string path_, part_;
  bool failed_ = false;
  std::vector<std::string> rows_;
  device_timer timer_;
  int next_slot_ = 0;
};

/// The yardstick of bandwidth: a copy within the device that reads and writes `bytes` in all.
class device_copy {
 public:
  explicit device_copy(double bytes, int slots = 1) : half_(static_cast<std::size_t>(bytes / 2)), slots_(slots) {
    memory_ = static_cast<std::byte*>(tn::cuda::allocate(2 * half_ * static_cast<std::size_t>(slots)));
    tn::check_cuda("cudaMemset", cudaMemset(memory_, 1, 2 * half_ * static_cast<std::size_t>(slots)));
  }
  device_copy(const device_copy&) = delete;
  device_copy& operator=(const device_copy&) = delete;
  ~device_copy() { tn::cuda::deallocate(memory_, 2 * half_ * static_cast<std::size_t>(slots_)); }

  contender as_limit() const {
    return {"limit",
            [this](int slot) {
              std::byte* const source = memory_ + 2 * half_ * static_cast<std::size_t>(slot);
              tn::cuda::copy(source + half_, source, half_);
            },
            nullptr};
  }

 private:
  std::size_t half_;
  int slots_;
  std::byte* memory_;
};

/// Runs the cases of a program; what is thrown and results that differ become sentences and a failure.
inline int run_cases(int argument_count, char** arguments, void (*cases)(session&)) {
  try {
    session measured(argument_count, arguments);
    cases(measured);
    return measured.failed() ? 1 : 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}

}  // namespace timing
