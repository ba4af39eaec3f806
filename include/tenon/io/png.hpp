// tenon/io/png.hpp: images of PNG files, decoded by libpng.
// A sentence says what is missing unless TENON_PNG is 1, which the CMake package sets where libpng is.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/config.hpp>
#if TENON_PNG != 0
#include <png.h>

#include <tenon/io/pnm.hpp>

namespace tenon::io {

namespace detail {

/// A decoder of libpng that ends with its scope.
struct png_decoder : png_image {
  png_decoder() : png_image{} { version = PNG_IMAGE_VERSION; }
  png_decoder(const png_decoder&) = delete;
  png_decoder& operator=(const png_decoder&) = delete;
  ~png_decoder() { png_image_free(this); }
};

/// How many bits a pixel has in a file whose header is known to be sound: libpng tells only what they will become.
inline index bits_of_png_pixel(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t depth = 24, colour_type = 25;            // places in the header
  constexpr std::array<index, 7> channels{1, 0, 3, 1, 2, 0, 4};  // of each type of colour
  return channels[bytes[colour_type]] * bytes[depth];
}

/// Decodes a PNG file's bytes; `path` is for messages.
inline image parse_png(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  png_decoder decoder;
  const auto must_be_done = [&](int is_done) {
    if (is_done == 0) refuse("read_png", path, decoder.message);
  };
  must_be_done(png_image_begin_read_from_memory(&decoder, bytes.data(), bytes.size()));
  const index height{decoder.height}, width{decoder.width}, pixels = height * width;
  const index inflated = pixels * bits_of_png_pixel(bytes) / 8;
  if (static_cast<std::uint64_t>(inflated) > most_inflated_bytes * bytes.size()) {
    refuse("read_png", path,
           compose_text(width, " x ", height, " pixels of ", inflated, " bytes, more than ", bytes.size(),
                        " compressed bytes can hold"));
  }
  decoder.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // else samples of 16 bits would be bent along a curve
  decoder.format &= PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA;
  const bool has_alpha = (decoder.format & PNG_FORMAT_FLAG_ALPHA) != 0;
  const index samples_of_pixel = PNG_IMAGE_SAMPLE_CHANNELS(decoder.format);
  const index channels = samples_of_pixel - (has_alpha ? 1 : 0);
  std::vector<std::uint8_t> samples(static_cast<std::size_t>(samples_of_pixel * pixels));
  must_be_done(png_image_finish_read(&decoder, nullptr, samples.data(), 0, nullptr));
  image result(rank<3>(channels, height, width));
  for (index i = 0; i < result.size(); ++i) {
    const std::uint8_t* const pixel = samples.data() + i / channels * samples_of_pixel;
    const int alpha = has_alpha ? pixel[channels] : 255;
    result.data()[i % channels * pixels + i / channels] =
        static_cast<std::uint8_t>((pixel[i % channels] * alpha + 127) / 255);
  }
  return result;
}

}  // namespace detail

/// Reads a PNG file as bytes [channels, height, width]: 1 channel where the file has no colour, else 3. Palettes become
/// colours, 16 bits are rounded to 8 as by read_pnm, and transparent pixels are laid over black: sample times alpha.
/// Samples of a file that names another gamma than sRGB's (chunk gAMA) become those of sRGB; others stay.
/// throws    file_error with libpng's text when the file is missing, damaged or no PNG, or memory is too small; nothing
///           is allocated for more pixels than the compressed bytes can hold
/// source    ISO/IEC 15948, by libpng's simplified interface
/// example   const auto image = io::read_png("digit.png");
inline image read_png(const std::filesystem::path& path) {
  const auto bytes = read_bytes("read_png", path);
  return within_memory("read_png", path, bytes.size(), [&] { return detail::parse_png(path, bytes); });
}

}  // namespace tenon::io
#else
#include <tenon/base/error.hpp>

namespace tenon::io {

/// Where a program has no libpng, says so.
template <class Path>
void read_png(const Path&) {
  static_assert(must_hold<Path>,
                "tenon: libpng reads PNG files: compile with -DTENON_PNG=1 and link -lpng; with CMake, TENON_PNG=ON");
}

}  // namespace tenon::io
#endif
