// tests/golden/normalization.cpp: batch, layer, group and instance norm.
// Their extents are known at run time here, as PyTorch's are.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/batch_norm.hpp>

#include "golden/layers.hpp"

namespace golden {

namespace {

namespace nn = tn::nn;
using nn::affine;

template <int Rank, class Space, affine Affine>
result run_batch_norm(const golden_case& given) {
  const auto& attributes = given.attributes;
  const double momentum = attributes.number("momentum", -1);  // PyTorch's None is absent here
  nn::batch_norm<tn::dyn, Affine, Space> layer(attributes.integer("num_features", 0),
                                               {.epsilon = static_cast<float>(attributes.number("eps", 0)),
                                                .momentum = static_cast<float>(momentum),
                                                .cumulative = momentum < 0,
                                                .track_statistics = attributes.flag("track_running_stats", true)});
  layer.is_training = attributes.flag("training", true);
  return run_layer<Rank, Space>(given, layer);
}
template <class Space>
result run_batch_norm_of_rank(const golden_case& given) {
  const int rank = given.inputs.at("input").rank();
  const bool is_affine = given.attributes.flag("affine", true);
  if (rank == 2) return run_batch_norm<2, Space, affine::both>(given);
  if (rank == 3) return run_batch_norm<3, Space, affine::both>(given);
  if (rank == 4 && !is_affine) return run_batch_norm<4, Space, affine::none>(given);
  if (rank == 4) return run_batch_norm<4, Space, affine::both>(given);
  return run_batch_norm<5, Space, affine::both>(given);
}

template <int Rank, class Space, class Normalised, affine Affine>
result run_layer_norm(const golden_case& given, const Normalised& extents) {
  nn::layer_norm<Normalised, Affine, Space> layer(extents);
  layer.epsilon = static_cast<float>(given.attributes.number("eps", 0));
  return run_layer<Rank, Space>(given, layer);
}
template <class Space>
result run_layer_norm_of_extents(const golden_case& given) {
  const auto extents = given.attributes.integers("normalized_shape");
  if (extents.size() == 2) {
    return run_layer_norm<3, Space, tn::rank<2>, affine::both>(given, tn::rank<2>(extents[0], extents[1]));
  }
  const tn::rank<1> row(extents[0]);
  if (given.inputs.at("input").rank() == 2) return run_layer_norm<2, Space, tn::rank<1>, affine::both>(given, row);
  return run_layer_norm<3, Space, tn::rank<1>, affine::none>(given, row);
}

template <class Space>
result run_group_norm(const golden_case& given) {
  nn::group_norm<tn::dyn, affine::both, Space> layer(given.attributes.integer("num_groups", 1),
                                                     given.attributes.integer("num_channels", 1));
  layer.epsilon = static_cast<float>(given.attributes.number("eps", 0));
  return run_layer<4, Space>(given, layer);
}

template <int Rank, class Space, affine Affine>
result run_instance_norm(const golden_case& given) {
  nn::instance_norm<tn::dyn, Affine, Space> layer(given.attributes.integer("num_features", 1));
  layer.epsilon = static_cast<float>(given.attributes.number("eps", 0));
  return run_layer<Rank, Space>(given, layer);
}

template <class Space>
void fill_norms(layer_table& table) {
  table["BatchNorm1d"] = table["BatchNorm2d"] = table["BatchNorm3d"] = run_batch_norm_of_rank<Space>;
  table["LayerNorm"] = run_layer_norm_of_extents<Space>;
  table["GroupNorm"] = run_group_norm<Space>;
  table["LocalResponseNorm"] = [](const golden_case& given) {
    const auto& attributes = given.attributes;
    return run_layer<4, Space>(given,
                               nn::local_response_norm(attributes.integer("size", 0), attributes.number("alpha", 0),
                                                       attributes.number("beta", 0), attributes.number("k", 0)));
  };
  table["InstanceNorm1d"] = run_instance_norm<3, Space, affine::none>;
  table["InstanceNorm2d"] = run_instance_norm<4, Space, affine::both>;
}

}  // namespace

void add_normalization(device_tables& devices) {
  on_each_device(devices, [&]<class Space>(layer_table& table) { fill_norms<Space>(table); });
}

}  // namespace golden
