// benchmarks/cuda/predict/memory.cu: G1 to G4, statements whose limit is the memory: pointwise, layout, sums, rows.
// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

namespace {

namespace tn = tenon;

/// Bytes of tensors that are read or written once.
template <class... Tensors>
predict::work bytes_of(const Tensors&... tensors) {
  return {.bytes = ((static_cast<double>(tensors.size()) * sizeof(*tensors.data())) + ...)};
}

void pointwise_rows(predict::session& session) {
  const tn::rank<1> extents(tn::index{1} << 20);
  const auto a = predict::random_tensor<float>(extents, 1), b = predict::random_tensor<float>(extents, 2),
             c = predict::random_tensor<float>(extents, 3);
  tn::tensor<float, tn::rank<1>, tn::cuda> d(extents);
  tn::tensor<tn::bfloat16, tn::rank<1>, tn::cuda> e(extents);
  session.row("G1a/a*b+c", bytes_of(a, b, c, d), [&] { d = a * b + c; });
  session.row("G1b/seven_operations", bytes_of(a, b, c, d), [&] { d = (a * b + c) * 0.5f - a / (1.0f + b * b); });
  session.row("G1c/functions", bytes_of(a, b, c, d),
              [&] { d = tn::tanh(a) * tn::exp(-b * b) + tn::log1p(tn::abs(c)); });
  session.row("G1d/cast", bytes_of(a, e), [&] { e = tn::cast<tn::bfloat16>(a); });
}

template <class T>
void matrix_rows(predict::session& session, const std::string& type) {
  const tn::index rows = 512, columns = 2048;
  const auto x = predict::random_tensor<T>(tn::rank<2>(rows, columns), 1);
  tn::tensor<T, tn::rank<2>, tn::cuda> y(tn::rank<2>(rows, columns)), turned(tn::rank<2>(columns, rows));
  tn::tensor<T, tn::rank<1>, tn::cuda> of_rows({rows}), of_columns({columns});
  session.row("G2b/transpose_" + type, bytes_of(x, turned), [&] { turned = tn::transpose(x); });
  session.row("G3d/rows_" + type, bytes_of(x, of_rows), [&] { of_rows = tn::sum(x, tn::drop<1>); });
  session.row("G3d/columns_" + type, bytes_of(x, of_columns), [&] { of_columns = tn::sum(x, tn::drop<0>); });
  const auto narrow = tn::reshape(x, tn::rank<2>(rows * columns / 64, tn::index{64}));
  tn::tensor<T, tn::rank<1>, tn::cuda> of_narrow({rows * columns / 64});
  session.row("G3d/rows_of_64_" + type, bytes_of(x, of_narrow), [&] { of_narrow = tn::sum(narrow, tn::drop<1>); });
  session.row("G4a/softmax_" + type, bytes_of(x, y), [&] { y = tn::softmax(x, tn::axis<1>); });
  session.row("G4b/layer_norm_" + type, bytes_of(x, y), [&] { y = tn::standardise(x, tn::axis<1>); });
  const auto long_rows = predict::random_tensor<T>(tn::rank<2>(16, 32768), 2);
  tn::tensor<T, tn::rank<2>, tn::cuda> long_result(tn::rank<2>(16, 32768));
  session.row("G4a/softmax_32768_" + type, bytes_of(long_rows, long_result),
              [&] { long_result = tn::softmax(long_rows, tn::axis<1>); });
}

}  // namespace

void predict::memory_rows(session& session) {
  pointwise_rows(session);
  const auto x = predict::random_tensor<float>(tn::rank<1>(tn::index{1} << 21), 1);
  tn::tensor<float, tn::rank<0>, tn::cuda> total;
  session.row("G3a/sum", bytes_of(x), [&] { total = tn::sum(x); });
  matrix_rows<float>(session, "float");
  matrix_rows<tn::bfloat16>(session, "bfloat16");
}
