// tests/fuzz/files.cpp: files damaged at random, thousands of times.
// A parser reads them or throws file_error; anything else, a crash or a sanitizer's report included, is a fault.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/idx.hpp>
#include <tenon/io/npy.hpp>
#include <tenon/io/safetensors.hpp>

#include "support/random.hpp"
#include "support/scratch_file.hpp"

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
