// tenon/io/png.hpp: images of PNG files, decoded by libpng.
// Empty unless TENON_PNG is 1, which the CMake package sets where libpng is.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/config.hpp>
#if TENON_PNG != 0
#include <png.h>

#include <tenon/io/pnm.hpp>

namespace tenon::io {

/// Deflate makes at most 1032 bytes of one, and a byte holds at most 8 pixels.
inline constexpr index most_pixels_of_byte = 1032 * 8;

/// The image of a PNG file as bytes, of grey where the file has no colour; palettes become colours, 16 bits become 8,
/// and what is transparent lies on black.
/// throws    file_error with what libpng says, when the file is missing, damaged or no PNG
/// source    ISO/IEC 15948, by libpng's simplified interface
inline image read_png(const std::filesystem::path& path) {
  const auto bytes = read_bytes("read_png", path);
  png_image decoder{};
  decoder.version = PNG_IMAGE_VERSION;
  const auto check = [&](int is_done) {
    if (is_done != 0) return;
    const std::string fact = decoder.message;
    png_image_free(&decoder);
    refuse("read_png", path, fact);
  };
  check(png_image_begin_read_from_memory(&decoder, bytes.data(), bytes.size()));
  const index pixels = index{decoder.width} * index{decoder.height};
  if (pixels > most_pixels_of_byte * static_cast<index>(bytes.size())) {
    png_image_free(&decoder);
    refuse("read_png", path, compose_text(pixels, " pixels, more than ", bytes.size(), " bytes can hold"));
  }
  const bool has_colour = (decoder.format & PNG_FORMAT_FLAG_COLOR) != 0;
  decoder.format = has_colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  const index channels = has_colour ? 3 : 1;
  std::vector<std::uint8_t> samples(static_cast<std::size_t>(channels * pixels));
  const png_color black{0, 0, 0};
  check(png_image_finish_read(&decoder, &black, samples.data(), 0, nullptr));
  image result(rank<3>(channels, index{decoder.height}, index{decoder.width}));
  for (index i = 0; i < result.size(); ++i) {
    result.data()[i % channels * pixels + i / channels] = samples[static_cast<std::size_t>(i)];
  }
  return result;
}

}  // namespace tenon::io
#endif
