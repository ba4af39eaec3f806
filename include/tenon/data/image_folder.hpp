// tenon/data/image_folder.hpp: images of files, a folder for each class.
// Files are read when they are asked for, by the loader's workers; an error names the file.
// Floor 6: may include base, core, evaluate, io, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <tenon/data/batch.hpp>
#include <tenon/data/resize.hpp>
#include <tenon/evaluate.hpp>
#include <tenon/io/png.hpp>
#include <tenon/io/pnm.hpp>

namespace tenon::data {

/// How images of another size are brought to the size that was asked for.
enum class image_fit {
  cut,      ///< cropped, or padded with black, around the middle
  cover,    ///< resized in proportion to the least size that covers it, then cropped around the middle
  stretch,  ///< resized to that size, whatever the proportions
};

/// What the images of a folder are converted to. 0 stands for what the first image has.
struct image_folder_options {
  index channels = 0;  ///< 1: colours become grey, 3: grey becomes colours
  image_size size{};
  image_fit fit = image_fit::cut;
};

/// The images of `folder/CLASS/FILE`; classes are numbered in the order of the alphabet, images in that of class and
/// file. Files end in .pgm, .ppm or .pnm, and in .png where the program has libpng; others are not looked at.
/// extents   batches [batch, channels, height, width] of bytes, and [batch] of class numbers
/// throws    file_error naming the file: a folder without classes, a class without images; while reading: a damaged
///           image, one of another size than the first where no size is given, one to be resized that has no pixels or
///           an edge more than 256 times as long as the other, and too little memory
/// source    torchvision.datasets.ImageFolder
class image_folder {
 public:
  using batch_type = std::tuple<batch_tensor<std::uint8_t, rank<3>>, batch_tensor<std::int64_t, shape<>>>;

  TENON_IF_CALLED explicit image_folder(const std::filesystem::path& folder, const image_folder_options& options = {})
      : fits_(options.size.height != 0 || options.size.width != 0), fit_(options.fit) {
    std::error_code status;
    if (!std::filesystem::is_directory(folder, status)) io::refuse("image_folder", folder, "there is no such folder");
    for (const auto& each : sorted_entries(folder)) {
      if (std::filesystem::is_directory(each, status)) add_class(each);
    }
    if (classes_.empty()) io::refuse("image_folder", folder, "it holds no folders, expected one for each class");
    const auto first = read(files_.front().path).shape();
    const auto chosen = [](index asked, index found) { return asked != 0 ? asked : found; };
    extents_ = rank<3>(chosen(options.channels, first.extent(0)), chosen(options.size.height, first.extent(1)),
                       chosen(options.size.width, first.extent(2)));
    if (extents_.extent(0) != 1 && extents_.extent(0) != 3) {
      io::refuse("image_folder", folder, compose_text(options.channels, " channels, expected 1 or 3"));
    }
  }

  const std::vector<std::string>& classes() const { return classes_; }
  const std::filesystem::path& file(index i) const { return files_[static_cast<std::size_t>(i)].path; }
  std::int64_t label(index i) const { return files_[static_cast<std::size_t>(i)].label; }

  index size() const { return static_cast<index>(files_.size()); }
  TENON_IF_CALLED batch_type make_batch(index count) const {
    return {make_batch_tensor<std::uint8_t>(count, extents_), make_batch_tensor<std::int64_t>(count, shape<>{})};
  }
  template <class Batch>
  void copy_example(index i, Batch& batch, index place) const {
    io::image pixels = read(file(i));
    const auto size = static_cast<std::uint64_t>(pixels.size());
    io::within_memory("image_folder", file(i), size,
                      [&] { copy_image(i, with_channels(std::move(pixels), extents_.extent(0)), batch, place); });
  }

 private:
  struct labelled_file {
    std::filesystem::path path;
    std::int64_t label;
  };
  static constexpr index greatest_ratio = 256;  // between edges: what resizing makes of other images has no bound

