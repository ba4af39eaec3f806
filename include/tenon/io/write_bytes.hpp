// tenon/io/write_bytes.hpp: bytes as a whole file.
// They go into a new file, which replaces the old one when the disk has all of it: readers see one or the other.
// Floor 2: may include base, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/file.h>
#include <sys/stat.h>

#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <tenon/io/bytes.hpp>

namespace tenon::io {

namespace detail {

/// Whether a path names an open file of a process, as /dev/stdout does by way of links.
inline bool is_of_process(const std::filesystem::path& path) {
  std::error_code status;
  return std::filesystem::canonical(path.parent_path(), status).native().starts_with("/proc/");
}

/// What a path names when links are followed.
inline std::filesystem::path followed(std::filesystem::path path) {
  constexpr int most = 40;  // links in a row, as the system has it
  std::error_code status;
  for (int i = 0; i < most && !is_of_process(path) && std::filesystem::is_symlink(path, status); ++i) {
    path = path.parent_path() / std::filesystem::read_symlink(path, status);
  }
  return path;
}

/// A new file in the folder of another. It is gone at the end of its life unless it has been moved.
///
/// Its name is `.NAME.part` and a number, the first that no other writer has. A writer holds a lock on its file, so one
/// without a lock was left by a process that was killed: the next writer removes it.
class file_beside {
 public:
  file_beside(const std::filesystem::path& target, mode_t mode) {
    constexpr int most = 1000;              // writers of one file at a time
    constexpr std::size_t most_name = 200;  // of the 255 bytes that a name may have
    const std::string name = compose_text(".", target.filename().native().substr(0, most_name), ".part");
    for (int number = 0; number < most; ++number) {
      path_ = target.parent_path() / (name + std::to_string(number));
      remove_abandoned(path_);
      file_.emplace(path_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
      if (!file_->is_open() && errno == EEXIST) continue;
      if (!file_->is_open()) return;
      const bool is_taken = !lock(*file_) && errno == EWOULDBLOCK;
      if (!is_taken && is_named(path_, *file_)) return;  // else another writer saw it before it was locked
    }
    file_.reset();
    errno = EEXIST;
  }
  file_beside(const file_beside&) = delete;
  file_beside& operator=(const file_beside&) = delete;
  ~file_beside() {
    if (is_open() && !is_moved_) ::unlink(path_.c_str());
  }

  bool is_open() const { return file_ && file_->is_open(); }
  bool write(std::span<const std::span<const std::uint8_t>> parts) {
    for (const auto& part : parts) {
      if (!file_->write(part)) return false;
    }
    return true;
  }
  bool set_mode(mode_t mode) { return ::fchmod(file_->handle(), mode) == 0; }
  bool flush() { return file_->flush(); }
  bool move_to(const std::filesystem::path& target) {
    return is_moved_ = std::rename(path_.c_str(), target.c_str()) == 0;
  }

 private:
  static bool lock(const open_file& file) { return ::flock(file.handle(), LOCK_EX | LOCK_NB) == 0; }
  static bool is_named(const std::filesystem::path& path, const open_file& file) {
    struct stat opened{}, named{};
    if (::fstat(file.handle(), &opened) != 0 || ::lstat(path.c_str(), &named) != 0) return false;
    return S_ISREG(opened.st_mode) && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
  }
  /// Asks for the name once it has the lock: its writer may have moved the file since it was opened here.
  static void remove_abandoned(const std::filesystem::path& path) {
    const open_file left(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (left.is_open() && lock(left) && is_named(path, left)) ::unlink(path.c_str());
  }

  std::filesystem::path path_;
  std::optional<open_file> file_;
  bool is_moved_ = false;
};

inline void write_in_place(const char* operation, const std::filesystem::path& path,
                           std::span<const std::span<const std::uint8_t>> parts) {
  open_file file(path, O_WRONLY | O_APPEND | O_NOCTTY);
  bool is_whole = file.is_open();
  for (const auto& part : parts) is_whole = is_whole && file.write(part);
  if (!is_whole || !file.flush()) refuse_with_reason(operation, path);
}

inline void replace_file(const char* operation, const std::filesystem::path& path, const std::filesystem::path& target,
                         std::optional<mode_t> old_mode, std::span<const std::span<const std::uint8_t>> parts) {
  {
    file_beside made(target, old_mode ? 0600 : 0666);
    if (!made.is_open() || !made.write(parts)) refuse_with_reason(operation, path);
    if (old_mode && !made.set_mode(*old_mode)) refuse_with_reason(operation, path, "its mode cannot be kept");
    if (!made.flush()) refuse_with_reason(operation, path, "it does not reach the disk");
    if (!made.move_to(target)) refuse_with_reason(operation, path, "it cannot be replaced");
  }
  const auto parent = target.parent_path();
  open_file folder(parent.empty() ? std::filesystem::path(".") : parent, O_RDONLY | O_DIRECTORY);
  if (folder.is_open() && !folder.flush()) {  // a folder that may be written need not be readable
    refuse_with_reason(operation, path, "it is written, but its folder does not reach the disk");
  }
}

}  // namespace detail

/// Writes a file whole. After a failure, a killed process, a power cut or on a full disk the old file is still there,
/// and the room of the new one is given back. Several writers of one file each write it whole; the last one wins. The
/// file keeps its mode. Where the path is a link, the file that it names is replaced and the link stays. Devices, pipes
/// and files that a process has open (/dev/null, /dev/stdout) are written as they are; a pipe waits for its reader.
/// throws    file_error, with what the system says
inline void write_bytes(const char* operation, const std::filesystem::path& path,
                        std::span<const std::span<const std::uint8_t>> parts) {
  struct stat old{};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) refuse_with_reason(operation, path);
  const auto target = detail::followed(path);
  if (exists && (!S_ISREG(old.st_mode) || detail::is_of_process(target))) {
    return detail::write_in_place(operation, path, parts);
  }
  const auto mode = exists ? std::optional<mode_t>(old.st_mode & 0777) : std::nullopt;
  detail::replace_file(operation, path, target, mode, parts);
}

}  // namespace tenon::io
