// tests/data/dataset.cpp: labelled images.
// Bytes become standardised floats; images and labels must belong together.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/dataset.hpp>

#include "support/text_of.hpp"

using tenon::rank;
using tenon::data::labelled_images;
using image_tensor = tenon::tensor<std::uint8_t, rank<3>>;
using label_tensor = tenon::tensor<std::uint8_t, rank<1>>;

TEST_CASE("examples are copied to their place in a batch, standardised", "[dataset]") {
  image_tensor images({3, 28, 28});
  for (tenon::index i = 0; i < images.size(); ++i) images.data()[i] = static_cast<std::uint8_t>(i % 256);
  const labelled_images examples(std::move(images), label_tensor({3}, {7, 8, 9}));
  STATIC_REQUIRE(tenon::data::dataset<labelled_images>);
  CHECK(examples.size() == 3);
  auto batch = examples.make_batch(2);
  REQUIRE(batch.images.shape() == rank<4>(2, 1, 28, 28));
  examples.copy_example(2, batch, 1);
  CHECK(batch.labels(1) == 9);
  const float expected = (static_cast<float>((2 * 784 + 30) % 256) / 255.0f - 0.1307f) / 0.3081f;
  CHECK(batch.images(1, 0, 1, 2) == expected);
}

TEST_CASE("images and labels that do not belong together are refused", "[dataset]") {
  const auto text = [](tenon::index count, tenon::index rows, tenon::index labels) {
    return tenon_test::text_of<tenon::shape_error>(
        [&] { labelled_images(image_tensor({count, rows, 28}), label_tensor({labels})); });
  };
  CHECK(text(3, 28, 4) == "labelled_images: 3 images, expected 4 as there are labels");
  CHECK(text(3, 27, 3) == "labelled_images: images of extents [3, 27, 28], expected 28 rows and 28 columns");
}
