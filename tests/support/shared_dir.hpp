// tests/support/shared_dir.hpp: the folder of data that tests share but the repository does not hold.
// TENON_SHARED_DIR in the environment, else the folder named at configuration; tests that miss it warn and return.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "support/catch.hpp"

namespace tenon_test {

/// The shared folder, where it exists.
inline std::optional<std::filesystem::path> shared_dir() {
  std::filesystem::path folder;
#if defined(TENON_SHARED_DIR)
  folder = TENON_SHARED_DIR;
#endif
  if (const char* named = std::getenv("TENON_SHARED_DIR")) folder = named;
  std::error_code ignored;
  if (folder.empty() || !std::filesystem::is_directory(folder, ignored)) return std::nullopt;
  return folder;
}

/// `below` in the shared folder, where it exists; else nothing, with a warning: `if (!path) return;`
inline std::optional<std::filesystem::path> shared_path(const std::string& below) {
  std::error_code ignored;
  const auto folder = shared_dir();
  if (folder && std::filesystem::exists(*folder / below, ignored)) return *folder / below;
  WARN("skipped: no " << below << " in the shared folder; set TENON_SHARED_DIR");
  return std::nullopt;
}

}  // namespace tenon_test
