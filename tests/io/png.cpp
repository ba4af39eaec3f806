// tests/io/png.cpp: images of PNG files.
// Files that libpng itself writes are read; damaged ones are refused with what it says.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/png.hpp>

#include <tenon/io/checksum.hpp>

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
