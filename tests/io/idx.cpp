// tests/io/idx.cpp: IDX files, good ones and bad ones.
// A header is never believed before the bytes that follow agree with it.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/idx.hpp>

#include "support/scratch_file.hpp"
#include "support/shared_dir.hpp"
#include "support/text_of.hpp"

namespace io = tenon::io;
using tenon::rank;
using tenon_test::bytes;
using tenon_test::has;
using tenon_test::scratch_file;

namespace {

const bytes good{0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 10, 20, 30, 40, 50, 255};

/// What reading these bytes with `Rank` axes says.
template <int Rank>
std::string refusal_of(const bytes& content) {
  const scratch_file file("refused.idx");
  file.write(content);
  return tenon_test::text_of<tenon::file_error>([&] { io::read_idx<Rank>(file.path); });
}

}  // namespace

TEST_CASE("a good file is read", "[idx]") {
  const scratch_file file("good.idx");
  file.write(good);
  const auto x = io::read_idx<2>(file.path);
  REQUIRE(x.shape() == rank<2>(2, 3));
  CHECK(x(0, 0) == 10);
  CHECK(x(1, 2) == 255);
}

TEST_CASE("files are written as they are read", "[idx]") {
  const scratch_file file("round.idx");
  tenon::tensor<std::uint8_t, rank<3>> x({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  io::write_idx(file.path, x);
  const auto y = io::read_idx<3>(file.path);
  REQUIRE(y.shape() == x.shape());
  for (int i = 0; i < 6; ++i) CHECK(y.data()[i] == x.data()[i]);
}

TEST_CASE("empty axes are read", "[idx]") {
  const scratch_file file("empty.idx");
  file.write({0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0, 3});
  CHECK(io::read_idx<2>(file.path).shape() == rank<2>(0, 3));
}

TEST_CASE("every truncation of an IDX file is refused", "[idx]") {
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK(has(refusal_of<2>(bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))), "truncated?"));
  }
}

TEST_CASE("what is not this kind of file is refused with what was found", "[idx]") {
  CHECK(has(refusal_of<3>(tenon_test::joined(good, good)),
            "magic number 0x00000802, expected 0x00000803 (unsigned bytes, 3 axes)"));
  CHECK(has(refusal_of<1>(good), "expected 0x00000801 (unsigned bytes, 1 axis)"));
  bytes floats = good;
  floats[2] = 0x0d;
  CHECK(has(refusal_of<2>(floats), "magic number 0x00000d02"));
  CHECK(has(refusal_of<2>({0x1f, 0x8b, 8, 0}), "it is compressed; gunzip it"));
  CHECK(has(refusal_of<2>(tenon_test::joined(good, {0})), "7 elements, expected 6 (extents [2, 3])"));
}

TEST_CASE("extents that cannot be counted are refused without memory being asked for", "[idx]") {
  bytes lying{0, 0, 8, 3};
  for (int i = 0; i < 12; ++i) lying.push_back(0xff);
  CHECK(
      has(refusal_of<3>(lying), "extents [4294967295, 4294967295, 4294967295] have more elements than can be counted"));
  for (std::size_t i = 4; i < 8; ++i) lying[i] = 0;
  CHECK(has(refusal_of<3>(lying), "extents [0, 4294967295, 4294967295] have more elements than can be counted"));
}

TEST_CASE("real digits are read", "[idx]") {
  const auto folder = tenon_test::shared_path("data/mnist");
  if (!folder) return;
  const auto images = io::read_idx<3>(*folder / "t10k-images-idx3-ubyte");
  const auto labels = io::read_idx<1>(*folder / "t10k-labels-idx1-ubyte");
  CHECK(images.extent(0) == labels.extent(0));
  CHECK(images.extent(1) == 28);
  CHECK(images.extent(2) == 28);
  int greatest = 0;
  for (tenon::index i = 0; i < labels.size(); ++i) greatest = std::max(greatest, static_cast<int>(labels(i)));
  CHECK(greatest == 9);
}
