// benchmarks/cuda/g02_layout.cu: G2, statements whose operands lie otherwise than their result.
// Rows and columns that repeat, transposed copies with an operation, and channels moved to the back of images.
// SPDX-License-Identifier: Apache-2.0
#include <cublas_v2.h>

#include "timing.hpp"

namespace {

namespace tn = tenon;

template <class T, int Rank>
using array_of = tn::tensor<T, tn::rank<Rank>, tn::cuda>;

void compare_broadcast(timing::session& session, tn::index n) {
  const auto x = timing::random_tensor<float>(tn::rank<2>(n, n), 1);
  const auto row = timing::random_tensor<float>(tn::rank<1>(n), 2);
  const auto column = timing::random_tensor<float>(tn::rank<2>(n, 1), 3);
  array_of<float, 2> out(tn::rank<2>(n, n));
  const timing::measure by{.bytes = 8.0 * static_cast<double>(n) * static_cast<double>(n)};
  const timing::device_copy copy(by.bytes);
  session.compare("G2a/broadcast", by,
                  {{"tenon", [&](int) { out = x + row + column; }, timing::elements_of(out)}, copy.as_limit()});
}

/// out = 2 x^T; cuBLAS knows the scaled transposed copy of floats.
template <class T>
void compare_transpose(timing::session& session, const std::string& name, tn::index n, cublasHandle_t cublas) {
  const auto x = timing::random_tensor<T>(tn::rank<2>(n, n), 1);
  array_of<T, 2> out(tn::rank<2>(n, n)), peer_out(tn::rank<2>(n, n));
  const timing::measure by{.bytes = 2.0 * sizeof(T) * static_cast<double>(n) * static_cast<double>(n)};
  const timing::device_copy copy(by.bytes);
  std::vector<timing::contender> contenders{
      {"tenon", [&](int) { out = tn::transpose(x) * T(2); }, timing::elements_of(out)}};
  if constexpr (std::is_same_v<T, float>) {
    contenders.push_back({"cublas",
                          [&](int) {
                            const float two = 2, none = 0;
                            const int extent = static_cast<int>(n);
                            if (cublasSgeam(cublas, CUBLAS_OP_T, CUBLAS_OP_N, extent, extent, &two, x.data(), extent,
                                            &none, peer_out.data(), extent, peer_out.data(),
                                            extent) != CUBLAS_STATUS_SUCCESS) {
                              timing::session::fail("cublasSgeam failed");
                            }
                          },
                          timing::elements_of(peer_out)});
  }
  contenders.push_back(copy.as_limit());
  session.compare(name, by, contenders);
}

void compare_channels(timing::session& session) {
  const tn::index images = 256, channels = 256, height = 56, width = 56;
  const auto x = timing::random_tensor<tn::bfloat16>(tn::rank<4>(images, channels, height, width), 1);
  const auto y = timing::random_tensor<tn::bfloat16>(tn::rank<4>(images, height, width, channels), 2);
  array_of<tn::bfloat16, 4> back(tn::rank<4>(images, height, width, channels)),
      front(tn::rank<4>(images, channels, height, width));
  const timing::measure by{.bytes = 4.0 * static_cast<double>(x.size())};
  const timing::device_copy copy(by.bytes);
  session.compare("G2c/channels_to_back", by,
                  {{"tenon", [&](int) { back = tn::permute(x, tn::axis<0, 2, 3, 1>); }, timing::elements_of(back)},
                   copy.as_limit()});
  session.compare("G2c/channels_to_front", by,
                  {{"tenon", [&](int) { front = tn::permute(y, tn::axis<0, 3, 1, 2>); }, timing::elements_of(front)},
                   copy.as_limit()});
}

void cases(timing::session& session) {
  cublasHandle_t cublas{};
  if (cublasCreate(&cublas) != CUBLAS_STATUS_SUCCESS) timing::session::fail("cublasCreate failed");
  cublasSetStream(cublas, tn::current_stream());
  compare_broadcast(session, 16384);
  compare_transpose<float>(session, "G2b/transpose_float", 16384, cublas);
  compare_transpose<tn::bfloat16>(session, "G2b/transpose_bfloat16", 16384, cublas);
  compare_channels(session);
  cublasDestroy(cublas);
}

}  // namespace

int main(int argument_count, char** arguments) { return timing::run_cases(argument_count, arguments, &cases); }
