// tests/io/npz.cpp: NPZ files, good ones and bad ones.
// Archives are built byte by byte, with the notes that NumPy writes; every lie of a directory is refused.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/io/npz.hpp>

#include "support/deflated.hpp"
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
  CHECK(has(refusal_with([](auto& lying) { lying.method = 14; }), "x.npy: it is compressed by method 14; save it by"));
  CHECK(has(refusal_with([](auto& lying) { lying.checksum ^= 1; }), "x: its checksum is wrong; is the file damaged?"));
  CHECK(has(refusal_with([](auto& lying) { lying.size += 1000; }), "is it truncated?"));
  CHECK(has(refusal_with([](auto& lying) { lying.size = 0xffffffff; }), "x.npy: its directory has no numbers"));
  CHECK(has(refusal_with([](auto& lying) { lying.local = 3; }), "x.npy: byte 3 begins no member"));
  CHECK(has(refusal_with([](auto& lying) { lying.local = 0xfffffffe; }), "its directory points to byte 4294967294"));
  CHECK(has(refusal_with([](auto& lying) { lying.directory += 1; }), "begins no entry of its directory"));
  CHECK(has(refusal_with([](auto& lying) { lying.directory = 0xfffffff0; }), "its directory points to byte"));
}

TEST_CASE("numbers of more than 32 bits are read from archives", "[npz]") {
  stored_archive large(array_of_bytes({7, 8, 9}));
  large.enlarge();
  const tenon_test::scratch_file path("large.npz");
  path.write(large.file());
  CHECK(io::npz_file(path.path).read<std::uint8_t, 1>("x")(2) == 9);
  const bytes file = large.file();
  for (std::size_t length = 0; length < file.size(); ++length) {
    CHECK(has(npz_refusal(bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length))), "is it truncated"));
  }
  const auto refusal_with = [&](auto&& falsify) {
    stored_archive lying = large;
    falsify(lying);
    return npz_refusal(lying.file());
  };
  CHECK(has(refusal_with([](auto& lying) { lying.notes[7] = 2; }), "x.npy: its directory has no numbers of ZIP64"));
  CHECK(has(refusal_with([](auto& lying) { lying.notes[9] = 20; }), "x.npy: its directory has no numbers of ZIP64"));
  CHECK(has(refusal_with([](auto& lying) { lying.notes[18] = 0xff; }), "is it truncated?"));
  CHECK(has(refusal_with([](auto& lying) { lying.large_end[0] = 0; }), "begins no directory of ZIP64"));
  CHECK(has(refusal_with([](auto& lying) { lying.large_end[71] = 0xff; }), "its directory points to byte 1837"));
}

TEST_CASE("compressed arrays are read where zlib is found", "[npz]") {
  const bytes array = array_of_bytes({7, 8, 9});
#if TENON_ZLIB != 0
  const bytes deflated = tenon_test::deflated(array);
  stored_archive good(array, deflated);
  const tenon_test::scratch_file path("compressed.npz");
  const auto is_read = [&] {
    path.write(good.file());
    return io::npz_file(path.path).read<std::uint8_t, 1>("x")(1) == 8;
  };
  CHECK(is_read());
  good.checksum ^= 1;
  CHECK(has(npz_refusal(good.file()), "x: its checksum is wrong; is the file damaged?"));
  good.checksum ^= 1, good.size += 1;
  CHECK(has(npz_refusal(good.file()), "bad.npz: x: its compressed bytes end after 131 of 132; is it truncated?"));
  good.size -= 1, good.stored -= 1;
  CHECK(has(npz_refusal(good.file()), "bad.npz: x: its compressed bytes end after 131 of 131; is it truncated?"));
  good.stored += 1, good.content[0] = 7;
  CHECK(has(npz_refusal(good.file()), "bad.npz: x: its compressed bytes are damaged (invalid block type)"));
  good.content = deflated, good.enlarge();
  CHECK(is_read());
#else
  CHECK(has(npz_refusal(stored_archive(array, array).file()),
            "x: 131 compressed bytes of 131 are read where the program has zlib (TENON_ZLIB); or save it by"));
#endif
}

