// tests/support/scratch_file.hpp: a file that is gone at the end of its scope.
// Tests of parsers write their bytes themselves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tenon_test {

using bytes = std::vector<std::uint8_t>;

/// A path in the folder for temporary files, of this process alone.
struct scratch_file {
  std::filesystem::path path;

  explicit scratch_file(const std::string& name)
      : path(std::filesystem::temp_directory_path() / ("tenon_" + std::to_string(getpid()) + "_" + name)) {}
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }

  void write(const bytes& content) const {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  }
};

/// The bytes of a text.
inline bytes bytes_of(const std::string& text) { return bytes(text.begin(), text.end()); }

inline bytes joined(bytes first, const bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace tenon_test
