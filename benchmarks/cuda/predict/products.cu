// benchmarks/cuda/predict/products.cu: G5, products of matrices.
// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

namespace {

namespace tn = tenon;

template <class T>
predict::work work_of(tn::index rows, tn::index columns, tn::index depth, tn::index batches = 1) {
  const auto count = [](tn::index number) { return static_cast<double>(number); };
  const double operations = 2.0 * count(batches) * count(rows) * count(columns) * count(depth);
  const bool is_float = std::is_same_v<T, float>;
  return {sizeof(T) * count(batches) * count(rows * depth + depth * columns + rows * columns),
          is_float ? 0 : operations, is_float ? operations : 0};
}

template <class T>
void product_row(predict::session& session, const std::string& name, tn::index rows, tn::index columns,
                 tn::index depth) {
  const auto x = predict::random_tensor<T>(tn::rank<2>(rows, depth), 1),
             w = predict::random_tensor<T>(tn::rank<2>(depth, columns), 2);
  tn::tensor<T, tn::rank<2>, tn::cuda> y(tn::rank<2>(rows, columns));
  session.row(name, work_of<T>(rows, columns, depth), [&] { y = tn::matmul(x, w); });
}

/// Floats as tf32, and bytes: their depth lies side by side in `x` alone, in both operands where `w` is transposed.
template <class T, class Result, class Product>
void product_rows_along_depth(predict::session& session, const std::string& name, tn::index n, const Product& product) {
  tn::tensor<T, tn::rank<2>, tn::cuda> x(tn::rank<2>(n, n)), w(tn::rank<2>(n, n));
  x = tn::cast<T>(20 * predict::random_tensor<float>(tn::rank<2>(n, n), 1));
  w = tn::cast<T>(20 * predict::random_tensor<float>(tn::rank<2>(n, n), 2));
  tn::tensor<Result, tn::rank<2>, tn::cuda> y(tn::rank<2>(n, n));
  const auto count = static_cast<double>(n);
  const predict::work ideal{(2 * sizeof(T) + sizeof(Result)) * count * count, 2 * count * count * count, 0,
                            static_cast<int>(sizeof(T))};
  session.row(name, ideal, [&] { y = product(x, w); });
  session.row(name + "_transposed", ideal, [&] { y = product(x, tn::transpose(w)); });
}

void epilogue_row(predict::session& session) {
  using matrix = tn::tensor<tn::bfloat16, tn::rank<2>, tn::cuda>;
  const tn::index n = 1024;
  const matrix x = predict::random_tensor<tn::bfloat16>(tn::rank<2>(n, n), 1),
               w = predict::random_tensor<tn::bfloat16>(tn::rank<2>(n, n), 2),
               r = predict::random_tensor<tn::bfloat16>(tn::rank<2>(n, n), 3);
  const auto b = predict::random_tensor<tn::bfloat16>(tn::rank<1>(n), 4);
  matrix y(tn::rank<2>(n, n)), turned(tn::rank<2>(n, n));
  session.row("G5f/bias_gelu_residual_1024", work_of<tn::bfloat16>(n, n, n),
              [&] { y = tn::gelu(tn::matmul(x, w) + b) + r; });
  session.row("G5/transposed_result_1024", work_of<tn::bfloat16>(n, n, n),
              [&] { tn::transpose(turned) = tn::matmul(x, w); });
}

void batched_row(predict::session& session) {
  const tn::index batches = 128, n = 64;
  const auto x = predict::random_tensor<tn::bfloat16>(tn::rank<3>(batches, n, n), 1),
             w = predict::random_tensor<tn::bfloat16>(tn::rank<3>(batches, n, n), 2);
  tn::tensor<tn::bfloat16, tn::rank<3>, tn::cuda> y(tn::rank<3>(batches, n, n));
  session.row("G5i/batched_64", work_of<tn::bfloat16>(n, n, n, batches), [&] { y = tn::matmul(x, w); });
}

}  // namespace

void predict::product_rows(session& session) {
  product_row<tn::bfloat16>(session, "G5a/bfloat16_1024", 1024, 1024, 1024);
  epilogue_row(session);
  product_rows_along_depth<float, float>(session, "G5c/tf32_2048", 2048, [](const auto& x, const auto& w) {
    return tn::matmul<tn::precision::tf32>(x, w);
  });
  product_rows_along_depth<std::int8_t, std::int32_t>(session, "G5c/int8_2048", 2048, [](const auto& x, const auto& w) {
    return tn::matmul(tn::cast<std::int32_t>(x), tn::cast<std::int32_t>(w));
  });
  product_row<float>(session, "G5e/float_512", 512, 512, 512);
  product_row<tn::bfloat16>(session, "G5g/bfloat16_511x510x509", 511, 510, 509);
  product_row<tn::bfloat16>(session, "G5h/8_rows_2048", 8, 2048, 2048);
  product_row<tn::bfloat16>(session, "G5h/16_rows_2048", 16, 2048, 2048);
  product_row<tn::bfloat16>(session, "G5i/deep_128x128x8192", 128, 128, 8192);
  batched_row(session);
}
