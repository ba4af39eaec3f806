// benchmarks/cuda/g05_gemm.cu: G5, products of matrices: on tensor cores in each type, and of floats in full precision.
// Beside cuBLAS and cuBLASLt on the same problem: large, odd, skinny, deep, batched; with bias, GELU and residual.
// SPDX-License-Identifier: Apache-2.0
#include <cublas_v2.h>

#include "cublaslt.hpp"
#include "timing.hpp"

namespace {

namespace tn = tenon;
template <class T>
using matrix = tn::tensor<T, tn::rank<2>, tn::cuda>;

/// cuBLAS, which stores columns side by side: C = A B of row-major matrices is C^T = B^T A^T of its own.
class cublas {
 public:
  cublas() {
    check(cublasCreate(&handle_)), check(cublasSetStream(handle_, tn::current_stream()));
    check(cublasSetMathMode(handle_, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));  // parts are added as floats
  }
  cublas(const cublas&) = delete;
  cublas& operator=(const cublas&) = delete;
  ~cublas() { cublasDestroy(handle_); }

  /// What results of elements of T are accumulated in.
  template <class T>
  static constexpr cublasComputeType_t usual_compute() {
    if constexpr (std::is_same_v<T, double>) return CUBLAS_COMPUTE_64F;
    else return std::is_same_v<T, std::int8_t> ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F;
  }
  template <class Result, class T>
  void multiply(const T* a, const T* b, Result* c, tn::index rows, tn::index columns, tn::index depth,
                cublasComputeType_t compute = usual_compute<T>()) const {
    multiply_batch(a, b, c, {1, rows, columns, depth}, compute);
  }
  struct extents {
    tn::index batches, rows, columns, depth;
  };
  template <class Result, class T>
  void multiply_batch(const T* a, const T* b, Result* c, const extents& of,
                      cublasComputeType_t compute = usual_compute<T>()) const {
    using scale =
        std::conditional_t<std::is_same_v<Result, tn::half> || std::is_same_v<Result, tn::bfloat16>, float, Result>;
    const scale one = 1, none = 0;
    check(cublasGemmStridedBatchedEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(of.columns),
                                     static_cast<int>(of.rows), static_cast<int>(of.depth), &one, b, type_of<T>(),
                                     static_cast<int>(of.columns), of.columns * of.depth, a, type_of<T>(),
                                     static_cast<int>(of.depth), of.rows * of.depth, &none, c, type_of<Result>(),
                                     static_cast<int>(of.columns), of.rows * of.columns, static_cast<int>(of.batches),
                                     compute, CUBLAS_GEMM_DEFAULT));
  }

 private:
  template <class T>
  static cudaDataType type_of() {
    if constexpr (std::is_same_v<T, float>) return CUDA_R_32F;
    else if constexpr (std::is_same_v<T, double>) return CUDA_R_64F;
    else if constexpr (std::is_same_v<T, std::int8_t>) return CUDA_R_8I;
    else if constexpr (std::is_same_v<T, std::int32_t>) return CUDA_R_32I;
    else return std::is_same_v<T, tn::half> ? CUDA_R_16F : CUDA_R_16BF;
  }
  static void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) timing::session::fail(cublasGetStatusString(status));
  }

  cublasHandle_t handle_{};
};

/// Rounding of results, and of sums whose order differs.
template <class T>
double bound_of(tn::index depth) {
  const double sums = 1e-6 * std::sqrt(static_cast<double>(depth)) * 8;
  return sums + (sizeof(T) != 2 ? 0 : std::is_same_v<T, tn::half> ? 2e-3 : 1.6e-2);
}

struct problem {
  tn::index rows, columns, depth;
  std::string text() const { return tn::compose_text(rows, "x", columns, "x", depth); }
  double operations() const { return 2.0 * static_cast<double>(rows) * static_cast<double>(columns * depth); }
};

/// A product of two matrices as Tenon says it, what cuBLAS shall compute in, and how much rounding operands adds to the
/// difference of two sums, for each square root of the depth.
struct plain_product {
  static constexpr double rounding = 0;
  template <class T>
  static constexpr cublasComputeType_t compute = cublas::usual_compute<T>();
  template <class T>
  auto operator()(const matrix<T>& a, const matrix<T>& b) const {
    return tn::matmul(a, b);
  }
};
struct tf32_product {
  static constexpr double rounding = 4 * 0x1p-11;
  template <class T>
  static constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  auto operator()(const matrix<float>& a, const matrix<float>& b) const {
    return tn::matmul<tn::precision::tf32>(a, b);
  }
};
struct byte_product : plain_product {
  auto operator()(const matrix<std::int8_t>& a, const matrix<std::int8_t>& b) const {
    return tn::matmul(tn::cast<std::int32_t>(a), tn::cast<std::int32_t>(b));
  }
};

