// tests/fuzz/files.cpp: files damaged at random, thousands of times.
// A parser reads them or throws file_error; anything else, a crash or a sanitizer's report included, is a fault.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/csv.hpp>
#include <tenon/io/idx.hpp>
#include <tenon/io/npy.hpp>
#include <tenon/io/npz.hpp>
#include <tenon/io/png.hpp>
#include <tenon/io/pnm.hpp>
#include <tenon/io/safetensors.hpp>
#include <tenon/io/text.hpp>

#include "support/deflated.hpp"
#include "support/random.hpp"
#include "support/scratch_file.hpp"
#include "support/stored_archive.hpp"

namespace io = tenon::io;
using tenon_test::bytes;

namespace {

/// One to four changes: a byte, a bit, a cut, an insertion, or a piece copied elsewhere.
bytes damaged(bytes content, tenon_test::random_source& random) {
  for (auto changes = 1 + random.below(4); changes > 0 && !content.empty(); --changes) {
    const auto size = static_cast<std::int64_t>(content.size());
    const auto at = static_cast<std::size_t>(random.below(size));
    const auto place = content.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random.below(5)) {
      case 0:
        content[at] = static_cast<std::uint8_t>(random.bits());
        break;
      case 1:
        content[at] = static_cast<std::uint8_t>(content[at] ^ (1u << random.below(8)));
        break;
      case 2:
        content.erase(place, content.end());
        break;
      case 3:
        content.insert(place, static_cast<std::size_t>(random.below(9)), static_cast<std::uint8_t>(random.bits()));
        break;
      default:
        content[at] = content[static_cast<std::size_t>(random.below(size))];
    }
  }
  return content;
}

/// Reads `rounds` damaged versions of a good file; returns how many were refused.
template <class Read>
int count_refusals(const bytes& good, int rounds, const Read& read) {
  const tenon_test::scratch_file file("fuzz");
  tenon_test::random_source random(17);
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    file.write(damaged(good, random));
    try {
      read(file.path);
    } catch (const tenon::file_error&) {
      ++refused;
    }
  }
  return refused;
}

template <class Write>
bytes written(const Write& write) {
  const tenon_test::scratch_file file("good");
  write(file.path);
  return io::read_bytes("fuzz", file.path);
}

constexpr int rounds = 3000;

}  // namespace

TEST_CASE("damaged IDX files are read or refused", "[files]") {
  const bytes good = written([](const auto& path) {
    io::write_idx(path, tenon::tensor<std::uint8_t, tenon::rank<2>>({2, 3}, {1, 2, 3, 4, 5, 6}));
  });
  CHECK(count_refusals(good, rounds, [](const auto& path) { io::read_idx<2>(path); }) > rounds / 2);
}

TEST_CASE("damaged NPY files are read or refused", "[files]") {
  const bytes good = written(
      [](const auto& path) { io::write_npy(path, tenon::tensor<float, tenon::rank<2>>({2, 3}, {1, 2, 3, 4, 5, 6})); });
  CHECK(count_refusals(good, rounds, [](const auto& path) { io::read_npy<float, 2>(path); }) > rounds / 4);
}

TEST_CASE("damaged safetensors files are read or refused", "[files]") {
  const bytes good = written([](const auto& path) {
    io::safetensors_writer writer;
    writer.add("0.weight", tenon::tensor<float, tenon::rank<2>>({2, 3}, {1, 2, 3, 4, 5, 6}));
    writer.add("0.bias", tenon::tensor<tenon::half, tenon::rank<1>>({2}));
    writer.save(path);
  });
  const auto read = [](const auto& path) {
    const io::safetensors_file file(path);
    tenon::tensor<float, tenon::rank<2>> weight({2, 3});
    file.read("0.weight", weight);
  };
  CHECK(count_refusals(good, rounds, read) > rounds / 2);
}

TEST_CASE("damaged NPZ files are read or refused", "[files]") {
  const bytes array = written(
      [](const auto& path) { io::write_npy(path, tenon::tensor<float, tenon::rank<2>>({2, 3}, {1, 2, 3, 4, 5, 6})); });
  const auto read = [](const auto& path) { io::npz_file(path).read<float, 2>("x"); };
  CHECK(count_refusals(tenon_test::stored_archive(array).file(), rounds, read) > rounds / 2);
#if TENON_ZLIB != 0
  tenon_test::stored_archive compressed(array, tenon_test::deflated(array));
  compressed.enlarge();
  CHECK(count_refusals(compressed.file(), rounds, read) > rounds / 2);
#endif
}

TEST_CASE("damaged tables are read or refused", "[files]") {
  const bytes good = tenon_test::bytes_of("a,b\n1,2.5\n\"3\",-4e1\nNA,5\n");
  CHECK(count_refusals(good, rounds, [](const auto& path) { io::csv_table(path).columns<float>(); }) > rounds / 4);
}

TEST_CASE("damaged images are read or refused", "[files]") {
  const auto read = [](const auto& path) { io::read_pnm(path); };
  CHECK(count_refusals(tenon_test::bytes_of("P6 2 2 255 abcdefghijkl"), rounds, read) > rounds / 2);
  CHECK(count_refusals(tenon_test::bytes_of("P2 # note\n3 2 99 1 2 3 4 5 6"), rounds, read) > rounds / 4);
#if TENON_PNG != 0
  const bytes good{
      0x89, 0x50, 0x4e, 0x47, 0xd,  0xa,  0x1a, 0xa,  0,    0,    0,    0xd,  0x49, 0x48, 0x44, 0x52, 0,
      0,    0,    1,    0,    0,    0,    1,    8,    0,    0,    0,    0,    0x3a, 0x7e, 0x9b, 0x55, 0,
      0,    0,    0xa,  0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x10, 4,    0,    0,    0x13, 0,    0x12,
      0xa6, 0xc,  0xbe, 0xd5, 0,    0,    0,    0,    0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};  // one pixel
  const auto read_png = [](const auto& path) { io::read_png(path); };
  CHECK(count_refusals(good, rounds, read_png) > rounds / 4);
#endif
}

TEST_CASE("damaged text is read or refused", "[files]") {
  const bytes good = tenon_test::bytes_of("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  CHECK(count_refusals(good, rounds, [](const auto& path) { io::characters_of(io::read_text(path)); }) > rounds / 4);
}
