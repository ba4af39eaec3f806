// tenon/data/dataset.hpp: examples by number.
// A dataset writes single examples into a batch; what a batch is, it says itself.
// Floor 6: may include base, core, device, expr, plan, evaluate, io, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <tenon/core/tensor.hpp>
#include <tenon/data/random_draws.hpp>
#include <tuple>
#include <vector>

namespace tenon::data {

/// What a loader asks of a dataset: how many examples there are, a batch of given size, and an example written to
/// place `place` of a batch. `copy_example` is called from several threads at once, for different places. A dataset
/// whose examples are the same in every epoch may take a plain number in place of the id.
/// example   struct squares {
///             using batch_type = tensor<float, rank<1>>;
///             index size() const { return 100; }
///             batch_type make_batch(index count) const { return batch_type({count}); }
///             void copy_example(index i, batch_type& batch, index place) const { batch(place) = float(i * i); }
///           };
template <class Dataset>
concept dataset = requires(const Dataset& examples, typename Dataset::batch_type& batch) {
  { examples.size() } -> std::convertible_to<index>;
  { examples.make_batch(index{}) } -> std::same_as<typename Dataset::batch_type>;
  examples.copy_example(example_id{}, batch, index{});
};

/// Images [n, 28, 28] of bytes with labels [n], as MNIST has them. Batches are images [batch, 1, 28, 28] of floats,
/// (byte / 255 - mean) / deviation with MNIST's mean and deviation, and labels [batch] of int64.
class labelled_images {
 public:
  /// How bytes become floats: (byte / 255 - mean) / deviation. The defaults are MNIST's.
  struct scaling {
    float mean = 0.1307f;
    float deviation = 0.3081f;
  };
  /// Images [n, 1, h, w] and their labels [n].
  struct batch_type {
    tensor<float, shape<dyn, 1, 28, 28>> images;
    tensor<std::int64_t, rank<1>> labels;

    auto tensors() const { return std::tie(images, labels); }
  };

  /// throws    shape_error when images and labels differ in number, or images are not 28 by 28
  labelled_images(tensor<std::uint8_t, rank<3>> images, tensor<std::uint8_t, rank<1>> labels)
      : images_(std::move(images)), labels_(std::move(labels)) {
    if (images_.extent(0) != labels_.extent(0)) {
      throw shape_error(compose_text("labelled_images: ", images_.extent(0), " images, expected ", labels_.extent(0),
                                     " as there are labels"));
    }
    if (images_.extent(1) != 28 || images_.extent(2) != 28) {
      throw shape_error(compose_text("labelled_images: images of extents ", images_.shape().to_array(),
                                     ", expected 28 rows and 28 columns"));
    }
    for (int byte = 0; byte < 256; ++byte) {
      value_of_[static_cast<std::size_t>(byte)] =
          (static_cast<float>(byte) / 255.0f - scaling{}.mean) / scaling{}.deviation;
    }
  }

  index size() const { return labels_.extent(0); }
  batch_type make_batch(index count) const {
    return {tensor<float, shape<dyn, 1, 28, 28>>(shape<dyn, 1, 28, 28>(count, 1, 28, 28)),
            tensor<std::int64_t, rank<1>>(rank<1>(count))};
  }
  void copy_example(index i, batch_type& batch, index place) const {
    const index pixels = images_.extent(1) * images_.extent(2);
    const std::uint8_t* from = images_.data() + i * pixels;
    float* to = batch.images.data() + place * pixels;
    for (index pixel = 0; pixel < pixels; ++pixel) to[pixel] = value_of_[from[pixel]];
    batch.labels(place) = labels_(i);
  }

  const tensor<std::uint8_t, rank<3>>& images() const { return images_; }
  const tensor<std::uint8_t, rank<1>>& labels() const { return labels_; }

 private:
  tensor<std::uint8_t, rank<3>> images_;
  tensor<std::uint8_t, rank<1>> labels_;
  std::vector<float> value_of_ = std::vector<float>(256);
};

}  // namespace tenon::data
