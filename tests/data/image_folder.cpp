// tests/data/image_folder.cpp: images of files.
// Classes and files come in the order of the alphabet; what cannot be read is named by its file, through a loader too.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/image_folder.hpp>

#include <unistd.h>

#include <tenon/data/loader.hpp>
#include <tenon/data/weighted_sampler.hpp>

#include "support/text_of.hpp"

namespace data = tenon::data;
using tenon_test::has;

namespace {

/// A folder that is gone at the end of its scope.
struct scratch_folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("tenon_folder_" + std::to_string(getpid()));

  scratch_folder() { std::filesystem::create_directories(path); }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

  /// An image whose elements count up from `first`.
  void add(const std::string& name, const tenon::rank<3>& extents, int first) const {
    tenon::io::image image(extents);
    for (tenon::index i = 0; i < image.size(); ++i) image.data()[i] = static_cast<std::uint8_t>(first + i);
    std::filesystem::create_directories((path / name).parent_path());
    tenon::io::write_pnm(path / name, image);
  }
  void add_text(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
  }
  std::string refusal(const data::image_folder_options& options = {}) const {
    return tenon_test::text_of<tenon::file_error>([&] { data::image_folder(path, options); });
  }
};

}  // namespace

TEST_CASE("images come by class and name", "[image_folder]") {
  const scratch_folder folder;
  folder.add("dogs/b.PGM", tenon::rank<3>(1, 2, 3), 50);
  folder.add("cats/z.pgm", tenon::rank<3>(1, 2, 3), 20);
  folder.add("cats/a.pnm", tenon::rank<3>(1, 2, 3), 10);
  folder.add_text("cats/notes.txt", "no image");
  folder.add_text("readme", "no class");
  const data::image_folder images(folder.path);
  STATIC_REQUIRE(data::dataset<data::image_folder>);
  CHECK(images.classes() == std::vector<std::string>{"cats", "dogs"});
  REQUIRE(images.size() == 3);
  CHECK(images.file(1).filename() == "z.pgm");
  data::loader loader(images, {.batch = 3, .workers = 2});
  for (const auto& [pixels, labels] : loader.epoch(0)) {
    REQUIRE(pixels.shape() == tenon::rank<4>(3, 1, 2, 3));
    const int first[] = {10, 20, 50};
    for (tenon::index i = 0; i < 18; ++i) CHECK(pixels.data()[i] == first[i / 6] + i % 6);
    CHECK(labels(1) == 0);
    CHECK(labels(2) == 1);
  }
}

TEST_CASE("images take the channels and the size that are asked for", "[image_folder]") {
  const scratch_folder folder;
  folder.add("one/a.ppm", tenon::rank<3>(3, 1, 2), 10);
  folder.add("one/b.pgm", tenon::rank<3>(1, 3, 4), 100);
  const data::image_folder grey(folder.path, {.channels = 1, .size = {1, 2}});
  auto batch = grey.make_batch(2);
  grey.copy_example(0, batch, 0);
  grey.copy_example(1, batch, 1);
  const auto& pixels = std::get<0>(batch);
  CHECK(pixels(0, 0, 0, 0) == 12);  // 0.299 * 10 + 0.587 * 12 + 0.114 * 14 = 11.63
  CHECK(pixels(1, 0, 0, 0) == 105);
  CHECK(pixels(1, 0, 0, 1) == 106);
  const data::image_folder colour(folder.path, {.size = {3, 2}});
  auto colours = colour.make_batch(2);
  REQUIRE(std::get<0>(colours).shape() == tenon::rank<4>(2, 3, 3, 2));
  colour.copy_example(0, colours, 0);
  colour.copy_example(1, colours, 1);
  CHECK(std::get<0>(colours)(0, 1, 0, 0) == 0);  // padded
  CHECK(std::get<0>(colours)(0, 1, 1, 0) == 12);
  for (tenon::index c = 0; c < 3; ++c) CHECK(std::get<0>(colours)(1, c, 2, 1) == 110);
}

