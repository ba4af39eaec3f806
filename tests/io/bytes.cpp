// tests/io/bytes.cpp: whole files in and out.
// Every way in which a file can be missing has its own sentence.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/bytes.hpp>
#include <tenon/io/write_bytes.hpp>

#include "support/file_size_limit.hpp"
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
  CHECK(text_of<tenon::file_error>([&] { io::read_bytes("read", folder); }) ==
        "read: " + folder.string() + ": it is a folder, expected a file");
  CHECK(text_of<tenon::file_error>([&] { io::read_bytes("read", "/dev/null"); }) ==
        "read: /dev/null: it is a device or a socket, expected a file");
  const std::string long_name(300, 'a');
  CHECK(text_of<tenon::file_error>([&] { io::read_bytes("read", long_name); }) ==
        "read: " + long_name + ": it cannot be read: File name too long");
}

TEST_CASE("a pipe is read until its writer closes it", "[bytes]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const std::vector<std::uint8_t> values{1, 2, 255};
  REQUIRE(::write(ends[1], values.data(), values.size()) == 3);
  ::close(ends[1]);
  CHECK(io::read_bytes("read", "/proc/self/fd/" + std::to_string(ends[0])) == values);
  ::close(ends[0]);
}

TEST_CASE("what is appended is there whole, or not at all", "[bytes]") {
  const scratch_file file("appended");
  file.write({1, 2});
  io::open_file log(file.path, O_WRONLY | O_APPEND);
  const std::vector<std::uint8_t> more{3, 4, 5}, much(10000, 7);
  CHECK(log.append(more));
  {
    const tenon_test::file_size_limit at(4096);
    CHECK_FALSE(log.append(much));
    CHECK(errno == EFBIG);
  }
  CHECK(io::read_bytes("test", file.path) == std::vector<std::uint8_t>{1, 2, 3, 4, 5});
}

TEST_CASE("numbers of either byte order", "[bytes]") {
  const std::vector<std::uint8_t> bytes{0x01, 0x02, 0x03, 0xf4, 0, 0, 0, 0x80};
  CHECK(io::big_endian<4>(bytes) == 0x010203f4u);
  CHECK(io::little_endian<4>(bytes) == 0xf4030201u);
  CHECK(io::little_endian<8>(bytes) == 0x80000000f4030201u);
}

TEST_CASE("too little memory is named with the file", "[bytes]") {
  constexpr std::uint64_t size = std::uint64_t{1} << 60;  // more than any address space has, by std::length_error
  CHECK(text_of<tenon::file_error>([&] {
          io::within_memory("read", "a.bin", size, [&] { return std::vector<std::uint64_t>(size); });
        }) == "read: a.bin: there is too little memory for what 1152921504606846976 bytes hold");
  CHECK(io::within_memory("read", "a.bin", 2, [] { return 7; }) == 7);
}

TEST_CASE("extents are counted in bytes", "[bytes]") {
  using extents = std::vector<tenon::index>;
  constexpr tenon::index huge = tenon::index{1} << 62;
  CHECK(io::bytes_of_elements("read", "a", extents{}, 8) == 8);
  CHECK(io::bytes_of_elements("read", "a", extents{3, 5}, 4) == 60);
  CHECK(io::bytes_of_elements("read", "a", extents{huge, 0}, 1) == 0);
  for (const auto& each : {extents{0, huge, huge}, extents{huge, huge, 0}, extents{huge, huge}}) {
    CHECK(text_of<tenon::file_error>([&] {
            io::bytes_of_elements("read", "a", each, 1);
          }).ends_with("have more elements than can be counted"));
  }
  CHECK_THROWS_AS(io::bytes_of_elements("read", "a", extents{huge}, 2), tenon::file_error);
}

TEST_CASE("elements of a file keep their bits, and bools are true where they are not 0", "[bytes]") {
  const std::vector<std::uint8_t> bytes{0x01, 0x00, 0x80, 0x7f, 2};  // a NaN that signals, with a payload
  std::uint32_t bits = 0;
  const auto element = io::element_of<float>(bytes.data());
  std::memcpy(&bits, &element, sizeof bits);
  CHECK(bits == 0x7f800001u);
  CHECK(io::element_of<bool>(bytes.data() + 4));
  CHECK(!io::element_of<bool>(bytes.data() + 1));
}