template <class T>
matrix<T> random_matrix(tn::index rows, tn::index columns, std::uint64_t seed) {
  const tn::rank<2> extents(rows, columns);
  if constexpr (sizeof(T) == 1) {
    matrix<T> values(extents);
    if constexpr (std::is_integral_v<T>) values = tn::cast<T>(tn::uniform<float>(extents, seed, -127.0f, 127.0f));
    else values = tn::cast<T>(tn::normal<float>(extents, seed));
    return values;
  } else {
    return timing::random_tensor<T>(extents, seed);
  }
}

template <class T, class Result = T, class Product = plain_product>
void compare_product(timing::session& session, const std::string& row, const problem& of, const cublas& peer,
                     const Product& product = {}) {
  const std::size_t bytes = sizeof(T) * static_cast<std::size_t>((of.rows + of.columns) * of.depth) +
                            sizeof(Result) * static_cast<std::size_t>(of.rows * of.columns);
  std::vector<matrix<T>> a, b;
  std::vector<matrix<Result>> c, peer_c;
  const int slots = timing::slots_for(bytes);
  for (int slot = 0; slot < slots; ++slot) {
    a.push_back(random_matrix<T>(of.rows, of.depth, static_cast<std::uint64_t>(2 * slot + 1)));
    b.push_back(random_matrix<T>(of.depth, of.columns, static_cast<std::uint64_t>(2 * slot + 2)));
    c.emplace_back(tn::rank<2>(of.rows, of.columns));
    peer_c.emplace_back(tn::rank<2>(of.rows, of.columns));
  }
  const auto with_tenon = [&](int slot) {
    const auto at = static_cast<std::size_t>(slot);
    c[at] = product(a[at], b[at]);
  };
  const auto with_cublas = [&](int slot) {
    const auto at = static_cast<std::size_t>(slot);
    peer.multiply(a[at].data(), b[at].data(), peer_c[at].data(), of.rows, of.columns, of.depth,
                  Product::template compute<T>);
  };
  session.compare(
      tn::compose_text(row, "_", tn::dtype_name<T>(), "/", of.text()),
      {.operations = of.operations(),
       .bound = bound_of<T>(of.depth) + Product::rounding * std::sqrt(static_cast<double>(of.depth)),
       .slots = slots},
      {{"tenon", with_tenon, timing::elements_of(c[0])}, {"cublas", with_cublas, timing::elements_of(peer_c[0])}});
}

/// 8-bit floats, summed in float; the right operand lies as cuBLASLt needs it, columns one after another.
void compare_bytes(timing::session& session, const problem& of) {
  using element = tn::float8_e4m3;
  using result = tn::bfloat16;
  const auto a = random_matrix<element>(of.rows, of.depth, 1), b = random_matrix<element>(of.columns, of.depth, 2);
  matrix<result> c(tn::rank<2>(of.rows, of.columns)), peer_c(c.shape());
  cublaslt::product<element, result> peer(of.rows, of.columns, of.depth, cublaslt::right_order::columns_by_depth);
  peer.choose(a.data(), b.data(), peer_c.data());
  const double sums = 0x1p-11 * std::sqrt(static_cast<double>(of.depth));  // both units add with fewer bits than float
  session.compare(
      "G5d_float8_e4m3/" + of.text(), {.operations = of.operations(), .bound = bound_of<result>(of.depth) + sums},
      {{"tenon", [&](int) { c = tn::matmul(a, tn::transpose(b)); }, timing::elements_of(c)},
       {"cublaslt", [&](int) { peer.run(a.data(), b.data(), peer_c.data()); }, timing::elements_of(peer_c)}});
}