TEST_CASE("arrays that are written to an archive are read from it", "[npz]") {
  const tenon_test::scratch_file path("written.npz");
  const tenon::tensor<float, tenon::rank<2>> x({2, 3}, {1, 2, 3, 4, 5, 6});
  const tenon::tensor<double, tenon::rank<3>> none({2, 0, 3});
  const tenon::tensor<bool, tenon::rank<1>> yes({2}, {false, true});
  io::npz_writer writer;
  writer.add("x", x), writer.add("none", none), writer.add("yes", yes);
  writer.add("columns", tenon::transpose(x)), writer.add("\xc3\xa4/twice", 2 * x);
  writer.save(path.path);
  const io::npz_file file(path.path);
  CHECK(file.names() == std::vector<std::string>{"columns", "none", "x", "yes", "\xc3\xa4/twice"});
  const auto again = file.read<float, 2>("x");
  CHECK(std::equal(again.begin(), again.end(), x.begin(), x.end()));
  CHECK(file.read<double, 3>("none").shape() == tenon::rank<3>(2, 0, 3));
  CHECK(file.read<bool, 1>("yes")(1));
  CHECK(file.read<float, 2>("columns")(2, 1) == 6);
  CHECK(file.read<float, 2>("\xc3\xa4/twice")(1, 2) == 12);
  CHECK(tenon_test::text_of<tenon::file_error>([&] { writer.add("x", x); }) ==
        "npz: array x: the name was added before");
  CHECK(tenon_test::text_of<tenon::file_error>([&] { writer.add("", x); }) ==
        "npz: a name of 0 bytes, expected 1 to 65531");
  CHECK(has(tenon_test::text_of<tenon::file_error>([&] { writer.save("/no folder/x.npz"); }), "write_npz: /no folder"));
  io::npz_writer().save(path.path);
  CHECK(io::npz_file(path.path).names().empty());
}

TEST_CASE("an archive is written byte by byte as the format says", "[npz]") {
  const tenon_test::scratch_file path("bytes.npz");
  const bytes content = {7, 8, 9};
  io::detail::zip_archive archive;
  archive.add("x", content);
  archive.save("test", path.path);
  bytes facts, expected;
  const auto append = tenon_test::append_number;
  append(facts, 45, 2), append(facts, 0x800, 2), append(facts, 0, 4), append(facts, 0x21, 2);
  append(facts, io::crc32(content), 4), append(facts, 3, 4), append(facts, 3, 4), append(facts, 1, 4);
  append(expected, 0x04034b50, 4), expected.insert(expected.end(), facts.begin(), facts.end());
  append(expected, 0x09080778, 4);
  append(expected, 0x02014b50, 4), append(expected, 45, 2), expected.insert(expected.end(), facts.begin(), facts.end());
  append(expected, 0, 14), append(expected, 'x', 1);
  append(expected, 0x06054b50, 4), append(expected, 0, 4), append(expected, 1, 2), append(expected, 1, 2);
  append(expected, 47, 4), append(expected, 34, 4), append(expected, 0, 2);
  CHECK(io::read_bytes("test", path.path) == expected);
}

TEST_CASE("numbers of more than 32 bits are written to archives", "[npz]") {
  const tenon_test::scratch_file path("long.npz");
  const bytes array = array_of_bytes({7, 8, 9});
  for (const std::uint64_t large : {2U, 131U, 132U, 300U}) {
    CAPTURE(large);
    io::detail::zip_archive archive(large);
    for (const char* const name : {"x.npy", "y.npy", "z.npy"}) archive.add(name, array);
    archive.save("test", path.path);
    const io::npz_file file(path.path);
    CHECK(file.names().size() == 3);
    for (const char* const name : {"x", "y", "z"}) CHECK(file.read<std::uint8_t, 1>(name)(2) == 9);
  }
}
