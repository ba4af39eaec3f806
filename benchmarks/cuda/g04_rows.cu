// benchmarks/cuda/g04_rows.cu: G4, statements that keep a row: softmax, layer norm and its gradients, cross entropy.
// Beside cuDNN's softmax where it is found; bytes count one read and one write of every operand of the row.
// SPDX-License-Identifier: Apache-2.0
#include "cudnn.hpp"
#include "timing.hpp"

namespace {

namespace tn = tenon;
inline constexpr tn::index elements = tn::index{1} << 28;  // of every case: rows times columns

template <class T>
using matrix = tn::tensor<T, tn::rank<2>, tn::cuda>;

template <class T>
double bound_of() {
  return std::is_same_v<T, float> ? 1e-5 : 1e-2;
}

#if defined(BENCHMARKS_CUDNN)
template <class T>
class cudnn_softmax {
 public:
  explicit cudnn_softmax(const matrix<T>& x)
      : extents_(CUDNN_TENSOR_NCHW, {x.shape().extent(0), x.shape().extent(1)}) {}
  void run(const void* x, void* y) const {
    const float one = 1, none = 0;
    cudnn::check(cudnnSoftmaxForward(handle_, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one, extents_, x,
                                     &none, extents_, y));
  }

 private:
  cudnn::handle handle_;
  cudnn::tensor<T> extents_;
};
#endif

template <class T>
void compare_softmax(timing::session& session, const std::string& type, tn::index columns) {
  const auto x = timing::random_tensor<T>(tn::rank<2>(elements / columns, columns), 1);
  matrix<T> y(x.shape()), peer_y(x.shape());
  const timing::measure by{.bytes = 2.0 * sizeof(T) * static_cast<double>(elements), .bound = bound_of<T>()};
  const timing::device_copy copy(by.bytes);
  std::vector<timing::contender> contenders{
      {"tenon", [&](int) { y = tn::softmax(x, tn::axis<-1>); }, timing::elements_of(y)}};
#if defined(BENCHMARKS_CUDNN)
  const cudnn_softmax peer(x);
  contenders.push_back({"cudnn", [&](int) { peer.run(x.data(), peer_y.data()); }, timing::elements_of(peer_y)});
#endif
  contenders.push_back(copy.as_limit());
  session.compare(tn::compose_text("G4a/softmax_", type, "_", columns), by, contenders);
}

template <class T>
void compare_norms(timing::session& session, const std::string& type, tn::index columns) {
  const tn::rank<2> extents(elements / columns, columns);
  const auto x = timing::random_tensor<T>(extents, 1), residual = timing::random_tensor<T>(extents, 2);
  const auto weight = timing::random_tensor<T>(tn::rank<1>(columns), 3),
             bias = timing::random_tensor<T>(tn::rank<1>(columns), 4);
  matrix<T> y(extents), sum(extents);
  const double once = sizeof(T) * static_cast<double>(elements);
  const timing::device_copy copy(2 * once), longer_copy(4 * once);
  session.compare(tn::compose_text("G4b/layer_norm_", type, "_", columns), {.bytes = 2 * once, .bound = bound_of<T>()},
                  {{"tenon", [&](int) { y = tn::layer_norm(x, tn::axis<-1>, weight, bias); }, timing::elements_of(y)},
                   copy.as_limit()});
  session.compare(tn::compose_text("G4b/residual_layer_norm_", type, "_", columns),
                  {.bytes = 4 * once, .bound = bound_of<T>()},
                  {{"tenon",
                    [&](int) {
                      tn::evaluate(tn::assign(sum, x + residual),
                                   tn::assign(y, tn::layer_norm(x + residual, tn::axis<-1>, weight, bias)));
                    },
                    timing::elements_of(y)},
                   longer_copy.as_limit()});
}

/// The gradients of a layer norm: of its operand in one kernel, of weight and bias in another.
template <class T>
void compare_norm_gradients(timing::session& session, const std::string& type, tn::index columns) {
  const tn::rank<2> extents(elements / columns, columns);
  const auto x = timing::random_tensor<T>(extents, 1), gradient = timing::random_tensor<T>(extents, 2);
  const auto weight = timing::random_tensor<T>(tn::rank<1>(columns), 3);
  tn::tensor<float, tn::rank<2>, tn::cuda> mean({extents.extent(0), 1}), scale({extents.extent(0), 1});
  mean = tn::mean(x, tn::axis<-1>);
  scale = tn::rsqrt(tn::variance(x, tn::axis<-1>) + 1e-5f);
  matrix<T> of_x(extents), of_weight({1, columns}), of_bias({1, columns});
  const auto run = [&](int) {
    const auto normal = (x - mean) * scale;
    const auto weighted = gradient * weight;
    of_x = (weighted - tn::mean(weighted, tn::axis<-1>) - normal * tn::mean(weighted * normal, tn::axis<-1>)) * scale;
    tn::evaluate(tn::assign(of_weight, tn::sum(gradient * normal, tn::axis<0>)),
                 tn::assign(of_bias, tn::sum(gradient, tn::axis<0>)));
  };
  const double bytes = 3 * sizeof(T) * static_cast<double>(elements);
  const timing::device_copy copy(bytes);
  session.compare(tn::compose_text("G4c/layer_norm_gradients_", type, "_", columns),
                  {.bytes = bytes, .bound = bound_of<T>()},
                  {{"tenon", run, timing::elements_of(of_x)}, copy.as_limit()});
}

/// Losses and the gradient of their mean in one kernel that stores no probabilities, beside two that do.
void compare_cross_entropy(timing::session& session, tn::index rows, tn::index classes) {
  using element = tn::bfloat16;
  const auto logits = timing::random_tensor<element>(tn::rank<2>(rows, classes), 1);
  tn::tensor<std::int32_t, tn::rank<1>, tn::cuda> labels(tn::rank<1>{rows});
  labels = tn::cast<std::int32_t>(tn::uniform<float>(tn::rank<1>(rows), 2, 0.0f, static_cast<float>(classes)));
  matrix<element> gradient(logits.shape()), probabilities(logits.shape());
  tn::tensor<float, tn::rank<2>, tn::cuda> losses({rows, 1});
  const auto joined = [&](int) {
    tn::evaluate(tn::assign(losses, tn::nn::cross_entropy(logits, labels)),
                 tn::assign(gradient, tn::nn::cross_entropy_gradient(logits, labels)));
  };
  const auto apart = [&](int) {
    losses = tn::nn::cross_entropy(logits, labels);
    probabilities = tn::nn::cross_entropy_gradient(logits, labels);
  };
  const double bytes = 2.0 * sizeof(element) * static_cast<double>(rows * classes);
  const timing::device_copy copy(bytes);
  session.compare(tn::compose_text("G4d/cross_entropy_bfloat16_", classes), {.bytes = bytes, .bound = 1e-2},
                  {{"tenon", joined, timing::elements_of(gradient)},
                   {"apart", apart, timing::elements_of(probabilities)},
                   copy.as_limit()});
}

void cases(timing::session& session) {
  for (const tn::index columns : {256, 1024, 4096, 8192, 32768, 131072}) {
    compare_softmax<float>(session, "float", columns);
    compare_softmax<tn::bfloat16>(session, "bfloat16", columns);
  }
  for (const tn::index columns : {1024, 8192}) {
    compare_norms<float>(session, "float", columns);
    compare_norms<tn::bfloat16>(session, "bfloat16", columns);
    compare_norm_gradients<float>(session, "float", columns);
    compare_norm_gradients<tn::bfloat16>(session, "bfloat16", columns);
  }
  compare_cross_entropy(session, 8192, 50304);
}

}  // namespace

int main(int argument_count, char** arguments) { return timing::run_cases(argument_count, arguments, &cases); }
