// tenon/io/pnm.hpp: images of the Netpbm family: grey (P2, P5) and colour (P3, P6), as text or bytes.
// Channels become the first axis; brightness is scaled to bytes.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <tenon/core/tensor.hpp>
#include <tenon/io/bytes.hpp>
#include <tenon/io/write_bytes.hpp>

namespace tenon::io {

/// An image of bytes: [channels, height, width], 1 channel of grey or 3 of red, green and blue.
using image = tensor<std::uint8_t, rank<3>>;

namespace detail {

/// Reads the numbers of a PNM file.
class pnm_reader {
 public:
  pnm_reader(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) : path_(path), bytes_(bytes) {}

  image read() {
    read_header();
    const array<index, 3> extents{
        {static_cast<index>(channels_), static_cast<index>(height_), static_cast<index>(width_)}};
    const std::uint64_t samples = bytes_of_elements("read_pnm", path_, extents, 1), left = bytes_.size() - at_;
    const std::uint64_t least = is_text_ ? (samples == 0 ? 0 : 2 * samples - 1) : samples * bytes_of_sample();
    if (is_text_ ? left < least : left != least) {
      refuse_file(compose_text(left, " bytes of elements, expected ", is_text_ ? "at least " : "", least, " (", width_,
                               " x ", height_, " pixels)", left < least ? "; is it truncated?" : ""));
    }
    image result{rank<3>(extents)};
    const std::uint64_t pixels = width_ * height_;
    for (std::uint64_t pixel = 0; pixel < pixels; ++pixel) {
      for (std::uint64_t channel = 0; channel < channels_; ++channel) {
        result.data()[channel * pixels + pixel] = next_sample();
      }
    }
    return result;
  }

 private:
  [[noreturn]] void refuse_file(const std::string& fact) const { refuse("read_pnm", path_, fact); }
  void read_header() {
    const char kind = bytes_.size() > 2 && bytes_[0] == 'P' ? static_cast<char>(bytes_[1]) : '0';
    if (kind != '2' && kind != '3' && kind != '5' && kind != '6') {
      refuse_file("it does not start with P2, P3, P5 or P6, as images of grey or colour do");
    }
    is_text_ = kind < '4';
    channels_ = kind == '3' || kind == '6' ? 3 : 1;
    at_ = 2;
    width_ = number("width"), height_ = number("height"), greatest_ = number("greatest sample");
    if (greatest_ < 1 || greatest_ > 65535) {
      refuse_file(compose_text("greatest sample ", greatest_, ", expected 1 to 65535"));
    }
    if (at_ < bytes_.size()) ++at_;  // the one space behind the header
  }
  static bool is_space(std::uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }
  /// The next number of text; comments reach from # to the end of the line.
  std::uint64_t number(const char* what) {
    while (at_ < bytes_.size() && (is_space(bytes_[at_]) || bytes_[at_] == '#')) {
      if (bytes_[at_] == '#') {
        while (at_ < bytes_.size() && bytes_[at_] != '\n') ++at_;
      } else {
        ++at_;
      }
    }
    const std::size_t first = at_;
    std::uint64_t value = 0;
    for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9' && at_ - first < 10; ++at_) {
      value = value * 10 + (bytes_[at_] - std::uint64_t{'0'});
    }
    const bool ends = at_ == bytes_.size() || is_space(bytes_[at_]) || bytes_[at_] == '#';
    if (at_ == first || !ends) refuse_file(compose_text("byte ", at_, ": expected a number, the ", what));
    return value;
  }
  std::uint64_t bytes_of_sample() const { return greatest_ < 256 ? 1 : 2; }
  std::uint8_t next_sample() {
    std::uint64_t sample = 0;
    if (is_text_) {
      sample = number("next sample");
    } else {
      for (std::uint64_t i = 0; i < bytes_of_sample(); ++i) sample = sample << 8 | bytes_[at_++];
    }
    if (sample > greatest_) {
      refuse_file(compose_text("byte ", at_, ": sample ", sample, ", expected at most ", greatest_));
    }
    return static_cast<std::uint8_t>((sample * 255 + greatest_ / 2) / greatest_);
  }

  const std::filesystem::path& path_;
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  bool is_text_ = false;
  std::uint64_t channels_ = 0, width_ = 0, height_ = 0, greatest_ = 0;
};

}  // namespace detail

/// Reads a PNM file as bytes [channels, height, width]. Samples whose greatest value is not 255 are scaled and rounded.
/// throws    file_error when the file is missing, of another kind, truncated or too long, or memory is too small;
///           nothing is allocated for a header that contradicts the size of the file
/// source    Netpbm: man pages pgm(5) and ppm(5)
/// example   const auto image = io::read_pnm("digit.pgm");
inline image read_pnm(const std::filesystem::path& path) {
  const auto bytes = read_bytes("read_pnm", path);
  return within_memory("read_pnm", path, bytes.size(), [&] { return detail::pnm_reader(path, bytes).read(); });
}

/// Writes an image [channels, height, width] as a PNM file of bytes: P5 (grey) or P6 (colour).
/// throws    file_error when the image has not 1 or 3 channels, or the file cannot be written
inline void write_pnm(const std::filesystem::path& path, const image& pixels) {
  const index channels = pixels.extent(0), count = pixels.extent(1) * pixels.extent(2);
  if (channels != 1 && channels != 3) {
    refuse("write_pnm", path, compose_text(channels, " channels, expected 1 of grey or 3 of colour"));
  }
  const std::string header =
      compose_text(channels == 1 ? "P5\n" : "P6\n", pixels.extent(2), " ", pixels.extent(1), "\n255\n");
  std::vector<std::uint8_t> samples(static_cast<std::size_t>(pixels.size()));
  for (index i = 0; i < pixels.size(); ++i) {
    samples[static_cast<std::size_t>(i)] = pixels.data()[i % channels * count + i / channels];
  }
  const std::array<std::span<const std::uint8_t>, 2> parts{
      std::span(reinterpret_cast<const std::uint8_t*>(header.data()), header.size()), samples};
  write_bytes("write_pnm", path, parts);
}

}  // namespace tenon::io
