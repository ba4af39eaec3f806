// benchmarks/onednn_network.hpp: W9's convolutional network, put together by hand from oneDNN's primitives.
// Every layout is the one that a primitive prefers; relu is part of the product before it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(BENCHMARKS_ONEDNN)
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <dnnl.hpp>
#include <unordered_map>
#include <vector>

class onednn_simple_cnn {
 public:
  using memory = dnnl::memory;

  /// For images of 3 x 28 x 28 at `images`; in training, passes go back too.
  onednn_simple_cnn(long batch, bool trains, float* images)
      : batch_(batch), trains_(trains), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    memory now(plain({batch, 3, 28, 28}), engine_, images);
    now = convolution(now, {32, 3, 3, 3}, {batch, 32, 28, 28});
    now = pool(now, {batch, 32, 14, 14});
    now = convolution(now, {64, 32, 3, 3}, {batch, 64, 14, 14});
    now = pool(now, {batch, 64, 7, 7});
    now = linear(now, {128, 64, 7, 7}, true);
    now = linear(now, {10, 128}, false);
    answers_ = brought(now, plain({batch, 10}), forward_);
    if (trains) {
      of_answers_ = memory(plain({batch, 10}), engine_);
      go_back();
    }
  }

  /// Takes the parameters, weight and bias in turn, from plain layout.
  void take_parameters(const std::vector<float*>& from) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      memory here(plain(parameters_[i].value.get_desc().get_dims()), engine_, from[i]);
      dnnl::reorder(here, parameters_[i].value).execute(stream_, here, parameters_[i].value);
    }
    stream_.wait();
  }
  float* answers() {
    run(forward_);
    return static_cast<float*>(answers_.get_data_handle());
  }
  /// A step of stochastic gradient descent with momentum 0.9 at a rate of 0.01.
  void step(const std::int64_t* labels) {
    const float* logits = answers();
    float* gradient = static_cast<float*>(of_answers_.get_data_handle());
    for (long i = 0; i < batch_; ++i) of_cross_entropy(logits + 10 * i, labels[i], gradient + 10 * i);
    run(backward_);
    for (parameter& each : parameters_) descend(each);
  }

 private:
  struct call {
    dnnl::primitive operation;
    std::unordered_map<int, memory> arguments;
  };
  struct parameter {
    memory value, gradient, velocity;
  };
  /// What a pass back needs of a convolution or a linear layer.
  template <class Forward>
  struct product {
    typename Forward::primitive_desc description;
    memory source, result;
    std::size_t weight;  // its number among the parameters
  };
  struct pooled {
    dnnl::pooling_forward::primitive_desc description;
    memory source, places;
  };

  static memory::desc plain(const memory::dims& extents) {
    using tag = memory::format_tag;
    return {extents, memory::data_type::f32, extents.size() == 1 ? tag::a : extents.size() == 2 ? tag::ab : tag::abcd};
  }
  static memory::desc any(const memory::dims& extents) {
    return {extents, memory::data_type::f32, memory::format_tag::any};
  }
  static memory::desc any(const memory& like) { return any(like.get_desc().get_dims()); }
  dnnl::prop_kind kind() const {
    return trains_ ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  }
  static dnnl::primitive_attr with_relu(bool wanted) {
    dnnl::post_ops after;
    if (wanted) after.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(after);
    return attributes;
  }
  memory brought(memory from, const memory::desc& to, std::vector<call>& calls) {
    if (from.get_desc() == to) return from;
    memory result(to, engine_);
    calls.push_back({dnnl::reorder(from, result), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, result}}});
    return result;
  }
  void run(std::vector<call>& calls) {
    for (call& each : calls) each.operation.execute(stream_, each.arguments);
    stream_.wait();
  }

  // Forward.

  template <class Forward>
  product<Forward> multiply(const memory& source, const typename Forward::primitive_desc& found) {
    const product<Forward> made{found, brought(source, found.src_desc(), forward_), memory(found.dst_desc(), engine_),
                                parameters_.size()};
    for (const memory::desc& each : {found.weights_desc(), found.bias_desc()}) {
      memory velocity(each, engine_);
      std::fill_n(static_cast<float*>(velocity.get_data_handle()), each.get_size() / sizeof(float), 0.0f);
      parameters_.push_back({memory(each, engine_), memory(), velocity});
    }
    forward_.push_back({Forward(found),
                        {{DNNL_ARG_SRC, made.source},
                         {DNNL_ARG_WEIGHTS, parameters_[made.weight].value},
                         {DNNL_ARG_BIAS, parameters_[made.weight + 1].value},
                         {DNNL_ARG_DST, made.result}}});
    return made;
  }
  memory convolution(const memory& source, const memory::dims& weight, const memory::dims& result) {
    convolutions_.push_back(multiply<dnnl::convolution_forward>(
        source, {engine_, kind(), dnnl::algorithm::convolution_direct, any(source), any(weight), plain({weight[0]}),
                 any(result), one_, one_, one_, with_relu(true)}));
    return convolutions_.back().result;
  }
  memory linear(const memory& source, const memory::dims& weight, bool relu) {
    linears_.push_back(multiply<dnnl::inner_product_forward>(
        source,
        {engine_, kind(), any(source), any(weight), plain({weight[0]}), any({batch_, weight[0]}), with_relu(relu)}));
    return linears_.back().result;
  }
  memory pool(const memory& source, const memory::dims& result) {
    const dnnl::pooling_forward::primitive_desc found(engine_, kind(), dnnl::algorithm::pooling_max, source.get_desc(),
                                                      any(result), two_, two_, zero_, zero_, zero_);
    const memory made(found.dst_desc(), engine_);
    call next{dnnl::pooling_forward(found), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, made}}};
    pools_.push_back({found, source, trains_ ? memory(found.workspace_desc(), engine_) : memory()});
    if (trains_) next.arguments[DNNL_ARG_WORKSPACE] = pools_.back().places;
    forward_.push_back(next);
    return made;
  }

  // Back.

  void go_back() {
    memory gradient = linear_back(linears_[1], of_answers_);
    gradient = linear_back(linears_[0], relu_back(linears_[0].result, gradient));
    for (const std::size_t layer : {1, 0}) {
      gradient = pool_back(pools_[layer], gradient);
      gradient = convolution_back(convolutions_[layer], relu_back(convolutions_[layer].result, gradient), layer != 0);
    }
  }
  memory linear_back(const product<dnnl::inner_product_forward>& layer, const memory& gradient) {
    const memory& weight = parameters_[layer.weight].value;
    weights_back<dnnl::inner_product_backward_weights>(
        layer, gradient,
        {engine_, any(layer.source), any(weight), layer.description.bias_desc(), any(gradient), layer.description});
    return data_back<dnnl::inner_product_backward_data>(
        layer, gradient, {engine_, any(layer.source), any(weight), any(gradient), layer.description});
  }
  memory convolution_back(const product<dnnl::convolution_forward>& layer, const memory& gradient, bool of_images) {
    const auto direct = dnnl::algorithm::convolution_direct;
    const memory& weight = parameters_[layer.weight].value;
    weights_back<dnnl::convolution_backward_weights>(
        layer, gradient,
        {engine_, direct, any(layer.source), any(weight), layer.description.bias_desc(), any(gradient), one_, one_,
         one_, layer.description});
    if (!of_images) return {};
    return data_back<dnnl::convolution_backward_data>(
        layer, gradient,
        {engine_, direct, any(layer.source), any(weight), any(gradient), one_, one_, one_, layer.description});
  }
  template <class Backward, class Product>
  void weights_back(const Product& layer, const memory& gradient, const typename Backward::primitive_desc& found) {
    parameter &weight = parameters_[layer.weight], &bias = parameters_[layer.weight + 1];
    const memory made(found.diff_weights_desc(), engine_);
    bias.gradient = memory(found.diff_bias_desc(), engine_);
    std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, brought(layer.source, found.src_desc(), backward_)},
                                              {DNNL_ARG_DIFF_DST, brought(gradient, found.diff_dst_desc(), backward_)},
                                              {DNNL_ARG_DIFF_WEIGHTS, made},
                                              {DNNL_ARG_DIFF_BIAS, bias.gradient}};
    backward_.push_back({Backward(found), std::move(arguments)});
    weight.gradient = brought(made, weight.value.get_desc(), backward_);
  }
  template <class Backward, class Product>
  memory data_back(const Product& layer, const memory& gradient, const typename Backward::primitive_desc& found) {
    const memory made(found.diff_src_desc(), engine_), weight = parameters_[layer.weight].value;
    std::unordered_map<int, memory> arguments{{DNNL_ARG_WEIGHTS, brought(weight, found.weights_desc(), backward_)},
                                              {DNNL_ARG_DIFF_DST, brought(gradient, found.diff_dst_desc(), backward_)},
                                              {DNNL_ARG_DIFF_SRC, made}};
    backward_.push_back({Backward(found), std::move(arguments)});
    return made;
  }
  memory relu_back(const memory& result, const memory& gradient) {
    const auto relu = dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
    const memory::desc layout = result.get_desc();
    const dnnl::eltwise_forward::primitive_desc forward(engine_, dnnl::prop_kind::forward_training, relu, layout,
                                                        layout, 0.0f);
    const dnnl::eltwise_backward::primitive_desc found(engine_, relu, layout, layout, layout, 0.0f, forward);
    const memory here = brought(gradient, layout, backward_);
    std::unordered_map<int, memory> arguments{
        {DNNL_ARG_DST, result}, {DNNL_ARG_DIFF_DST, here}, {DNNL_ARG_DIFF_SRC, here}};
    backward_.push_back({dnnl::eltwise_backward(found), std::move(arguments)});
    return here;
  }
  memory pool_back(const pooled& layer, const memory& gradient) {
    const dnnl::pooling_backward::primitive_desc found(engine_, dnnl::algorithm::pooling_max, layer.source.get_desc(),
                                                       layer.description.dst_desc(), two_, two_, zero_, zero_, zero_,
                                                       layer.description);
    const memory made(found.diff_src_desc(), engine_);
    std::unordered_map<int, memory> arguments{{DNNL_ARG_DIFF_DST, brought(gradient, found.diff_dst_desc(), backward_)},
                                              {DNNL_ARG_WORKSPACE, layer.places},
                                              {DNNL_ARG_DIFF_SRC, made}};
    backward_.push_back({dnnl::pooling_backward(found), std::move(arguments)});
    return made;
  }
  void of_cross_entropy(const float* logits, std::int64_t label, float* gradient) const {
    const float most = *std::max_element(logits, logits + 10);
    float sum = 0;
    for (int i = 0; i < 10; ++i) sum += gradient[i] = std::exp(logits[i] - most);
    for (int i = 0; i < 10; ++i) gradient[i] = (gradient[i] / sum - (i == label)) / static_cast<float>(batch_);
  }
  static void descend(parameter& each) {
    float* value = static_cast<float*>(each.value.get_data_handle());
    float* velocity = static_cast<float*>(each.velocity.get_data_handle());
    const float* gradient = static_cast<const float*>(each.gradient.get_data_handle());
    const long count = static_cast<long>(each.value.get_desc().get_size() / sizeof(float));
#pragma omp parallel for simd
    for (long i = 0; i < count; ++i) {
      velocity[i] = 0.9f * velocity[i] + gradient[i];
      value[i] -= 0.01f * velocity[i];
    }
  }

  inline static const memory::dims zero_{0, 0}, one_{1, 1}, two_{2, 2};
  long batch_;
  bool trains_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  std::vector<call> forward_, backward_;
  std::vector<parameter> parameters_;
  std::vector<product<dnnl::convolution_forward>> convolutions_;
  std::vector<product<dnnl::inner_product_forward>> linears_;
  std::vector<pooled> pools_;
  memory answers_, of_answers_;
};
#endif
