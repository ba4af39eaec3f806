// tenon/io/write_png.hpp: images as PNG files, of 8 bits a sample.
// Compressed by zlib where the CMake package finds it; elsewhere as they are, which is a PNG file as well.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/config.hpp>
#if TENON_ZLIB != 0
#include <zlib.h>
#endif

#include <tenon/io/checksum.hpp>
#include <tenon/io/pnm.hpp>

namespace tenon::io {

namespace detail {

inline void append_big_endian(std::vector<std::uint8_t>& bytes, std::uint64_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(number >> shift));
}

/// A stream of zlib's format whose blocks hold the bytes as they are.
/// source    RFC 1950, RFC 1951
inline std::vector<std::uint8_t> stored_stream(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t most = 65535;  // bytes of a block
  std::vector<std::uint8_t> stream{0x78, 0x01};
  stream.reserve(bytes.size() + bytes.size() / most * 5 + 16);
  for (std::size_t at = 0; at == 0 || at < bytes.size(); at += most) {
    const auto block = bytes.subspan(at, std::min(most, bytes.size() - at));
    const auto low = static_cast<std::uint8_t>(block.size() & 0xff),
               high = static_cast<std::uint8_t>(block.size() >> 8);
    const bool is_last = at + block.size() == bytes.size();
    for (const int each : {is_last ? 1 : 0, +low, +high, low ^ 0xff, high ^ 0xff}) {
      stream.push_back(static_cast<std::uint8_t>(each));
    }
    stream.insert(stream.end(), block.begin(), block.end());
  }
  append_big_endian(stream, adler32(bytes));
  return stream;
}

#if TENON_ZLIB != 0
inline std::vector<std::uint8_t> compressed_stream(std::span<const std::uint8_t> bytes) {
  uLongf size = ::compressBound(static_cast<uLong>(bytes.size()));
  std::vector<std::uint8_t> stream(size);
  const int status = ::compress(stream.data(), &size, bytes.data(), static_cast<uLong>(bytes.size()));
  if (status != Z_OK) throw std::bad_alloc();
  stream.resize(size);
  return stream;
}
#else
inline std::vector<std::uint8_t> compressed_stream(std::span<const std::uint8_t> bytes) { return stored_stream(bytes); }
#endif

/// The rows of an image, each behind the number of its filter: 0, none.
inline std::vector<std::uint8_t> png_rows(const image& pixels) {
  const index channels = pixels.extent(0), height = pixels.extent(1), width = pixels.extent(2);
  std::vector<std::uint8_t> rows;
  rows.reserve(static_cast<std::size_t>(height * (width * channels + 1)));
  for (index row = 0; row < height; ++row) {
    rows.push_back(0);
    for (index i = 0; i < width * channels; ++i) {
      rows.push_back(pixels.data()[(i % channels * height + row) * width + i / channels]);
    }
  }
  return rows;
}

/// Adds a part of a file: its length, its type of four letters, its bytes and their checksum.
inline void append_png_chunk(std::vector<std::uint8_t>& file, const char (&type)[5],
                             std::span<const std::uint8_t> bytes) {
  append_big_endian(file, bytes.size());
  const std::size_t guarded = file.size();
  file.insert(file.end(), type, type + 4);
  file.insert(file.end(), bytes.begin(), bytes.end());
  append_big_endian(file, crc32(std::span(file).subspan(guarded)));
}

/// The bytes of a PNG file around a stream of its rows.
inline std::vector<std::uint8_t> png_file(const image& pixels, std::span<const std::uint8_t> stream) {
  constexpr std::size_t most = std::size_t{1} << 30;  // bytes of a part
  std::vector<std::uint8_t> file{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, header;
  append_big_endian(header, static_cast<std::uint64_t>(pixels.extent(2)));
  append_big_endian(header, static_cast<std::uint64_t>(pixels.extent(1)));
  const int colour_type = pixels.extent(0) == 1 ? 0 : 2;
  for (const int each : {8, colour_type, 0, 0, 0}) header.push_back(static_cast<std::uint8_t>(each));
  append_png_chunk(file, "IHDR", header);
  for (std::size_t at = 0; at < stream.size(); at += most) {
    append_png_chunk(file, "IDAT", stream.subspan(at, std::min(most, stream.size() - at)));
  }
  append_png_chunk(file, "IEND", {});
  return file;
}

}  // namespace detail

/// Writes an image of bytes [channels, height, width] with 1 channel of grey or 3 of red, green and blue. To write
/// floats from 0 to 1, make bytes first: `cast<std::uint8_t>(clamp(x, 0, 1) * 255 + 0.5f)`.
/// throws    file_error when the image has not 1 or 3 channels, has no pixels, or cannot be written
/// source    ISO/IEC 15948
/// cost      rows are not filtered: photographs take more room than in files of other programs
/// example   io::write_png("digit.png", image);
inline void write_png(const std::filesystem::path& path, const image& pixels) {
  constexpr index most = 0x7fffffff;
  const index channels = pixels.extent(0), height = pixels.extent(1), width = pixels.extent(2);
  if (channels != 1 && channels != 3) {
    refuse("write_png", path, compose_text(channels, " channels, expected 1 of grey or 3 of colour"));
  }
  if (height < 1 || height > most || width < 1 || width > most) {
    refuse("write_png", path, compose_text(width, " x ", height, " pixels, expected 1 to ", most, " each way"));
  }
  const auto file = detail::png_file(pixels, detail::compressed_stream(detail::png_rows(pixels)));
  write_bytes("write_png", path, std::array<std::span<const std::uint8_t>, 1>{file});
}

}  // namespace tenon::io
