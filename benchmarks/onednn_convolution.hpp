// benchmarks/onednn_convolution.hpp: a convolution of oneDNN with bias and ReLU, and its gradients, where it is found.
// In plain layouts, or in those that it prefers: then image and weight are brought into them beforehand, once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Extents of a convolution of square images: kernel, stride and padding are those of both axes.
struct convolution_case {
  const char* name;
  long batch, channels, extent, outputs, kernel, stride, padding, groups;

  constexpr long windows() const { return (extent + 2 * padding - kernel) / stride + 1; }
  /// Zeros behind the last element that windows reach.
  constexpr long padding_behind() const { return (windows() - 1) * stride + kernel - extent - padding; }
  constexpr double operations() const {
    return 2.0 * static_cast<double>(batch * outputs * windows() * windows() * (channels / groups) * kernel * kernel);
  }
};

#if defined(BENCHMARKS_ONEDNN)
#include <dnnl.hpp>
#include <unordered_map>

/// A primitive of oneDNN on memory of its own.
class onednn_primitive {
 public:
  using memory = dnnl::memory;
  onednn_primitive() : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}
  void run() {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }
  /// The results in plain layout.
  void read(float* to) {
    memory here(plain_result_, engine_, to);
    dnnl::reorder(result_, here).execute(stream_, result_, here);
    stream_.wait();
  }

 protected:
  using tag = memory::format_tag;
  static memory::desc of_floats(const memory::dims& extents, tag layout) {
    return memory::desc(extents, memory::data_type::f32, layout);
  }
  memory brought(const memory::desc& from, float* elements, const memory::desc& to) {
    memory plain(from, engine_, elements), result(to, engine_);
    dnnl::reorder(plain, result).execute(stream_, plain, result);
    stream_.wait();
    return result;
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  memory result_;
  memory::desc plain_result_;
  std::unordered_map<int, memory> arguments_;
};

/// The extents of a convolution as oneDNN takes them.
struct onednn_extents {
  using dims = dnnl::memory::dims;
  explicit onednn_extents(const convolution_case& of)
      : pixels{of.batch, of.channels, of.extent, of.extent},
        results{of.batch, of.outputs, of.windows(), of.windows()},
        taps{of.outputs, of.channels / of.groups, of.kernel, of.kernel},
        steps{of.stride, of.stride},
        padding{of.padding, of.padding},
        padding_behind{of.padding_behind(), of.padding_behind()} {
    if (of.groups != 1) taps = {of.groups, of.outputs / of.groups, of.channels / of.groups, of.kernel, of.kernel};
  }
  auto plain_weight() const {
    return taps.size() == 4 ? dnnl::memory::format_tag::oihw : dnnl::memory::format_tag::goihw;
  }

  dims pixels, results, taps, steps, padding, padding_behind;
};

class onednn_convolution : public onednn_primitive {
 public:
  onednn_convolution(const convolution_case& of, bool plain, float* image, float* weight, float* bias) {
    const onednn_extents x(of);
    const auto wanted = [&](const memory::dims& extents) { return of_floats(extents, plain ? tag::nchw : tag::any); };
    dnnl::post_ops after;
    after.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(after);
    const memory::desc line = of_floats({of.outputs}, tag::x);
    const dnnl::convolution_forward::primitive_desc found(
        engine_, dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto, wanted(x.pixels),
        of_floats(x.taps, tag::any), line, wanted(x.results), x.steps, x.padding, x.padding_behind, attributes);
    primitive_ = dnnl::convolution_forward(found);
    result_ = memory(found.dst_desc(), engine_);
    plain_result_ = of_floats(x.results, tag::nchw);
    arguments_ = {{DNNL_ARG_SRC, brought(of_floats(x.pixels, tag::nchw), image, found.src_desc())},
                  {DNNL_ARG_WEIGHTS, brought(of_floats(x.taps, x.plain_weight()), weight, found.weights_desc())},
                  {DNNL_ARG_BIAS, memory(line, engine_, bias)},
                  {DNNL_ARG_DST, result_}};
  }
};

/// The descriptions that gradients of a convolution begin with.
struct onednn_training {
  using memory = dnnl::memory;
  using tag = memory::format_tag;
  static constexpr auto best = dnnl::algorithm::convolution_auto;
  onednn_training(const convolution_case& of, bool plain)
      : x(of),
        pixels(x.pixels, memory::data_type::f32, plain ? tag::nchw : tag::any),
        taps(x.taps, memory::data_type::f32, tag::any),
        results(x.results, memory::data_type::f32, plain ? tag::nchw : tag::any) {}
  auto forward(const dnnl::engine& engine) const {
    return dnnl::convolution_forward::primitive_desc(engine, dnnl::prop_kind::forward_training, best, pixels, taps,
                                                     results, x.steps, x.padding, x.padding_behind);
  }

  onednn_extents x;
  memory::desc pixels, taps, results;
};

/// The gradient of a convolution's image.
class onednn_image_gradient : public onednn_primitive {
 public:
  onednn_image_gradient(const convolution_case& of, bool plain, float* gradient, float* weight) {
    const onednn_training of_all(of, plain);
    const onednn_extents& x = of_all.x;
    const dnnl::convolution_backward_data::primitive_desc found(engine_, onednn_training::best, of_all.pixels,
                                                                of_all.taps, of_all.results, x.steps, x.padding,
                                                                x.padding_behind, of_all.forward(engine_));
    primitive_ = dnnl::convolution_backward_data(found);
    result_ = memory(found.diff_src_desc(), engine_);
    plain_result_ = of_floats(x.pixels, tag::nchw);
    arguments_ = {{DNNL_ARG_DIFF_DST, brought(of_floats(x.results, tag::nchw), gradient, found.diff_dst_desc())},
                  {DNNL_ARG_WEIGHTS, brought(of_floats(x.taps, x.plain_weight()), weight, found.weights_desc())},
                  {DNNL_ARG_DIFF_SRC, result_}};
  }
};

/// That of its weight.
class onednn_weight_gradient : public onednn_primitive {
 public:
  onednn_weight_gradient(const convolution_case& of, bool plain, float* gradient, float* image) {
    const onednn_training of_all(of, plain);
    const onednn_extents& x = of_all.x;
    const dnnl::convolution_backward_weights::primitive_desc found(engine_, onednn_training::best, of_all.pixels,
                                                                   of_all.taps, of_all.results, x.steps, x.padding,
                                                                   x.padding_behind, of_all.forward(engine_));
    primitive_ = dnnl::convolution_backward_weights(found);
    result_ = memory(found.diff_weights_desc(), engine_);
    plain_result_ = of_floats(x.taps, x.plain_weight());
    arguments_ = {{DNNL_ARG_DIFF_DST, brought(of_floats(x.results, tag::nchw), gradient, found.diff_dst_desc())},
                  {DNNL_ARG_SRC, brought(of_floats(x.pixels, tag::nchw), image, found.src_desc())},
                  {DNNL_ARG_DIFF_WEIGHTS, result_}};
  }
};
#endif
