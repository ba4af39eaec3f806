// tests/io/write_bytes.cpp: bytes as a whole file.
// Whatever fails, and whoever else writes, there is one whole file and nothing beside it.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/write_bytes.hpp>

#include <algorithm>
#include <thread>

#include "support/file_size_limit.hpp"
#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

namespace io = tenon::io;
using tenon_test::bytes;
using tenon_test::text_of;

namespace {

/// A folder that is gone at the end of its scope.
struct scratch_folder : tenon_test::scratch_file {
  explicit scratch_folder(const std::string& name) : scratch_file(name) { std::filesystem::create_directory(path); }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& each : std::filesystem::directory_iterator(path)) found.push_back(each.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }
};
using file_names = std::vector<std::string>;

void write_whole(const std::filesystem::path& path, const bytes& content) {
  const std::span<const std::uint8_t> parts[] = {content};
  io::write_bytes("write", path, parts);
}
bytes whole(const std::filesystem::path& path) { return io::read_bytes("test", path); }

mode_t mode_of(const std::filesystem::path& path) {
  struct stat found{};
  REQUIRE(::lstat(path.c_str(), &found) == 0);
  return found.st_mode;
}

}  // namespace

TEST_CASE("a file is written whole, in place of the old one", "[write_bytes]") {
  const scratch_folder folder("written");
  const bytes first{1, 2, 3}, second{255, 0};
  const std::span<const std::uint8_t> parts[] = {first, {}, second};
  io::write_bytes("test", folder.path / "file", parts);
  CHECK(whole(folder.path / "file") == bytes{1, 2, 3, 255, 0});
  write_whole(folder.path / "file", {});
  CHECK(whole(folder.path / "file").empty());
  write_whole(folder.path / std::string(255, 'n'), first);
  CHECK(folder.names() == file_names{"file", std::string(255, 'n')});
}

TEST_CASE("a new file has the mode of any, an old one keeps its own", "[write_bytes]") {
  const scratch_folder folder("modes");
  const auto path = folder.path / "file";
  const mode_t mask = ::umask(027);
  write_whole(path, {1});
  ::umask(mask);
  CHECK((mode_of(path) & 0777) == 0640);
  for (const mode_t mode : {0600u, 0444u, 0777u}) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    write_whole(path, {2});
    CHECK((mode_of(path) & 07777) == mode);
  }
}

TEST_CASE("a link stays, and what it names is written", "[write_bytes]") {
  const scratch_folder folder("links");
  std::filesystem::create_directory(folder.path / "within");
  std::filesystem::create_symlink("within/second", folder.path / "first");
  std::filesystem::create_symlink("file", folder.path / "within" / "second");
  for (const auto& content : {bytes{1}, bytes{2, 3}}) {
    write_whole(folder.path / "first", content);
    CHECK(whole(folder.path / "within" / "file") == content);
    CHECK(std::filesystem::is_symlink(folder.path / "first"));
    CHECK(std::filesystem::is_symlink(folder.path / "within" / "second"));
  }
  std::filesystem::create_symlink("circle", folder.path / "circle");
  CHECK(text_of<tenon::file_error>([&] { write_whole(folder.path / "circle", {1}); }) ==
        "write: " + (folder.path / "circle").string() + ": it cannot be written: Too many levels of symbolic links");
  CHECK(folder.names() == file_names{"circle", "first", "within"});
}

TEST_CASE("devices and pipes are written as they are", "[write_bytes]") {
  const scratch_folder folder("devices");
  write_whole("/dev/null", {1, 2});
  CHECK(S_ISCHR(mode_of("/dev/null")));
  std::filesystem::create_symlink("/dev/null", folder.path / "nothing");
  write_whole(folder.path / "nothing", {1, 2});
  CHECK(std::filesystem::is_symlink(folder.path / "nothing"));
  const auto pipe = folder.path / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  bytes received(3);
  {
    const std::jthread reader([&] { std::ifstream(pipe).read(reinterpret_cast<char*>(received.data()), 3); });
    write_whole(pipe, {4, 5, 6});
  }
  CHECK(received == bytes{4, 5, 6});
  CHECK(S_ISFIFO(mode_of(pipe)));
  const io::open_file opened(folder.path / "opened", O_RDWR | O_CREAT);
  const auto number = std::to_string(opened.handle());
  write_whole("/proc/self/fd/" + number, {7}), write_whole("/dev/fd/" + number, {8});
  CHECK(whole(folder.path / "opened") == bytes{7, 8});
  CHECK(text_of<tenon::file_error>([&] { write_whole(folder.path, {}); }) ==
        "write: " + folder.path.string() + ": it cannot be written: Is a directory");
  CHECK(folder.names() == file_names{"nothing", "opened", "pipe"});
}

TEST_CASE("a failure leaves the old file and nothing beside it, and says why", "[write_bytes]") {
  const scratch_folder folder("failures");
  const auto path = folder.path / "file";
  write_whole(path, {1, 2});
  {
    const tenon_test::file_size_limit at(4096);
    CHECK(text_of<tenon::file_error>([&] { write_whole(path, bytes(10000)); }) ==
          "write: " + path.string() + ": it cannot be written: File too large");
  }
  CHECK(whole(path) == bytes{1, 2});
  CHECK(folder.names() == file_names{"file"});
  CHECK(text_of<tenon::file_error>([&] { write_whole(folder.path / "none" / "file", {}); }) ==
        "write: " + (folder.path / "none/file").string() + ": it cannot be written: No such file or directory");
  CHECK(text_of<tenon::file_error>([&] { write_whole(path / "file", {}); }) ==
        "write: " + (path / "file").string() + ": it cannot be written: Not a directory");
}

TEST_CASE("a link that others have put beside a file is not followed", "[write_bytes]") {
  const scratch_folder folder("planted");
  const auto path = folder.path / "file", victim = folder.path / "victim";
  write_whole(victim, {9});
  for (const char* name : {"file.part", ".file.part0", ".file.part1"}) {
    std::filesystem::create_symlink(victim, folder.path / name);
  }
  write_whole(path, {1, 2});
  CHECK(whole(victim) == bytes{9});
  CHECK(whole(path) == bytes{1, 2});
  CHECK(!std::filesystem::is_symlink(path));
  CHECK(folder.names() == file_names{".file.part0", ".file.part1", "file", "file.part", "victim"});
}

TEST_CASE("what a killed process left is removed, what another writes stays", "[write_bytes]") {
  const scratch_folder folder("abandoned");
  const auto path = folder.path / "file";
  write_whole(folder.path / ".file.part0", bytes(100));
  write_whole(path, {1});
  CHECK(folder.names() == file_names{"file"});
  const io::open_file other(folder.path / ".file.part0", O_RDWR | O_CREAT | O_EXCL);
  REQUIRE(::flock(other.handle(), LOCK_EX) == 0);
  write_whole(path, {2});
  CHECK(folder.names() == file_names{".file.part0", "file"});
}

TEST_CASE("of several writers each writes the file whole", "[write_bytes]") {
  const scratch_folder folder("writers");
  const auto path = folder.path / "file";
  const auto content = [](int writer) { return bytes(20000, static_cast<std::uint8_t>(writer)); };
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < 3; ++writer) {
      writers.emplace_back([&, writer] {
        for (int round = 0; round < 50; ++round) write_whole(path, content(writer));
      });
    }
  }
  CHECK(folder.names() == file_names{"file"});
  const auto last = whole(path);
  REQUIRE(last.size() == 20000);
  CHECK(last == content(last[0]));
}
