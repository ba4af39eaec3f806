// examples/output_file.hpp: whether a file can be written, which is best known before hours of work.
// A new file replaces an old one whole, so the folder must take one; what lies there is left alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace example {

/// What keeps a program from writing this file; empty where nothing does.
inline std::string output_fault(const std::filesystem::path& path) {
  std::error_code status;
  const auto old = std::filesystem::status(path, status);
  if (std::filesystem::is_directory(old)) return "it is a folder, expected a file";
  if (std::filesystem::exists(old) && !std::filesystem::is_regular_file(old)) return {};  // a device or a pipe
  const auto whole = std::filesystem::absolute(path, status);
  const auto followed = std::filesystem::weakly_canonical(whole, status);
  const auto folder = (status ? whole : followed).parent_path();
  if (!std::filesystem::is_directory(folder, status)) return "there is no folder " + folder.string();
  std::string attempt = (folder / ".tenon.XXXXXX").string();
  const int made = ::mkstemp(attempt.data());
  if (made < 0) return "its folder takes no file: " + std::generic_category().message(errno);
  ::close(made);
  ::unlink(attempt.c_str());
  return {};
}

}  // namespace example
