// tests/io/npz.cpp: NPZ files, good ones and bad ones.
// Archives are built byte by byte, with the notes that NumPy writes; every lie of a directory is refused.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/npz.hpp>

#include "support/stored_archive.hpp"
#include "support/text_of.hpp"

namespace io = tenon::io;
using tenon_test::bytes;
using tenon_test::has;
using tenon_test::stored_archive;

namespace {

bytes array_of_bytes(const bytes& elements) {
  const tenon_test::scratch_file file("member.npy");
  tenon::tensor<std::uint8_t, tenon::rank<1>> array({static_cast<tenon::index>(elements.size())});
  std::copy(elements.begin(), elements.end(), array.data());
  io::write_npy(file.path, array);
  return io::read_bytes("test", file.path);
}

std::string npz_refusal(const bytes& content) {
  const tenon_test::scratch_file file("bad.npz");
  file.write(content);
  return tenon_test::text_of<tenon::file_error>([&] { io::npz_file(file.path).read<std::uint8_t, 1>("x"); });
}

}  // namespace

TEST_CASE("an array is read from an archive", "[npz]") {
  const tenon_test::scratch_file path("read.npz");
  path.write(stored_archive(array_of_bytes({7, 8, 9})).file());
  const io::npz_file file(path.path);
  CHECK(file.names() == std::vector<std::string>{"x"});
  CHECK(file.contains("x"));
  const auto x = file.read<std::uint8_t, 1>("x");
  REQUIRE(x.shape() == tenon::rank<1>(3));
  for (tenon::index i = 0; i < 3; ++i) CHECK(x(i) == 7 + i);
  CHECK(has(tenon_test::text_of<tenon::file_error>([&] { file.read<float, 1>("x"); }),
            "read.npz/x.npy: elements |u1, expected <f4"));
  CHECK(has(tenon_test::text_of<tenon::file_error>([&] { file.read<float, 1>("y"); }),
            "there is no array y; there are x"));
}

TEST_CASE("archives that lie are refused", "[npz]") {
  const stored_archive good(array_of_bytes({7, 8, 9}));
  const bytes file = good.file();
  for (std::size_t length = 0; length < file.size(); ++length) {
    CHECK(has(npz_refusal(bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length))), "is it truncated"));
  }
  const auto refusal_with = [&](auto&& falsify) {
    stored_archive lying = good;
    falsify(lying);
    return npz_refusal(lying.file());
  };
  CHECK(has(refusal_with([](auto& lying) { lying.method = 8; }), "x.npy: it is compressed; save it by numpy.savez"));
  CHECK(has(refusal_with([](auto& lying) { lying.checksum ^= 1; }), "x: its checksum is wrong; is the file damaged?"));
  CHECK(has(refusal_with([](auto& lying) { lying.size += 1000; }), "is it truncated?"));
  CHECK(has(refusal_with([](auto& lying) { lying.size = 0xffffffff; }), "more than 4 GiB are not read"));
  CHECK(has(refusal_with([](auto& lying) { lying.local = 3; }), "x.npy: byte 3 begins no member"));
  CHECK(has(refusal_with([](auto& lying) { lying.local = 0xfffffffe; }), "its directory points to byte 4294967294"));
  CHECK(has(refusal_with([](auto& lying) { lying.directory += 1; }), "begins no entry of its directory"));
  CHECK(has(refusal_with([](auto& lying) { lying.directory = 0xfffffff0; }), "its directory points to byte"));
}
