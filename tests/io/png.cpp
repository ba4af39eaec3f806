// tests/io/png.cpp: images of PNG files.
// Files that libpng itself writes are read; damaged ones are refused with what it says.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/png.hpp>

#include <tenon/io/write_png.hpp>

#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

#if TENON_PNG != 0
namespace io = tenon::io;
using tenon_test::has;

namespace {

/// A file of 3 by 2 pixels in this format of libpng's, with samples 10, 11, ...
tenon_test::bytes png_of(png_uint_32 format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION, image.width = 3, image.height = 2, image.format = format;
  std::vector<std::uint8_t> samples(PNG_IMAGE_SIZE(image));
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::uint8_t>(10 + i);
  png_alloc_size_t size = 4096;
  tenon_test::bytes file(size);
  REQUIRE(png_image_write_to_memory(&image, file.data(), &size, 0, samples.data(), 0, nullptr) != 0);
  file.resize(size);
  return file;
}

/// A file of one row, of any depth and type of colour: its samples as bytes, and a part before them, if any.
tenon_test::bytes png_row(std::uint8_t depth, std::uint8_t colour_type, std::uint8_t width,
                          const tenon_test::bytes& samples, const char (&type)[5] = "tRNS",
                          const tenon_test::bytes& part = {}) {
  tenon_test::bytes file{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, row{0};
  row.insert(row.end(), samples.begin(), samples.end());
  const tenon_test::bytes header{0, 0, 0, width, 0, 0, 0, 1, depth, colour_type, 0, 0, 0};
  io::detail::append_png_chunk(file, "IHDR", header);
  if (!part.empty()) io::detail::append_png_chunk(file, type, part);
  io::detail::append_png_chunk(file, "IDAT", io::detail::stored_stream(row));
  io::detail::append_png_chunk(file, "IEND", {});
  return file;
}

std::vector<int> samples_of(const tenon_test::bytes& content) {
  const tenon_test::scratch_file file("row.png");
  file.write(content);
  const auto image = io::read_png(file.path);
  return {image.data(), image.data() + image.size()};
}

std::string png_refusal(const tenon_test::bytes& content) {
  const tenon_test::scratch_file file("bad.png");
  file.write(content);
  return tenon_test::text_of<tenon::file_error>([&] { io::read_png(file.path); });
}

}  // namespace

TEST_CASE("grey and colour are read from PNG files", "[png]") {
  const tenon_test::scratch_file file("read.png");
  file.write(png_of(PNG_FORMAT_GRAY));
  const auto grey = io::read_png(file.path);
  REQUIRE(grey.shape() == tenon::rank<3>(1, 2, 3));
  for (tenon::index i = 0; i < 6; ++i) CHECK(grey.data()[i] == 10 + i);
  file.write(png_of(PNG_FORMAT_RGB));
  const auto colour = io::read_png(file.path);
  REQUIRE(colour.shape() == tenon::rank<3>(3, 2, 3));
  for (tenon::index i = 0; i < 18; ++i) CHECK(colour(i % 3, i / 9, i / 3 % 3) == 10 + i);
}

TEST_CASE("samples of 16 bits are rounded to 8", "[png]") {
  CHECK(samples_of(png_row(16, 0, 4, {0x12, 0x34, 0x12, 0xff, 0, 0, 0xff, 0xff})) == std::vector<int>{18, 19, 0, 255});
  CHECK(samples_of(png_row(16, 2, 1, {0x12, 0x34, 0x80, 0x80, 0x12, 0xff})) == std::vector<int>{18, 128, 19});
}

TEST_CASE("transparent pixels are laid over black", "[png]") {
  CHECK(samples_of(png_row(8, 4, 4, {200, 255, 200, 128, 200, 0, 7, 64})) == std::vector<int>{200, 100, 0, 2});
  CHECK(samples_of(png_row(8, 6, 2, {200, 100, 50, 128, 1, 2, 3, 255})) == std::vector<int>{100, 1, 50, 2, 25, 3});
  CHECK(samples_of(png_row(16, 4, 1, {0x12, 0x34, 0x80, 0x80})) == std::vector<int>{9});
  CHECK(samples_of(png_row(8, 0, 2, {9, 40}, "tRNS", {0, 9})) == std::vector<int>{0, 40});
}

TEST_CASE("samples of a file that names its gamma become those of sRGB", "[png]") {
  CHECK(samples_of(png_row(8, 0, 2, {9, 40}, "gAMA", {0, 1, 0x86, 0xa0})) == std::vector<int>{56, 110});  // linear
}

TEST_CASE("pixels are counted in the bits that they have in the file", "[png]") {
  png_image image{};
  image.version = PNG_IMAGE_VERSION, image.width = 2000, image.height = 2000, image.format = PNG_FORMAT_GRAY;
  const std::vector<std::uint8_t> samples(PNG_IMAGE_SIZE(image));
  png_alloc_size_t size = 1 << 20;
  tenon_test::bytes content(size);
  REQUIRE(png_image_write_to_memory(&image, content.data(), &size, 0, samples.data(), 0, nullptr) != 0);
  content.resize(size);
  const tenon_test::scratch_file file("zeros.png");
  file.write(content);
  CHECK(io::read_png(file.path).size() == 2000 * 2000);  // compressed nearly as much as deflate can
  const auto declare = [&](std::uint8_t depth, std::uint8_t colour_type) {
    content[24] = depth, content[25] = colour_type;
    const std::uint32_t checksum = io::crc32(std::span(content).subspan(12, 17));
    for (std::size_t i = 0; i < 4; ++i) content[29 + i] = static_cast<std::uint8_t>(checksum >> (24 - 8 * i));
    return png_refusal(content);
  };
  CHECK(has(declare(8, 2), "2000 x 2000 pixels of 12000000 bytes, more than "));
  CHECK(has(declare(16, 6), "2000 x 2000 pixels of 32000000 bytes, more than "));
  CHECK(has(declare(16, 0), "2000 x 2000 pixels of 8000000 bytes, more than "));
  CHECK(has(declare(8, 4), "2000 x 2000 pixels of 8000000 bytes, more than "));
}

TEST_CASE("files that are no PNG are refused", "[png]") {
  auto damaged = png_of(PNG_FORMAT_GRAY);
  damaged.resize(damaged.size() / 2);
  CHECK(has(png_refusal(damaged), "bad.png: "));
  auto lying = png_of(PNG_FORMAT_GRAY);  // whose header says 900000 x 900000 pixels
  const tenon_test::bytes extents{0, 0x0d, 0xbb, 0xa0, 0, 0x0d, 0xbb, 0xa0, 8, 0, 0, 0, 0, 0xf5, 0xd6, 0xce, 0x53};
  std::copy(extents.begin(), extents.end(), lying.begin() + 16);
  CHECK(has(png_refusal(lying), "900000 x 900000 pixels of 810000000000 bytes, more than "));
  CHECK(has(png_refusal({}), "read_png: "));
  CHECK(has(png_refusal({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), "read_png: "));
  CHECK(has(tenon_test::text_of<tenon::file_error>([] { io::read_png("/no/image.png"); }), "there is no folder /no"));
}
#else
TEST_CASE("PNG files are read where libpng is found", "[png]") { WARN("skipped: built without libpng"); }
#endif
