// benchmarks/cuda/cublaslt.hpp: cuBLASLt as a peer: products of 8-bit floats, or with bias and GELU in one call.
// C = A B of row-major matrices is C^T = B^T A^T of cuBLASLt, which stores columns side by side.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include "timing.hpp"

namespace cublaslt {

namespace tn = tenon;

inline void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) timing::session::fail(std::string("cuBLASLt: ") + cublasGetStatusString(status));
}

template <class T>
constexpr cudaDataType type_of() {
  if constexpr (std::is_same_v<T, tn::float8_e4m3>) return CUDA_R_8F_E4M3;
  else return std::is_same_v<T, tn::half> ? CUDA_R_16F : CUDA_R_16BF;
}

/// How the right operand lies: rows of columns, or columns of depth, which 8-bit floats need.
enum class right_order { depth_by_columns, columns_by_depth };

/// The product of rows x depth and depth x columns, summed in float.
template <class T, class Result>
class product {
 public:
  product(tn::index rows, tn::index columns, tn::index depth, right_order order)
      : workspace_(tn::rank<1>(workspace_bytes)) {
    check(cublasLtCreate(&handle_));
    check(cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const bool turns = order == right_order::columns_by_depth;
    set(CUBLASLT_MATMUL_DESC_TRANSA, turns ? CUBLAS_OP_T : CUBLAS_OP_N);
    right_ = turns ? layout<T>(depth, columns) : layout<T>(columns, depth);
    left_ = layout<T>(depth, rows);
    result_ = layout<Result>(columns, rows);
  }
  product(const product&) = delete;
  product& operator=(const product&) = delete;
  ~product() {
    for (const auto each : {right_, left_, result_}) cublasLtMatrixLayoutDestroy(each);
    cublasLtMatmulDescDestroy(operation_);
    cublasLtDestroy(handle_);
  }

  /// Results pass through GELU, by its tangent, of their sum with a bias for each column.
  void add_bias_and_gelu(const Result* bias) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_BIAS);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of<Result>());
  }
  /// Takes the fastest of the algorithms that it suggests for these operands.
  void choose(const T* left, const T* right, Result* result) {
    cublasLtMatmulPreference_t preference{};
    check(cublasLtMatmulPreferenceCreate(&preference));
    const std::size_t bytes = workspace_bytes;
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                               sizeof(bytes)));
    cublasLtMatmulHeuristicResult_t suggested[8];
    int count = 0;
    check(cublasLtMatmulAlgoGetHeuristic(handle_, operation_, right_, left_, result_, result_, preference, 8, suggested,
                                         &count));
    cublasLtMatmulPreferenceDestroy(preference);
    const timing::device_timer timer;
    float least = 0;
    for (int i = 0; i < count; ++i) {
      if (suggested[i].state != CUBLAS_STATUS_SUCCESS) continue;
      const auto run_it = [&] { run_by(suggested[i].algo, left, right, result); };
      run_it();  // loads its kernel
      const float milliseconds = timer.milliseconds(run_it, 5);
      if (least == 0 || milliseconds < least) least = milliseconds, algorithm_ = suggested[i].algo;
    }
    if (least == 0) timing::session::fail("cuBLASLt: no algorithm for this product");
  }
  void run(const T* left, const T* right, Result* result) const { run_by(algorithm_, left, right, result); }

 private:
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, Value value) {
    check(cublasLtMatmulDescSetAttribute(operation_, attribute, &value, sizeof(value)));
  }
  /// Of a matrix whose columns, of `rows` elements, lie side by side.
  template <class Element>
  static cublasLtMatrixLayout_t layout(tn::index rows, tn::index columns) {
    cublasLtMatrixLayout_t made{};
    check(cublasLtMatrixLayoutCreate(&made, type_of<Element>(), static_cast<std::uint64_t>(rows),
                                     static_cast<std::uint64_t>(columns), rows));
    return made;
  }
  void run_by(const cublasLtMatmulAlgo_t& algorithm, const T* left, const T* right, Result* result) const {
    const float one = 1, none = 0;
    check(cublasLtMatmul(handle_, operation_, &one, right, right_, left, left_, &none, result, result_, result, result_,
                         &algorithm, const_cast<std::uint8_t*>(workspace_.data()), workspace_bytes,
                         tn::current_stream()));
  }

  tn::tensor<std::uint8_t, tn::rank<1>, tn::cuda> workspace_;
  cublasLtHandle_t handle_{};
  cublasLtMatmulDesc_t operation_{};
  cublasLtMatrixLayout_t right_{}, left_{}, result_{};
  cublasLtMatmulAlgo_t algorithm_{};
};

}  // namespace cublaslt
