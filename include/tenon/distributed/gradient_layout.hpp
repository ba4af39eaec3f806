// tenon/distributed/gradient_layout.hpp: where gradients lie in one piece of memory that ranks sum up.
// The last layer comes first, as in a backward pass; neighbours make buckets, which are summed when they are full.
// Floor 8: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <tenon/base/array.hpp>
#include <vector>

namespace tenon::distributed {

/// A parameter as a layout knows it.
struct sized_parameter {
  std::string name;
  index size;
};

/// Where the gradient of a parameter lies, in elements.
struct gradient_place {
  static constexpr int no_layer = -1;  // of parameters whose names do not begin with a number: the last to be done
  index first, size;
  int layer, parameter;  // the number that its name begins with, and its own
};

/// Neighbours that are summed at once.
struct gradient_bucket {
  index first, count;
  std::size_t places;  // up to this one
};

/// The places of all gradients behind `leading` elements for other things, which are part of the first bucket; a bucket
/// is full with `bucket_elements` or more.
class gradient_layout {
 public:
  TENON_IF_CALLED gradient_layout(const std::vector<sized_parameter>& parameters, index bucket_elements,
                                  index leading) {
    for (const auto& each : parameters) {
      places_.push_back({0, each.size, layer_of(each.name), static_cast<int>(places_.size())});
    }
    std::sort(places_.begin(), places_.end(), [](const gradient_place& left, const gradient_place& right) {
      return left.layer != right.layer ? left.layer > right.layer : left.parameter < right.parameter;
    });
    elements_ = leading;
    buckets_.push_back({0, leading, 0});
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (i != 0 && buckets_.back().count >= bucket_elements) buckets_.push_back({elements_, 0, i});
      places_[i].first = elements_;
      elements_ += places_[i].size;
      buckets_.back().count += places_[i].size;
      buckets_.back().places = i + 1;
    }
  }

  const std::vector<gradient_place>& places() const { return places_; }
  const std::vector<gradient_bucket>& buckets() const { return buckets_; }
  index elements() const { return elements_; }

 private:
  TENON_IF_CALLED static int layer_of(const std::string& name) {
    const auto dot = name.find('.');
    const bool is_numbered = dot != std::string::npos && dot != 0 && name.find_first_not_of("0123456789") == dot;
    return is_numbered ? std::stoi(name) : gradient_place::no_layer;
  }

  std::vector<gradient_place> places_;
  std::vector<gradient_bucket> buckets_;
  index elements_ = 0;
};

}  // namespace tenon::distributed
