// benchmarks/onednn_convolution.hpp: a convolution of oneDNN with bias and ReLU, where it is found.
// In plain layouts, or in those that it prefers: then image and weight are brought into them beforehand, once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Extents of a convolution of square images: kernel, stride and padding are those of both axes.
struct convolution_case {
  const char* name;
  long batch, channels, extent, outputs, kernel, stride, padding, groups;

  constexpr long windows() const { return (extent + 2 * padding - kernel) / stride + 1; }
  constexpr double operations() const {
    return 2.0 * static_cast<double>(batch * outputs * windows() * windows() * (channels / groups) * kernel * kernel);
  }
};

#if defined(BENCHMARKS_ONEDNN)
#include <dnnl.hpp>
#include <unordered_map>

class onednn_convolution {
 public:
  using memory = dnnl::memory;
  onednn_convolution(const convolution_case& of, bool plain, float* image, float* weight, float* bias)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using tag = memory::format_tag;
    const memory::dims pixels{of.batch, of.channels, of.extent, of.extent},
        results{of.batch, of.outputs, of.windows(), of.windows()}, steps{of.stride, of.stride},
        padding{of.padding, of.padding};
    memory::dims taps{of.outputs, of.channels / of.groups, of.kernel, of.kernel};
    if (of.groups != 1) taps = {of.groups, of.outputs / of.groups, of.channels / of.groups, of.kernel, of.kernel};
    const tag plain_weight = of.groups == 1 ? tag::oihw : tag::goihw;
    const auto wanted = [&](const memory::dims& extents, tag layout) {
      return memory::desc(extents, memory::data_type::f32, plain ? layout : tag::any);
    };
    dnnl::post_ops after;
    after.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(after);
    const memory::desc line({of.outputs}, memory::data_type::f32, tag::x);
    const dnnl::convolution_forward::desc operation(dnnl::prop_kind::forward_inference,
                                                    dnnl::algorithm::convolution_auto, wanted(pixels, tag::nchw),
                                                    memory::desc(taps, memory::data_type::f32, tag::any), line,
                                                    wanted(results, tag::nchw), steps, padding, padding);
    const dnnl::convolution_forward::primitive_desc found(operation, attributes, engine_);
    convolution_ = dnnl::convolution_forward(found);
    result_ = memory(found.dst_desc(), engine_);
    plain_result_ = memory::desc(results, memory::data_type::f32, tag::nchw);
    arguments_ = {
        {DNNL_ARG_SRC, brought(memory::desc(pixels, memory::data_type::f32, tag::nchw), image, found.src_desc())},
        {DNNL_ARG_WEIGHTS,
         brought(memory::desc(taps, memory::data_type::f32, plain_weight), weight, found.weights_desc())},
        {DNNL_ARG_BIAS, memory(line, engine_, bias)},
        {DNNL_ARG_DST, result_}};
  }
  void run() {
    convolution_.execute(stream_, arguments_);
    stream_.wait();
  }
  /// The results in plain layout.
  void read(float* to) {
    memory here(plain_result_, engine_, to);
    dnnl::reorder(result_, here).execute(stream_, result_, here);
    stream_.wait();
  }

 private:
  memory brought(const memory::desc& from, float* elements, const memory::desc& to) {
    memory plain(from, engine_, elements), result(to, engine_);
    dnnl::reorder(plain, result).execute(stream_, plain, result);
    stream_.wait();
    return result;
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::convolution_forward convolution_;
  memory result_;
  memory::desc plain_result_;
  std::unordered_map<int, memory> arguments_;
};
#endif
