// tests/ptx/runtime/state.hpp: what the stand-in for CUDA's runtime remembers of a process.
// Kernels run at once when they are asked for; streams.hpp knows in which order a device might run them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "ptx/grid.hpp"
#include "ptx/module.hpp"

namespace tenon_test::ptx {

/// A kernel that the program can launch.
struct known_kernel {
  module* of = nullptr;
  std::string name;
  int shared_bytes_allowed = 48 * 1024;
  std::size_t most_blocks_of_cluster = 8;  ///< more are not portable
};

/// The file that TENON_PTX_COUNTS names, to which lines are added; nullptr: none is wanted. `-` is what errors go to.
inline std::FILE* open_counts() {
  const char* const name = std::getenv("TENON_PTX_COUNTS");
  if (name == nullptr) return nullptr;
  return std::string_view(name) == "-" ? stderr : std::fopen(name, "a");
}

/// The number that an environment variable holds.
inline long long setting(const char* name, long long otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

struct runtime_state {
  static runtime_state& of_process() {
    static runtime_state& state = *new runtime_state;
    return state;
  }

  using guard = std::lock_guard<std::recursive_mutex>;
  std::recursive_mutex mutex;
  std::vector<std::unique_ptr<module>> modules;
  std::map<const void*, known_kernel> kernels;  ///< by the host's function
  cudaError_t last_error = cudaSuccess;         ///< until it is asked for
  std::string fault_text;                       ///< of the latest kernel that failed
  std::uint64_t launches = 0;
  counts done;
  std::vector<counted_launch>* counted = nullptr;  ///< where the counts of launches go
  std::FILE* const counts_file = open_counts();
  double seconds = 0;
  const std::uint64_t seed = static_cast<std::uint64_t>(setting("TENON_PTX_SEED", 1));
  const int asked_architecture = static_cast<int>(setting("TENON_PTX_ARCHITECTURE", 0));
  int newest_code = 0;  ///< the newest architecture that kernels are for
  const int devices = static_cast<int>(setting("TENON_PTX_DEVICES", 1));
  const int multiprocessors = static_cast<int>(setting("TENON_PTX_MULTIPROCESSORS", 4));
  const int shared_bytes_per_block = static_cast<int>(setting("TENON_PTX_SHARED_BYTES", 227 * 1024));

  /// That of the device: the one that was asked for, else that of the newest code.
  int architecture() const {
    return asked_architecture != 0 ? asked_architecture : newest_code != 0 ? newest_code : 90;
  }
  cudaError_t keep(cudaError_t code) {
    if (code != cudaSuccess) last_error = code;
    return code;
  }
};

}  // namespace tenon_test::ptx
