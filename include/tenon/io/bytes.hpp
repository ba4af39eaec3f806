// tenon/io/bytes.hpp: whole files as bytes, and files that are open.
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
#include <iterator>
#include <new>
#include <span>
#include <system_error>
#include <tenon/base/dtype.hpp>
#include <tenon/core/extents.hpp>
#include <vector>

namespace tenon::io {

/// The most bytes that deflate makes of one compressed byte.
inline constexpr std::uint64_t most_inflated_bytes = 1032;

/// Throws a file_error that names operation and file.
[[noreturn]] inline void refuse(const char* operation, const std::filesystem::path& path, const std::string& fact) {
  throw file_error(compose_text(operation, ": ", path.string(), ": ", fact));
}

/// Throws a file_error with what the system says of its last call, which failed.
[[noreturn]] inline void refuse_with_reason(const char* operation, const std::filesystem::path& path,
                                            const char* fact = "it cannot be written") {
  const std::error_code reason(errno, std::generic_category());
  refuse(operation, path, compose_text(fact, ": ", reason.message()));
}

/// Calls `make`, which allocates memory for the content of a file of `bytes` bytes, and returns its result.
/// throws    file_error where there is too little memory, and what `make` throws besides
template <class Make>
auto within_memory(const char* operation, const std::filesystem::path& path, std::uint64_t bytes, const Make& make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // of a container
  }
  refuse(operation, path, compose_text("there is too little memory for what ", bytes, " bytes hold"));
}

/// How many bytes the elements of these extents take, `size` bytes each. Every parser counts by this function.
/// throws    file_error where 64 bits do not hold the number
template <class Extents>
std::uint64_t bytes_of_elements(const char* operation, const std::filesystem::path& path, const Extents& extents,
                                std::size_t size) {
  if (!is_countable(extents, static_cast<index>(size))) {
    refuse(operation, path, compose_text("extents ", extents, " have more elements than can be counted"));
  }
  std::uint64_t bytes = size;
  for (const index extent : extents) bytes *= static_cast<std::uint64_t>(extent);
  return bytes;
}

/// The element that is stored in these bytes, bit for bit. A bool is true where its byte is not 0, as for NumPy.
template <dtype T>
T element_of(const std::uint8_t* bytes) {
  if constexpr (std::is_same_v<T, bool>) {
    return *bytes != 0;
  } else {
    T element;
    std::memcpy(&element, bytes, sizeof(T));
    return element;
  }
}

/// Every byte of a file, or of a pipe until its writer closes it.
/// throws    file_error when it is missing, is a folder, cannot be read, or is larger than the memory
inline std::vector<std::uint8_t> read_bytes(const char* operation, const std::filesystem::path& path) {
  std::error_code status;
  const auto type = std::filesystem::status(path, status).type();
  if (type == std::filesystem::file_type::not_found) {
    const auto folder = path.parent_path();
    const bool has_folder = folder.empty() || std::filesystem::is_directory(folder, status);
    refuse(operation, path, has_folder ? "there is no such file" : "there is no folder " + folder.string());
  }
  if (type == std::filesystem::file_type::none) refuse(operation, path, "it cannot be read: " + status.message());
  if (type == std::filesystem::file_type::directory) refuse(operation, path, "it is a folder, expected a file");
  const bool is_pipe = type == std::filesystem::file_type::fifo;
  if (type != std::filesystem::file_type::regular && !is_pipe) {
    refuse(operation, path, "it is a device or a socket, expected a file");
  }
  const std::uint64_t size = is_pipe ? 0 : std::filesystem::file_size(path, status);
  if (status) refuse(operation, path, "it cannot be read: " + status.message());
  return within_memory(operation, path, size, [&] {
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse_with_reason(operation, path, "it cannot be opened");
    if (is_pipe) return std::vector<std::uint8_t>(std::istreambuf_iterator<char>(file), {});
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    if (!file) refuse(operation, path, "it cannot be read");
    return bytes;
  });
}

/// A file or folder that is open for the system's calls.
class open_file {
 public:
  explicit open_file(const std::filesystem::path& path, int flags, mode_t mode = 0666)
      : handle_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    if (is_open()) ::close(handle_);
  }

  bool is_open() const { return handle_ >= 0; }
  int handle() const { return handle_; }
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
  /// Writes behind the end; false where not all could be written: the file is then as long as it was.
  bool append(std::span<const std::uint8_t> bytes) {
    const auto end = ::lseek(handle_, 0, SEEK_END);
    if (write(bytes)) return true;
    const int why = errno;
    [[maybe_unused]] const bool is_cut = end >= 0 && ::ftruncate(handle_, end) == 0;
    errno = why;
    return false;
  }
  /// Waits until the disk has it; false where that failed. What no disk holds, such as a pipe, need not wait.
  bool flush() { return ::fsync(handle_) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS; }

 private:
  int handle_;
};

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

/// Appends the lowest bytes of a number, the lowest first.
template <int Bytes>
void append_little_endian(std::vector<std::uint8_t>& bytes, std::uint64_t number) {
  for (int i = 0; i < Bytes; ++i) bytes.push_back(static_cast<std::uint8_t>(number >> (8 * i) & 0xff));
}

}  // namespace tenon::io
