// tests/fuzz/readers/format.hpp: kinds of files that readers are attacked with.
// A kind makes files that are mostly good; a reader may refuse any file by file_error, and nothing else may happen.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <tenon/base/error.hpp>
#include <vector>

#include "support/random.hpp"
#include "support/scratch_file.hpp"

namespace fuzz {

using tenon_test::bytes;
using tenon_test::random_source;

/// A kind of file.
struct format {
  const char* name;
  /// A file, good but for numbers that were damaged before sums and lengths were made of them.
  bytes (*make)(random_source& random);
  /// Reads a file whose bytes are these. Throws file_error where it is refused, and anything else where what was read
  /// does not come back from a file that the library writes of it.
  void (*check)(const std::filesystem::path& path, const bytes& content);
  /// Sums that would hide other damage are set right; may be null.
  void (*repair)(bytes& content) = nullptr;
};

std::vector<format> array_formats();
std::vector<format> named_formats();
std::vector<format> table_formats();
std::vector<format> image_formats();
std::vector<format> state_formats();

/// All of them.
inline std::vector<format> all_formats() {
  std::vector<format> all;
  for (const auto& some : {array_formats(), named_formats(), table_formats(), image_formats(), state_formats()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// A file in memory where the machine has a folder for that.
inline std::filesystem::path scratch_path(const std::string& name) {
  const std::filesystem::path memory = "/dev/shm";
  const auto folder = std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path();
  return folder / ("tenon_fuzz_" + std::to_string(getpid()) + "_" + name);
}

/// Such a file, gone at the end of its scope.
struct memory_file : tenon_test::scratch_file {
  explicit memory_file(const std::string& name) : scratch_file(name) { path = scratch_path(name); }
};

/// Whether a reader takes these bytes; it may refuse them by file_error alone.
inline bool is_accepted(const format& kind, const bytes& content) {
  static const memory_file file("input");
  file.write(content);
  try {
    kind.check(file.path, content);
  } catch (const tenon::file_error&) {
    return false;
  }
  return true;
}

/// What must hold of a file that was accepted.
inline void must_hold(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

template <class Choices>
const auto& one_of(const Choices& choices, random_source& random) {
  return choices[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(std::size(choices))))];
}

/// Whether something happens, once in so many times.
inline bool once_in(int times, random_source& random) { return random.below(times) == 0; }

}  // namespace fuzz
