// tenon/io/bytes.hpp: whole files as bytes, and back.
// The one place where files are opened; parsers see bounded spans and refuse what they cannot trust.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
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

/// A file or folder that is open for the system's calls.
class open_file {
 public:
  open_file(const std::filesystem::path& path, int flags) : handle_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    if (is_open()) ::close(handle_);
  }

  bool is_open() const { return handle_ >= 0; }
  /// False where not all could be written.
  bool write(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
      const auto written = ::write(handle_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
  }
  /// Waits until the disk has it; false where that failed.
  bool flush() { return ::fsync(handle_) == 0; }

 private:
  int handle_;
};

/// Writes a file whole: beside its place first, then moved there, so that a failure, a killed process or a power cut
/// leaves the old one.
/// throws    file_error
inline void write_bytes(const char* operation, const std::filesystem::path& path,
                        std::span<const std::span<const std::uint8_t>> parts) {
  auto beside = path;
  beside += ".part";
  {
    open_file file(beside, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file.is_open()) refuse(operation, path, "it cannot be written");
    for (const auto& part : parts) {
      if (!file.write(part)) refuse(operation, path, "it cannot be written; is the disk full?");
    }
    if (!file.flush()) refuse(operation, path, "it cannot be written; is the disk full?");
  }
  std::error_code status;
  std::filesystem::rename(beside, path, status);
  if (status) refuse(operation, path, "it cannot be replaced: " + status.message());
  const auto folder = path.parent_path();
  open_file(folder.empty() ? std::filesystem::path(".") : folder, O_RDONLY | O_DIRECTORY).flush();  // where it can be
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
