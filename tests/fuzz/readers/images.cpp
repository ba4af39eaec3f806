// tests/fuzz/readers/images.cpp: attacks on the readers of images, and of folders of them.
// Chunks of PNG are damaged before their sums are made; what is read goes out as PNM and in again.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/image_folder.hpp>
#include <tenon/io/checksum.hpp>

#include "fuzz/readers/damage.hpp"

namespace fuzz {

namespace {

namespace io = tenon::io;

bytes make_pnm(random_source& random) {
  constexpr int greatest_samples[] = {255, 255, 1, 7, 256, 65535};
  const auto kind = static_cast<std::int64_t>("2356"[random.below(4)] - '0');
  const auto width = random.below(6), height = random.below(6),
             greatest = std::int64_t{one_of(greatest_samples, random)};
  const char* const gap = once_in(4, random) ? " # note\n" : "\n";
  std::string text = tenon::compose_text("P", kind, gap, width, " ", height, gap, greatest, "\n");
  for (auto samples = (kind % 3 == 0 ? 3 : 1) * width * height; samples > 0; --samples) {
    const auto sample = random.below(greatest + 1);
    if (kind < 4) text += std::to_string(sample) + (once_in(8, random) ? gap : " ");
    if (kind > 4 && greatest > 255) text += static_cast<char>(sample >> 8);
    if (kind > 4) text += static_cast<char>(sample & 0xff);
  }
  return tenon_test::bytes_of(text);
}

void must_come_back(const io::image& read) {
  static const memory_file again("again.pnm");
  io::write_pnm(again.path, read);
  const auto second = io::read_pnm(again.path);
  must_hold(second.shape() == read.shape() && std::equal(read.data(), read.data() + read.size(), second.data()),
            "another image comes back");
}

void check_pnm(const std::filesystem::path& path, const bytes&) { must_come_back(io::read_pnm(path)); }

#if TENON_PNG != 0
/// Sets the sums of all chunks right.
void repair_png(bytes& content) {
  for (std::size_t at = 8; content.size() >= 12 && at <= content.size() - 12;) {
    const std::uint64_t length = io::big_endian<4>(std::span(content).subspan(at));
    if (length > content.size() - 12 - at) return;
    const std::uint32_t sum = io::crc32(std::span(content).subspan(at + 4, 4 + static_cast<std::size_t>(length)));
    at += 8 + static_cast<std::size_t>(length);
    for (const int shift : {24, 16, 8, 0}) content[at++] = static_cast<std::uint8_t>(sum >> shift & 0xff);
  }
}

/// An image of a few pixels in any format of libpng's; its header is falsified at times.
bytes make_png(random_source& random) {
  constexpr png_uint_32 formats[] = {PNG_FORMAT_GRAY,        PNG_FORMAT_GA,       PNG_FORMAT_RGB,
                                     PNG_FORMAT_RGBA,        PNG_FORMAT_LINEAR_Y, PNG_FORMAT_LINEAR_RGB_ALPHA,
                                     PNG_FORMAT_RGB_COLORMAP};
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(1 + random.below(9)),
  image.height = static_cast<png_uint_32>(1 + random.below(9));
  image.format = one_of(formats, random);
  const int colours = 1 << (1 + random.below(4));
  image.colormap_entries = static_cast<png_uint_32>(colours);
  const bool has_palette = image.format == PNG_FORMAT_RGB_COLORMAP;
  bytes samples(PNG_IMAGE_SIZE(image)), palette(static_cast<std::size_t>(3 * colours)), content(8192);
  for (auto& each : samples) each = static_cast<std::uint8_t>(random.below(has_palette ? colours : 256));
  for (auto& each : palette) each = static_cast<std::uint8_t>(random.bits());
  png_alloc_size_t size = content.size();
  must_hold(png_image_write_to_memory(&image, content.data(), &size, 0, samples.data(), 0, palette.data()) != 0,
            "libpng does not write");
  content.resize(size);
  constexpr std::uint8_t depths[] = {1, 2, 4, 8, 16}, types[] = {0, 2, 3, 4, 6};
  if (once_in(4, random)) content[24] = one_of(depths, random);
  if (once_in(4, random)) content[25] = one_of(types, random);
  if (once_in(6, random)) content[28] = 1;  // interlaced
  if (once_in(6, random)) {
    const std::uint64_t extent = one_of(numbers_at_ends, random);
    const std::size_t place = once_in(2, random) ? 16 : 20;
    for (std::size_t i = 0; i < 4; ++i) content[place + i] = static_cast<std::uint8_t>(extent >> (24 - 8 * i) & 0xff);
  }
  repair_png(content);
  return content;
}

void check_png(const std::filesystem::path& path, const bytes& content) {
  const auto read = io::read_png(path);
  must_hold(read.extent(1) > 0 && read.extent(2) > 0, "an image without pixels is read");
  must_hold(static_cast<std::size_t>(read.size()) <= 24 * io::most_inflated_bytes * content.size(), "too much is read");
  must_come_back(read);
}
#endif

bytes make_of_folder(random_source& random) {
#if TENON_PNG != 0
  if (once_in(2, random)) return make_png(random);
#endif
  return make_pnm(random);
}

/// A folder of one class of one image, gone at the end of the program.
struct image_class {
  std::filesystem::path folder = scratch_path("folder"), pnm = folder / "a" / "0.pgm", png = folder / "a" / "0.PNG";

  image_class() { std::filesystem::create_directories(pnm.parent_path()); }
  ~image_class() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
};

void check_folder(const std::filesystem::path& path, const bytes& content) {
  namespace data = tenon::data;
  static const image_class one;
  const bool is_png = TENON_PNG != 0 && !content.empty() && content[0] == 0x89;
  std::filesystem::remove(is_png ? one.pnm : one.png);
  std::filesystem::copy_file(path, is_png ? one.png : one.pnm, std::filesystem::copy_options::overwrite_existing);
  data::image_folder_options options;
  if (content.size() % 4 != 0) options = {.channels = content.size() % 8 < 4 ? 1 : 3, .size = {3, 4}};
  if (content.size() % 4 == 2) options.fit = data::image_fit::cover;
  if (content.size() % 4 == 3) options.fit = data::image_fit::stretch;
  const data::image_folder images(one.folder, options);
  auto batch = images.make_batch(1);
  images.copy_example(0, batch, 0);
  must_hold(std::get<1>(batch)(0) == 0, "another class is read");
}

}  // namespace

std::vector<format> image_formats() {
  return {
      {"pnm", make_pnm, check_pnm},
#if TENON_PNG != 0
      {"png", make_png, check_png, repair_png},
#endif
      {"image_folder", make_of_folder, check_folder},
  };
}

}  // namespace fuzz
