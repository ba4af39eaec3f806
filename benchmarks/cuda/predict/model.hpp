// benchmarks/cuda/predict/model.hpp: the least time of a statement on an H200, predicted from counts, not measured.
// The machine of tests/ptx executes what nvcc makes of them and counts; each count over its rate is a limit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/tenon.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ptx/counts.hpp"

namespace predict {

namespace tn = tenon;
using tenon_test::ptx::counted_launch;
using tenon_test::ptx::counts;

/// What one of an H200's 132 multiprocessors does in a second.
/// source    4.3 TB/s is what copies between two places of its memory read and write; 790 TFLOP/s is the rate of
///           cuBLAS, which the power of the chip limits; products of single warps reach 0.65 of the data sheet's 989
namespace rates {
inline constexpr double multiprocessors = 132, clock = 1.98e9;
inline constexpr double bytes = 4.3e12 / multiprocessors;
inline constexpr double instructions = 4 * clock;  // of warps
inline constexpr double sectors = 4 * clock;       // of 32 bytes, through the first cache
inline constexpr double passes = clock;            // over the banks of shared memory
inline constexpr double float_operations = 128 * 2 * clock;
inline constexpr double warpgroup_operations = 790e12 / multiprocessors, warp_operations = 640e12 / multiprocessors;
/// Matrix units multiply as many bytes of elements of any size.
inline double of_elements(double operations_of_16_bits, int element_bytes) {
  return operations_of_16_bits * 2 / element_bytes;
}
}  // namespace rates

/// The multiprocessors of the predicted device. It has as much less memory bandwidth, and statements are as much
/// smaller than those of the workloads G1 to G8, so that blocks and tiles are chosen as on the whole device.
inline int multiprocessors() {
  const char* const set = std::getenv("TENON_PTX_MULTIPROCESSORS");
  return set == nullptr ? 4 : std::atoi(set);
}

/// The times that a launch would take if each thing that it does were the only one, in seconds.
struct limits {
  double memory = 0, instructions = 0, first_cache = 0, shared_memory = 0, tensor_units = 0;

  limits& operator+=(const limits& more) {
    memory += more.memory, instructions += more.instructions, first_cache += more.first_cache;
    shared_memory += more.shared_memory, tensor_units += more.tensor_units;
    return *this;
  }
  std::pair<const char*, double> greatest() const {
    std::pair<const char*, double> result{"memory", memory};
    const std::pair<const char*, double> others[]{{"instructions", instructions},
                                                  {"first cache", first_cache},
                                                  {"shared memory", shared_memory},
                                                  {"tensor units", tensor_units}};
    for (const auto& each : others) result = each.second > result.second ? each : result;
    return result;
  }
};

/// Instructions of warps that a processor issues: those that move numbers between registers, or read parameters, are no
/// instructions of their own once registers are assigned.
inline double issued(const counts& done) {
  return static_cast<double>(done.instructions() - done.warps_of(tenon_test::ptx::work::moves));
}

/// The share of multiprocessors that have work, where each block takes as long as any other.
inline double busy_share(const counted_launch& launch) {
  const double blocks = double(launch.grid[0]) * launch.grid[1] * launch.grid[2], units = multiprocessors();
  return blocks == 0 ? 1 : blocks / (std::ceil(blocks / units) * units);
}

inline limits limits_of(const counted_launch& launch, int element_bytes) {
  const counts& done = launch.done;
  const bool by_warpgroups = launch.kernel.find("hopper") != std::string::npos;
  const double units = multiprocessors() * busy_share(launch);
  const auto parts = [](auto... traffics) { return static_cast<double>((traffics.parts + ...)); };
  return {.memory = 0,
          .instructions = issued(done) / (rates::instructions * units),
          .first_cache = parts(done.global_loads, done.global_stores, done.global_atomics) / (rates::sectors * units),
          .shared_memory = parts(done.shared_loads, done.shared_stores, done.shared_atomics) / (rates::passes * units),
          .tensor_units =
              static_cast<double>(done.tensor_operations) /
              (rates::of_elements(by_warpgroups ? rates::warpgroup_operations : rates::warp_operations, element_bytes) *
               units)};
}

/// The work of a statement that no kernel can avoid.
struct work {
  double bytes = 0;             ///< read and written once
  double operations = 0;        ///< multiplications and additions of matrix units
  double float_operations = 0;  ///< and of floats
  int element_bytes = 2;        ///< of what matrix units multiply

