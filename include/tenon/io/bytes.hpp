// tenon/io/bytes.hpp: whole files as bytes, and back.
// The one place where files are opened; parsers see bounded spans and refuse what they cannot trust.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <tenon/base/error.hpp>
#include <vector>

namespace tenon::io {

/// Throws a file_error that names operation and file.
[[noreturn]] inline void refuse(const char* operation, const std::filesystem::path& path, const std::string& fact) {
  throw file_error(compose_text(operation, ": ", path.string(), ": ", fact));
}

/// Every byte of a file.
/// throws    file_error when it is missing, is a folder or cannot be read
inline std::vector<std::uint8_t> read_bytes(const char* operation, const std::filesystem::path& path) {
  std::error_code status;
  const bool is_file = std::filesystem::is_regular_file(path, status);
  const auto folder = path.parent_path();
  if (!is_file && !folder.empty() && !std::filesystem::is_directory(folder, status)) {
    refuse(operation, path, "there is no folder " + folder.string());
  }
  if (!is_file) refuse(operation, path, "there is no such file");
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) refuse(operation, path, "it cannot be opened");
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) refuse(operation, path, "it cannot be read");
  return bytes;
}

/// Writes a file whole: beside its place first, then moved there, so that a failure leaves the old one.
/// throws    file_error
inline void write_bytes(const char* operation, const std::filesystem::path& path,
                        std::span<const std::span<const std::uint8_t>> parts) {
  auto beside = path;
  beside += ".part";
  {
    std::ofstream file(beside, std::ios::binary);
    if (!file) refuse(operation, path, "it cannot be written");
    for (const auto& part : parts) {
      file.write(reinterpret_cast<const char*>(part.data()), static_cast<std::streamsize>(part.size()));
    }
    if (!file.flush()) refuse(operation, path, "it cannot be written; is the disk full?");
  }
  std::error_code status;
  std::filesystem::rename(beside, path, status);
  if (status) refuse(operation, path, "it cannot be replaced: " + status.message());
}

/// An unsigned number of `Bytes` bytes, the most significant first.
template <int Bytes>
std::uint64_t big_endian(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < Bytes; ++i) value = value << 8 | bytes[static_cast<std::size_t>(i)];
  return value;
}

/// An unsigned number of `Bytes` bytes, the least significant first.
template <int Bytes>
std::uint64_t little_endian(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0;
  for (int i = Bytes - 1; i >= 0; --i) value = value << 8 | bytes[static_cast<std::size_t>(i)];
  return value;
}

}  // namespace tenon::io