  template <class Batch>
  void copy_image(index i, const io::image& pixels, Batch& batch, index place) const {
    const image_size size{extents_.extent(1), extents_.extent(2)};
    if (!fits_ && !(pixels.shape() == extents_)) {
      io::refuse("image_folder", file(i),
                 compose_text("extents ", pixels.shape().to_array(), ", expected ", extents_.to_array(),
                              " as of the first; ask for a size?"));
    }
    const auto to = example_at(std::get<0>(batch), place);
    if (fit_ != image_fit::cut) check_edges(i, size_of(pixels));
    if (fit_ == image_fit::cut) to = centre_crop(pixels, size);
    else if (fit_ == image_fit::stretch) to = resize(pixels, size);
    else to = centre_crop(resize(pixels, covering_size(size_of(pixels), size)), size);
    std::get<1>(batch)(place) = label(i);
  }
  TENON_IF_CALLED void check_edges(index i, const image_size& size) const {
    const index shorter = std::min(size.height, size.width), longer = std::max(size.height, size.width);
    if (shorter >= 1 && longer / shorter <= greatest_ratio) return;
    io::refuse(
        "image_folder", file(i),
        compose_text(size.height, " x ", size.width, " pixels, expected edges that differ by a factor of at most ",
                     greatest_ratio, ", as they are resized"));
  }
  TENON_IF_CALLED static std::vector<std::filesystem::path> sorted_entries(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> entries;
    std::error_code status;
    std::filesystem::directory_iterator each(folder, status);
    for (; !status && each != std::filesystem::directory_iterator(); each.increment(status)) {
      entries.push_back(each->path());
    }
    if (status) io::refuse("image_folder", folder, "it cannot be read: " + status.message());
    std::sort(entries.begin(), entries.end());
    return entries;
  }
  TENON_IF_CALLED static std::string ending(const std::filesystem::path& path) {
    std::string text = path.extension().string();
    for (char& each : text) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    return text;
  }
  TENON_IF_CALLED static bool is_image(const std::filesystem::path& path) {
    const std::string end = ending(path);
    return end == ".pgm" || end == ".ppm" || end == ".pnm" || (TENON_PNG != 0 && end == ".png");
  }
  TENON_IF_CALLED static io::image read(const std::filesystem::path& path) {
#if TENON_PNG != 0
    if (ending(path) == ".png") return io::read_png(path);
#endif
    return io::read_pnm(path);
  }
  TENON_IF_CALLED void add_class(const std::filesystem::path& folder) {
    const std::size_t before = files_.size();
    for (const auto& each : sorted_entries(folder)) {
      if (is_image(each)) files_.push_back({each, static_cast<std::int64_t>(classes_.size())});
    }
    if (files_.size() == before) {
      io::refuse("image_folder", folder,
                 TENON_PNG != 0 ? "it holds no image" : "it holds no image of Netpbm; PNG needs libpng (TENON_PNG)");
    }
    classes_.push_back(folder.filename().string());
  }
  /// Grey weighs colours as the eye does.
  /// source    ITU-R BT.601
  TENON_IF_CALLED static io::image with_channels(io::image pixels, index channels) {
    if (pixels.extent(0) == channels) return pixels;
    const index count = pixels.extent(1) * pixels.extent(2);
    io::image result(rank<3>(channels, pixels.extent(1), pixels.extent(2)));
    for (index i = 0; i < count; ++i) {
      const std::uint8_t* const from = pixels.data() + i;
      std::uint8_t* const to = result.data() + i;
      if (channels == 1)
        *to = static_cast<std::uint8_t>((299 * *from + 587 * from[count] + 114 * from[2 * count] + 500) / 1000);
      else to[0] = to[count] = to[2 * count] = *from;
    }
    return result;
  }

  std::vector<std::string> classes_;
  std::vector<labelled_file> files_;
  rank<3> extents_;
  bool fits_;
  image_fit fit_;
};

}  // namespace tenon::data