/// Bias and GELU, by its tangent as cuBLASLt has it, in the kernel of the product; then a residual too, for which
/// cuBLASLt needs another kernel, and which are two kernels apart; and the bare product of the same extents.
void compare_epilogue(timing::session& session, const problem& of, const cublas& peer) {
  using element = tn::bfloat16;
  const auto a = timing::random_tensor<element>(tn::rank<2>(of.rows, of.depth), 1);
  const auto b = timing::random_tensor<element>(tn::rank<2>(of.depth, of.columns), 2);
  const auto bias = timing::random_tensor<element>(tn::rank<1>(of.columns), 3);
  const auto residual = timing::random_tensor<element>(tn::rank<2>(of.rows, of.columns), 4);
  matrix<element> c(residual.shape()), product(residual.shape()), apart_c(residual.shape()), peer_c(residual.shape());
  cublaslt::product<element, element> fused(of.rows, of.columns, of.depth, cublaslt::right_order::depth_by_columns);
  fused.add_bias_and_gelu(bias.data());
  fused.choose(a.data(), b.data(), peer_c.data());
  const timing::measure by{.operations = of.operations(), .bound = 2 * bound_of<element>(of.depth)};
  session.compare(
      "G5f_bfloat16/bias_gelu_" + of.text(), by,
      {{"tenon", [&](int) { c = tn::gelu_tanh(tn::matmul(a, b) + bias); }, timing::elements_of(c)},
       {"cublaslt", [&](int) { fused.run(a.data(), b.data(), peer_c.data()); }, timing::elements_of(peer_c)}});
  const auto apart = [&](int) {
    product = tn::matmul(a, b);
    apart_c = tn::gelu_tanh(product + bias) + residual;
  };
  const auto with_residual = [&](int) { c = tn::gelu_tanh(tn::matmul(a, b) + bias) + residual; };
  const auto with_cublaslt = [&](int) {
    fused.run(a.data(), b.data(), product.data());
    peer_c = product + residual;
  };
  session.compare("G5f_bfloat16/bias_gelu_residual_" + of.text(), by,
                  {{"tenon", with_residual, timing::elements_of(c)},
                   {"cublaslt", with_cublaslt, timing::elements_of(peer_c)},
                   {"apart", apart, timing::elements_of(apart_c)}});
  compare_product<element>(session, "G5f", of, peer);
}

void compare_batches(timing::session& session, const cublas& peer) {
  using element = tn::bfloat16;
  const cublas::extents of{4096, 64, 64, 64};
  const tn::rank<3> extents(of.batches, of.rows, of.columns);
  const auto a = timing::random_tensor<element>(extents, 1), b = timing::random_tensor<element>(extents, 2);
  tn::tensor<element, tn::rank<3>, tn::cuda> c(extents), peer_c(extents);
  session.compare("G5i_bfloat16/4096_of_64x64x64",
                  {.operations = 2.0 * 4096 * 64 * 64 * 64, .bound = bound_of<element>(64)},
                  {{"tenon", [&](int) { c = tn::matmul(a, b); }, timing::elements_of(c)},
                   {"cublas", [&](int) { peer.multiply_batch(a.data(), b.data(), peer_c.data(), of); },
                    timing::elements_of(peer_c)}});
}

void cases(timing::session& session) {
  const cublas peer;
  for (const tn::index n : {8192, 4096, 2048, 1024}) {
    compare_product<tn::bfloat16>(session, "G5a", {n, n, n}, peer);
    compare_product<tn::half>(session, "G5b", {n, n, n}, peer);
  }
  compare_product<float>(session, "G5c_tf32", {8192, 8192, 8192}, peer, tf32_product{});
  compare_product<std::int8_t, std::int32_t>(session, "G5c", {8192, 8192, 8192}, peer, byte_product{});
  compare_product<double>(session, "G5c", {4096, 4096, 4096}, peer);
  compare_bytes(session, {8192, 8192, 8192});
  compare_product<float>(session, "G5e", {8192, 8192, 8192}, peer);
  compare_epilogue(session, {8192, 8192, 1024}, peer);
  compare_product<tn::bfloat16>(session, "G5g", {8191, 8190, 8189}, peer);
  for (const tn::index rows : {1, 4, 16}) compare_product<tn::bfloat16>(session, "G5h", {rows, 8192, 8192}, peer);
  compare_product<tn::bfloat16>(session, "G5i", {256, 256, 65536}, peer);
  compare_batches(session, peer);
}

}  // namespace

int main(int argument_count, char** arguments) { return timing::run_cases(argument_count, arguments, &cases); }
