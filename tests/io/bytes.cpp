// tests/io/bytes.cpp: whole files in and out.
// Every way in which a file can be missing has its own sentence.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/bytes.hpp>

#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

namespace io = tenon::io;
using tenon_test::scratch_file;
using tenon_test::text_of;

TEST_CASE("bytes are written and read whole", "[bytes]") {
  const scratch_file file("bytes");
  const std::vector<std::uint8_t> first{1, 2, 3}, second{255, 0};
  const std::span<const std::uint8_t> parts[] = {first, {}, second};
  io::write_bytes("test", file.path, parts);
  CHECK(io::read_bytes("test", file.path) == std::vector<std::uint8_t>{1, 2, 3, 255, 0});
  CHECK(!std::filesystem::exists(file.path.string() + ".part"));
}

TEST_CASE("an empty file has no bytes", "[bytes]") {
  const scratch_file file("empty");
  file.write({});
  CHECK(io::read_bytes("test", file.path).empty());
}

TEST_CASE("what cannot be read says why", "[bytes]") {
  const auto folder = std::filesystem::temp_directory_path();
  CHECK(text_of<tenon::file_error>([&] { io::read_bytes("read", folder / "tenon_no_such_file"); }) ==
        "read: " + (folder / "tenon_no_such_file").string() + ": there is no such file");
  CHECK(text_of<tenon::file_error>([&] { io::read_bytes("read", folder / "tenon_no_folder" / "file"); }) ==
        "read: " + (folder / "tenon_no_folder/file").string() + ": there is no folder " +
            (folder / "tenon_no_folder").string());
  CHECK_THROWS_AS(io::read_bytes("read", folder), tenon::file_error);
}

TEST_CASE("what cannot be written says so", "[bytes]") {
  const auto path = std::filesystem::temp_directory_path() / "tenon_no_folder" / "file";
  CHECK(text_of<tenon::file_error>([&] { io::write_bytes("write", path, {}); }) ==
        "write: " + path.string() + ": it cannot be written");
}

TEST_CASE("numbers of either byte order", "[bytes]") {
  const std::vector<std::uint8_t> bytes{0x01, 0x02, 0x03, 0xf4, 0, 0, 0, 0x80};
  CHECK(io::big_endian<4>(bytes) == 0x010203f4u);
  CHECK(io::little_endian<4>(bytes) == 0xf4030201u);
  CHECK(io::little_endian<8>(bytes) == 0x80000000f4030201u);
}