TEST_CASE("images are resized to the size that is asked for", "[image_folder]") {
  const scratch_folder folder;
  folder.add("one/a.pgm", tenon::rank<3>(1, 4, 8), 10);
  const auto pixels = tenon::io::read_pnm(folder.path / "one/a.pgm");
  const auto first_of = [&](data::image_fit fit) {
    const data::image_folder images(folder.path, {.size = {2, 2}, .fit = fit});
    auto batch = images.make_batch(1);
    images.copy_example(0, batch, 0);
    return std::get<0>(batch);
  };
  const tenon::io::image stretched = data::resize(pixels, {2, 2}), halved = data::resize(pixels, {2, 4});
  const auto cut = first_of(data::image_fit::cut), stretch = first_of(data::image_fit::stretch);
  const auto cover = first_of(data::image_fit::cover);
  for (tenon::index y = 0; y < 2; ++y) {
    for (tenon::index x = 0; x < 2; ++x) {
      CHECK(cut(0, 0, y, x) == pixels(0, y + 1, x + 3));
      CHECK(stretch(0, 0, y, x) == stretched(0, y, x));
      CHECK(cover(0, 0, y, x) == halved(0, y, x + 1));
    }
  }
}

TEST_CASE("images that resizing would make enormous are refused", "[image_folder]") {
  const scratch_folder folder;
  folder.add("a/0.pgm", tenon::rank<3>(1, 1, 256), 0);
  folder.add("a/1.pgm", tenon::rank<3>(1, 1, 1000000), 0);
  folder.add("a/2.pgm", tenon::rank<3>(1, 257, 1), 0);
  folder.add("a/3.pgm", tenon::rank<3>(1, 0, 3), 0);
  for (const auto fit : {data::image_fit::cover, data::image_fit::stretch}) {
    const data::image_folder images(folder.path, {.size = {8, 8}, .fit = fit});
    auto batch = images.make_batch(1);
    images.copy_example(0, batch, 0);
    const auto refusal = [&](tenon::index i) {
      return tenon_test::text_of<tenon::file_error>([&] { images.copy_example(i, batch, 0); });
    };
    CHECK(has(refusal(1), "/a/1.pgm: 1 x 1000000 pixels, expected edges that differ by a factor of at most 256"));
    CHECK(has(refusal(2), "/a/2.pgm: 257 x 1 pixels"));
    CHECK(has(refusal(3), "/a/3.pgm: 0 x 3 pixels"));
  }
  const data::image_folder cut(folder.path, {.size = {8, 8}});
  auto batch = cut.make_batch(1);
  for (tenon::index i = 0; i < 4; ++i) cut.copy_example(i, batch, 0);
  CHECK(std::get<0>(batch)(0, 0, 4, 4) == 0);
}

TEST_CASE("folders that may not be read are refused", "[image_folder]") {
  const scratch_folder folder;
  folder.add("a/0.pgm", tenon::rank<3>(1, 1, 1), 0);
  std::filesystem::permissions(folder.path / "a", std::filesystem::perms::none);
  const auto read = [&] { data::image_folder(folder.path, {}); };
  const uid_t user = geteuid();
  const bool is_other = user != 0 || seteuid(65534) == 0;  // the superuser may read everything
  if (is_other) CHECK(has(tenon_test::text_of<tenon::file_error>(read), "/a: it cannot be read: Permission denied"));
  CHECK((user != 0 || seteuid(user) == 0));
  std::filesystem::permissions(folder.path / "a", std::filesystem::perms::owner_all);
}

TEST_CASE("what cannot be read is named by its file", "[image_folder]") {
  const scratch_folder folder;
  CHECK(has(folder.refusal(), "it holds no folders, expected one for each class"));
  folder.add_text("a/empty.txt", "");
  CHECK(has(folder.refusal(), "/a: it holds no image"));
  folder.add("a/0.pgm", tenon::rank<3>(1, 2, 2), 0);
  folder.add("a/1.pgm", tenon::rank<3>(1, 2, 3), 0);
  folder.add_text("a/2.pgm", "P5 2 2 255\nabc");
  CHECK(has(folder.refusal({.channels = 2}), "2 channels, expected 1 or 3"));
  const data::image_folder images(folder.path);
  auto batch = images.make_batch(1);
  CHECK(has(tenon_test::text_of<tenon::file_error>([&] { images.copy_example(1, batch, 0); }),
            "1.pgm: extents [1, 2, 3], expected [1, 2, 2] as of the first; ask for a size?"));
  data::loader loader(images, data::weighted_sampler({0, 0, 1}, 2), {.batch = 2});
  const auto text = tenon_test::text_of<tenon::error>([&] {
    for (const auto& each : loader.epoch(0)) CHECK(std::get<0>(each).size() != 0);
  });
  CHECK(has(text, "loader: example 2: read_pnm: "));
  CHECK(has(text, "/a/2.pgm: 3 bytes of elements, expected 4"));
  CHECK(has(tenon_test::text_of<tenon::file_error>([] { data::image_folder("/no/images"); }),
            "image_folder: /no/images: there is no such folder"));
}
