// tests/io/write_png.cpp: images as PNG files.
// Files are taken apart by hand, and read again by libpng where it is.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/write_png.hpp>

#include <tenon/io/png.hpp>
#include <tuple>

#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

namespace io = tenon::io;
using tenon_test::has;

namespace {

io::image image_of(tenon::index channels, tenon::index height, tenon::index width) {
  io::image result({channels, height, width});
  for (tenon::index i = 0; i < result.size(); ++i) result.data()[i] = static_cast<std::uint8_t>(i * i + 7);
  return result;
}

/// A part of a PNG file, whose checksum is right.
std::tuple<std::string, tenon_test::bytes> next_chunk(std::span<const std::uint8_t>& file) {
  REQUIRE(file.size() >= 12);
  const std::size_t size = io::big_endian<4>(file);
  REQUIRE(file.size() >= size + 12);
  std::uint32_t remainder = ~0u;  // bit by bit
  for (const std::uint8_t byte : file.subspan(4, size + 4)) {
    remainder ^= byte;
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? 0xEDB88320u : 0);
  }
  CHECK(io::big_endian<4>(file.subspan(size + 8)) == static_cast<std::uint32_t>(~remainder));
  const std::string type(file.begin() + 4, file.begin() + 8);
  const auto bytes = file.subspan(8, size);
  file = file.subspan(size + 12);
  return {type, tenon_test::bytes(bytes.begin(), bytes.end())};
}

/// The bytes of stored blocks.
tenon_test::bytes unstored(std::span<const std::uint8_t> stream) {
  tenon_test::bytes bytes;
  CHECK(io::big_endian<2>(stream) % 31 == 0);
  std::size_t at = 2;
  for (bool is_last = false; !is_last;) {
    is_last = stream[at] == 1;
    const auto size = static_cast<std::size_t>(io::little_endian<2>(stream.subspan(at + 1)));
    CHECK((io::little_endian<2>(stream.subspan(at + 3)) ^ size) == 0xffff);
    bytes.insert(bytes.end(), stream.begin() + static_cast<std::ptrdiff_t>(at + 5),
                 stream.begin() + static_cast<std::ptrdiff_t>(at + 5 + size));
    at += 5 + size;
  }
  CHECK(io::big_endian<4>(stream.subspan(at)) == io::adler32(bytes));
  CHECK(at + 4 == stream.size());
  return bytes;
}

}  // namespace

TEST_CASE("PNG files are what their standard says", "[write_png]") {
  for (const tenon::index channels : {1, 3}) {
    const auto pixels = image_of(channels, 2, 3);
    const auto content = io::detail::png_file(pixels, io::detail::stored_stream(io::detail::png_rows(pixels)));
    std::span<const std::uint8_t> file(content);
    CHECK(std::string(file.begin(), file.begin() + 8) == "\x89PNG\r\n\x1a\n");
    file = file.subspan(8);
    const auto [first, header] = next_chunk(file);
    CHECK(first == "IHDR");
    const std::uint8_t colour_type = channels == 1 ? 0 : 2;
    CHECK(header == tenon_test::bytes{0, 0, 0, 3, 0, 0, 0, 2, 8, colour_type, 0, 0, 0});
    const auto [second, stream] = next_chunk(file);
    CHECK(second == "IDAT");
    tenon_test::bytes expected;
    for (tenon::index row = 0; row < 2; ++row) {
      expected.push_back(0);
      for (tenon::index column = 0; column < 3; ++column) {
        for (tenon::index channel = 0; channel < channels; ++channel) expected.push_back(pixels(channel, row, column));
      }
    }
    CHECK(unstored(stream) == expected);
    CHECK(std::get<0>(next_chunk(file)) == "IEND");
    CHECK(file.empty());
  }
}

TEST_CASE("long rows take several blocks", "[write_png]") {
  for (const std::size_t size : std::vector<std::size_t>{0, 1, 65535, 65536, 200000}) {
    tenon_test::bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * i);
    CHECK(unstored(io::detail::stored_stream(bytes)) == bytes);
  }
}

#if TENON_PNG != 0
TEST_CASE("libpng reads what is written", "[write_png]") {
  for (const tenon::index channels : {1, 3}) {
    const tenon_test::scratch_file file("written.png");
    const auto pixels = image_of(channels, 31, 17);
    io::write_png(file.path, pixels);
    const auto back = io::read_png(file.path);
    REQUIRE(back.shape() == pixels.shape());
    for (tenon::index i = 0; i < back.size(); ++i) CHECK(back.data()[i] == pixels.data()[i]);
  }
}
#endif

TEST_CASE("a PNG file is written whole", "[write_png]") {
  const tenon_test::scratch_file file("whole.png");
  const auto pixels = image_of(3, 40, 50);
  io::write_png(file.path, pixels);
  const auto content = io::read_bytes("test", file.path);
  CHECK(content == io::detail::png_file(pixels, io::detail::compressed_stream(io::detail::png_rows(pixels))));
}

TEST_CASE("images that PNG cannot hold are refused", "[write_png]") {
  const tenon_test::scratch_file file("refused.png");
  const auto refusal = [&](const io::image& pixels) {
    return tenon_test::text_of<tenon::file_error>([&] { io::write_png(file.path, pixels); });
  };
  CHECK(has(refusal(image_of(2, 3, 3)), "2 channels, expected 1 of grey or 3 of colour"));
  CHECK(has(refusal(image_of(1, 0, 3)), "3 x 0 pixels, expected 1 to 2147483647 each way"));
  CHECK_FALSE(std::filesystem::exists(file.path));
}
