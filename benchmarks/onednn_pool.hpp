// benchmarks/onednn_pool.hpp: a pool of oneDNN, where it is found.
// In plain layout, or with channels last, which it does fastest: then the image is brought into it beforehand, once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Extents of a pool of square images: kernel, stride and padding are those of both axes.
struct pool_case {
  const char* name;
  long batch, channels, extent, kernel, stride, padding;
  bool is_mean;

  constexpr long windows() const { return (extent + 2 * padding - kernel) / stride + 1; }
};

#if defined(BENCHMARKS_ONEDNN)
#include <dnnl.hpp>
#include <unordered_map>

class onednn_pool {
 public:
  using memory = dnnl::memory;
  onednn_pool(const pool_case& of, bool plain, float* image)
      : engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_),
        pixels_{of.batch, of.channels, of.extent, of.extent},
        results_{of.batch, of.channels, of.windows(), of.windows()} {
    const auto layout = plain ? memory::format_tag::nchw : memory::format_tag::nhwc;
    const auto kind = of.is_mean ? dnnl::algorithm::pooling_avg_include_padding : dnnl::algorithm::pooling_max;
    const memory::dims steps{of.stride, of.stride}, taps{of.kernel, of.kernel}, padding{of.padding, of.padding};
    const memory::dims beside{0, 0};  // nothing lies between taps
    pool_ = dnnl::pooling_forward(dnnl::pooling_forward::primitive_desc(engine_, dnnl::prop_kind::forward_inference,
                                                                        kind, in(pixels_, layout), in(results_, layout),
                                                                        steps, taps, beside, padding, padding));
    image_ = memory(in(pixels_, layout), engine_), result_ = memory(in(results_, layout), engine_);
    memory given(in(pixels_, memory::format_tag::nchw), engine_, image);
    dnnl::reorder(given, image_).execute(stream_, given, image_);
    stream_.wait();
  }
  void run() {
    pool_.execute(stream_, {{DNNL_ARG_SRC, image_}, {DNNL_ARG_DST, result_}});
    stream_.wait();
  }
  /// The results in plain layout.
  void read(float* to) {
    memory here(in(results_, memory::format_tag::nchw), engine_, to);
    dnnl::reorder(result_, here).execute(stream_, result_, here);
    stream_.wait();
  }

 private:
  static memory::desc in(const memory::dims& extents, memory::format_tag layout) {
    return memory::desc(extents, memory::data_type::f32, layout);
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  memory::dims pixels_, results_;
  dnnl::pooling_forward pool_;
  memory image_, result_;
};
#endif
