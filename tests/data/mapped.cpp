// tests/data/mapped.cpp: examples changed by a function of expressions.
// Results come to their places; what is drawn depends on seed, epoch and number alone, whatever the workers.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/mapped.hpp>

#include <tenon/data/loader.hpp>
#include <tenon/data/tensor_dataset.hpp>
#include <tenon/data/transforms.hpp>
#include <tenon/expr/views/flip.hpp>

#include "support/text_of.hpp"

namespace data = tenon::data;

namespace {

/// Image i is 10 * i + 0, 1, ..., 5 as two rows; its label is i.
auto numbered_images(tenon::index count) {
  tenon::tensor<std::uint8_t, tenon::rank<3>> images({count, 2, 3});
  tenon::tensor<std::int64_t, tenon::rank<1>> labels({count});
  for (tenon::index i = 0; i < images.size(); ++i) images.data()[i] = static_cast<std::uint8_t>(i / 6 * 10 + i % 6);
  for (tenon::index i = 0; i < count; ++i) labels(i) = i;
  return data::tensor_dataset(std::move(images), std::move(labels));
}

/// All that a loader gives of an epoch, one after another.
template <class Dataset>
std::vector<float> floats_of_epoch(const Dataset& examples, tenon::index epoch, int workers) {
  data::loader loader(examples, {.batch = 3, .shuffle = true, .seed = 4, .workers = workers});
  std::vector<float> all;
  for (const auto& batch : loader.epoch(epoch)) {
    const auto& images = std::get<0>(batch);
    all.insert(all.end(), images.data(), images.data() + images.size());
  }
  return all;
}

}  // namespace

TEST_CASE("a function's results are the examples", "[mapped]") {
  const auto images = numbered_images(5);
  const auto doubled = data::mapped(images, [](const auto& image, const auto& label) {
    return std::tuple(tenon::cast<float>(image) * 2, label + 100);
  });
  STATIC_REQUIRE(data::dataset<std::remove_const_t<decltype(doubled)>>);
  REQUIRE(doubled.size() == 5);
  auto batch = doubled.make_batch(2);
  doubled.copy_example(3, batch, 1);
  const auto& [floats, labels] = batch;
  REQUIRE(floats.shape() == tenon::rank<3>(2, 2, 3));
  for (tenon::index i = 0; i < 6; ++i) CHECK(floats(1, i / 3, i % 3) == static_cast<float>(2 * (30 + i)));
  CHECK(labels(1) == 103);
}

TEST_CASE("draws depend on seed, epoch and number, not on workers", "[mapped]") {
  const auto images = numbered_images(10);
  const auto augmented = [&](std::uint64_t seed) {
    return data::mapped(
        images,
        [](data::random_draws& draws, const auto& image, const auto&) {
          const auto part = data::random_crop(data::random_flip(image, draws), draws, {2, 2}, 1);
          return data::normalise(part, 5, 2);
        },
        seed);
  };
  const auto expected = floats_of_epoch(augmented(1), 2, 0);
  CHECK(expected.size() == 40);
  for (const int workers : {1, 3}) CHECK(floats_of_epoch(augmented(1), 2, workers) == expected);
  CHECK(floats_of_epoch(augmented(2), 2, 1) != expected);
  auto batches = augmented(1).make_batch(2);
  augmented(1).copy_example(data::example_id(7, 0), batches, 0);
  augmented(1).copy_example(data::example_id(7, 1), batches, 1);
  const auto& found = std::get<0>(batches);
  bool is_same = true;
  for (tenon::index i = 0; i < 4; ++i) is_same = is_same && found.data()[i] == found.data()[4 + i];
  CHECK(!is_same);
}

TEST_CASE("examples of other extents than the first are refused", "[mapped]") {
  const auto growing = data::mapped(numbered_images(3), [](const auto& image, const auto& label) {
    return data::crop(image, 0, 0, {1, label() + 1});
  });
  auto batch = growing.make_batch(1);
  growing.copy_example(0, batch, 0);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { growing.copy_example(2, batch, 0); }) ==
        "mapped: result 0: extents [1, 3], expected [1, 1] as of the first example");
  CHECK(data::mapped(numbered_images(0), [](const auto& image, const auto&) { return image; }).size() == 0);
}

TEST_CASE("examples of digits, and of a single tensor, are changed too", "[mapped]") {
  tenon::tensor<std::uint8_t, tenon::rank<3>> images = tenon::zeros<std::uint8_t>({3, 28, 28});
  tenon::tensor<std::uint8_t, tenon::rank<1>> labels = {4, 5, 6};
  images(2, 0, 1) = 255;
  const data::labelled_images digits(images, labels);
  const data::mapped mirrored(digits, [](const auto& image, const auto& label) {
    return std::tuple(tenon::flip(image, tenon::axis<-1>), label);
  });
  auto [mirror, kept] = mirrored.make_batch(1);
  std::tuple batch{std::move(mirror), std::move(kept)};
  mirrored.copy_example(2, batch, 0);
  CHECK(std::get<0>(batch)(0, 0, 0, 26) == Approx((1 - 0.1307) / 0.3081));
  CHECK(std::get<1>(batch)(0) == 6);

  struct squares {
    using batch_type = tenon::tensor<float, tenon::rank<1>>;
    tenon::index size() const { return 4; }
    batch_type make_batch(tenon::index count) const { return batch_type({count}); }
    void copy_example(tenon::index i, batch_type& to, tenon::index place) const {
      to(place) = static_cast<float>(i * i);
    }
  };
  const data::mapped doubled(squares{}, [](const auto& square) { return 2 * square; });
  auto numbers = doubled.make_batch(1);
  doubled.copy_example(3, numbers, 0);
  CHECK(std::get<0>(numbers)(0) == 18);
}
