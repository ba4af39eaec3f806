// tenon/distributed/shard.hpp: the examples of an epoch that are one rank's.
// Every rank takes its part of each batch, so that all parts together are the batch of one process.
// Floor 8: may include base, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/error.hpp>
#include <tenon/data/dataset.hpp>
#include <tenon/data/sampler.hpp>

namespace tenon::distributed {

/// Which part of an epoch a shard is.
struct shard_options {
  index batch = 32;  ///< of all ranks together
  int rank = 0, ranks = 1;
  bool shuffle = false;
  std::uint64_t seed = 0;
  index epoch = 0;        ///< shuffled orders hang on it and on the seed
  index first_batch = 0;  ///< batches before it are left out: they were done before
};

/// A dataset of one rank's examples of an epoch, in their order: for a loader that neither shuffles nor drops, whose
/// batch is `batch()`. A last batch with fewer examples than ranks is left out, so that all have as many batches; the
/// order of one rank is that of data::loader.
/// throws    shape_error when a batch cannot be shared out equally, or there is no such rank
/// example   const distributed::shard part(examples, {.batch = 64, .rank = all.rank(), .ranks = all.size()});
///           data::loader loader(part, {.batch = part.batch()});
template <data::dataset Dataset>
class shard {
 public:
  using batch_type = typename Dataset::batch_type;

  shard(const Dataset& examples, const shard_options& options) : examples_(&examples), options_(options) {
    check(options);
    const index count = examples.size();
    const auto order = options.shuffle
                           ? data::shuffled_order(count, options.seed, static_cast<std::uint64_t>(options.epoch))
                           : data::sequential_order(count);
    for (index first = options.first_batch * options.batch; first < count; first += options.batch) {
      const index left = count - first, size = left < options.batch ? left : options.batch;
      if (size < options.ranks) break;
      for (index i = begin_of(options.rank, size); i < begin_of(options.rank + 1, size); ++i) {
        numbers_.push_back(order[static_cast<std::size_t>(first + i)]);
      }
    }
  }

  /// Examples in a batch of this rank.
  index batch() const { return options_.batch / options_.ranks; }
  /// Batches of the whole epoch, those that are left out included.
  index batches_in_epoch() const {
    const index whole = examples_->size() / options_.batch, rest = examples_->size() % options_.batch;
    return whole + (rest != 0 && rest >= options_.ranks ? 1 : 0);
  }

  index size() const { return static_cast<index>(numbers_.size()); }
  batch_type make_batch(index count) const { return examples_->make_batch(count); }
  void copy_example(index i, batch_type& batch, index place) const {
    const index number = numbers_[static_cast<std::size_t>(i)];
    examples_->copy_example(data::example_id{number, options_.epoch}, batch, place);
  }

 private:
  index begin_of(int rank, index size) const { return size * rank / options_.ranks; }
  static void check(const shard_options& options) {
    if (options.rank < 0 || options.rank >= options.ranks) {
      throw shape_error(compose_text("shard: rank ", options.rank, " of ", options.ranks, ", expected one below"));
    }
    if (options.batch < 1 || options.batch % options.ranks != 0) {
      throw shape_error(compose_text("shard: batch ", options.batch, ", expected a multiple of the ", options.ranks,
                                     " ranks that share it"));
    }
  }

  const Dataset* examples_;
  shard_options options_;
  std::vector<index> numbers_;
};

}  // namespace tenon::distributed