  double seconds() const {
    return std::max({bytes / rates::bytes, operations / rates::of_elements(rates::warpgroup_operations, element_bytes),
                     float_operations / rates::float_operations}) /
           multiprocessors();
  }
};

/// The rows of a program, and the file that they are written to: the program's first argument. A second argument keeps
/// the rows whose name holds it.
class session {
 public:
  session(int argument_count, char** arguments)
      : path_(argument_count > 1 ? arguments[1] : "-"), only_(argument_count > 2 ? arguments[2] : "") {
    std::printf(
        "Predicted from counted instructions for %d of 132 multiprocessors of an H200; nothing is measured.\n"
        "%-32s %8s %9s %9s  %-14s %s\n",
        multiprocessors(), "statement", "fraction", "ideal us", "least us", "binds", "kernels");
  }
  template <class Statement>
  void row(const std::string& name, const work& ideal, Statement&& statement) {
    if (name.find(only_) == std::string::npos) return;
    const auto launches = tenon_test::ptx::launches_of(statement);
    limits all{.memory = ideal.bytes / (rates::bytes * multiprocessors())};
    double least = 0, instructions = 0;
    std::string kernels;
    for (const auto& launch : launches) {
      const limits own = limits_of(launch, ideal.element_bytes);
      all += own, least += own.greatest().second;
      instructions += issued(launch.done);
      if (!kernels.empty()) kernels += ' ';
      kernels += short_name(launch);
    }
    least = std::max(least, all.memory);
    const double fraction = ideal.seconds() / least;
    std::printf("%-32s %8.2f %9.1f %9.1f  %-14s %s\n", name.c_str(), fraction, ideal.seconds() * 1e6, least * 1e6,
                all.greatest().first, kernels.c_str());
    std::fflush(stdout);
    rows_.push_back(tn::compose_text(
        "{\"name\": \"", name, "\", \"fraction\": ", fraction, ", \"ideal_us\": ", ideal.seconds() * 1e6,
        ", \"least_us\": ", least * 1e6, ", \"binds\": \"", all.greatest().first,
        "\", \"memory_us\": ", all.memory * 1e6, ", \"instructions_us\": ", all.instructions * 1e6,
        ", \"first_cache_us\": ", all.first_cache * 1e6, ", \"shared_memory_us\": ", all.shared_memory * 1e6,
        ", \"tensor_units_us\": ", all.tensor_units * 1e6, ", \"warp_instructions\": ", instructions,
        ", \"kernels\": \"", kernels, "\"}"));
  }
  /// Writes the rows; false where the file cannot be written.
  bool write() const {
    if (path_ == "-") return true;
    std::FILE* const file = std::fopen(path_.c_str(), "w");
    if (file == nullptr) return false;
    std::fprintf(file,
                 "{\n  \"context\": {\"predicted\": true, \"device\": \"H200\", \"multiprocessors\": %d},\n"
                 "  \"benchmarks\": [\n",
                 multiprocessors());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      std::fprintf(file, "    %s%s\n", rows_[i].c_str(), i + 1 < rows_.size() ? "," : "");
    }
    std::fprintf(file, "  ]\n}\n");
    return std::fclose(file) == 0;
  }

 private:
  /// A kernel's name without namespaces and template arguments, and its grid.
  static std::string short_name(const counted_launch& launch) {
    const std::string& whole = launch.kernel;
    const std::size_t outer = whole.find("run_kernel<"), first = whole.find("tenon::", outer == whole.npos ? 0 : outer);
    const std::size_t start = first == whole.npos ? 0 : first + std::strlen("tenon::");
    const std::string own = whole.substr(start, whole.find_first_of("<(", start) - start);
    return tn::compose_text(own, "[", static_cast<tn::index>(launch.grid[0]), "x",
                            static_cast<tn::index>(launch.grid[1]), "]");
  }

  std::string path_, only_;
  std::vector<std::string> rows_;
};

/// Normal random numbers.
template <class T, class Shape>
tn::tensor<T, Shape, tn::cuda> random_tensor(const Shape& extents, std::uint64_t seed) {
  tn::tensor<T, Shape, tn::cuda> values(extents);
  values = tn::normal<T>(extents, seed);
  return values;
}

/// The rows of each file of this folder.
void memory_rows(session& session);
void product_rows(session& session);
void window_rows(session& session);
void network_rows(session& session);

}  // namespace predict
