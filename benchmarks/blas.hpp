// benchmarks/blas.hpp: matrix products of OpenBLAS and oneDNN, where they are found.
// OpenBLAS has to be told to use AVX-512 on processors that it does not know (OPENBLAS_CORETYPE, see benchmarks/run).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if __has_include(<cblas.h>)
#include <cblas.h>
#endif
#if defined(BENCHMARKS_ONEDNN)
#include <dnnl.hpp>
#include <unordered_map>
#endif

#if __has_include(<cblas.h>)
/// c = a b of n x n floats.
inline void multiply_with_openblas(int n, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0f, a, n, b, n, 0.0f, c, n);
}
#endif

#if defined(BENCHMARKS_ONEDNN)
/// A product [m, k] x [k, n] of oneDNN on memory of the caller, prepared once.
class onednn_product {
 public:
  using type = dnnl::memory::data_type;
  struct extents {
    long m, n, k;
    bool transposed;  // the second operand lies as [n, k]
  };

  onednn_product(const extents& size, type from, type to, void* a, void* b, void* c, float* bias = nullptr)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using tag = dnnl::memory::format_tag;
    const dnnl::memory::desc left({size.m, size.k}, from, tag::ab),
        right({size.k, size.n}, from, size.transposed ? tag::ba : tag::ab), result({size.m, size.n}, to, tag::ab),
        row({1, size.n}, type::f32, tag::ab);
    dnnl::primitive_attr attributes;
    dnnl::post_ops after;
    after.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    if (bias != nullptr) attributes.set_post_ops(after);
    using description = dnnl::matmul::primitive_desc;
    product_ = dnnl::matmul(bias != nullptr ? description(engine_, left, right, row, result, attributes)
                                            : description(engine_, left, right, result, attributes));
    arguments_ = {{DNNL_ARG_SRC, dnnl::memory(left, engine_, a)},
                  {DNNL_ARG_WEIGHTS, dnnl::memory(right, engine_, b)},
                  {DNNL_ARG_DST, dnnl::memory(result, engine_, c)}};
    if (bias != nullptr) arguments_[DNNL_ARG_BIAS] = dnnl::memory(row, engine_, bias);
  }
  void run() {
    product_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::matmul product_;
  std::unordered_map<int, dnnl::memory> arguments_;
};
#endif
