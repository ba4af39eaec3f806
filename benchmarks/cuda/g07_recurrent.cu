// benchmarks/cuda/g07_recurrent.cu: G7, recurrent layers over 512 time steps: forward, and with all gradients.
// Beside cuDNN from the same parameters. Operands are one set: steps wait for one another, and weights stay in place.
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "cudnn_recurrent.hpp"
#include "timing.hpp"

namespace {

namespace tn = tenon;
namespace nn = tenon::nn;
template <class Gates, class T>
using layers_of = nn::recurrent<Gates, tn::dyn, tn::dyn, tn::cuda, T>;
template <class T>
using sequences = tn::tensor<T, tn::rank<3>, tn::cuda>;

/// Eight roundings: states are rounded in every step, but gates forget what that did to the steps before. Floats are
/// as many sums in another order.
template <class T>
double bound_of() {
  return std::is_same_v<T, float> ? 1e-4 : 8 * (std::is_same_v<T, tn::half> ? 0x1p-11 : 0x1p-8);
}

/// What a layer is given, and the gradient of what it gives.
template <class T>
struct operands {
  explicit operands(const recurrent_case& of)
      : x(timing::random_tensor<T>(tn::rank<3>(of.time, of.batch, of.hidden), 1)),
        of_y(timing::random_tensor<T>(tn::rank<3>(of.time, of.batch, of.outputs()), 2)) {}
  sequences<T> x, of_y;
};

/// The gradients of the input and of the parameters. The latter are sums over all rows of the sequences: they are
/// divided by the root of how many these are.
template <class Layers>
std::vector<float> all_gradients(const typename Layers::element* of_x, Layers& layers, const recurrent_case& of) {
  auto found = timing::on_host(of_x, static_cast<std::size_t>(of.rows() * of.hidden));
  const float share = 1 / std::sqrt(static_cast<float>(of.rows()));
  layers.visit_parameters([&](const std::string&, auto& parameter) {
    for (const float each : timing::elements_of(parameter.gradient)()) found.push_back(each * share);
  });
  return found;
}

#if defined(BENCHMARKS_CUDNN)
/// cuDNN with the parameters of `layers`, a copy of which takes its gradients.
template <class Gates, class T>
class peer {
 public:
  peer(const recurrent_case& of, const operands<T>& given, const layers_of<Gates, T>& layers, cudnnRNNAlgo_t algorithm)
      : of_(of), given_(given), layers_(layers), own_(of, algorithm), y_(given.of_y.shape()), of_x_(given.x.shape()) {
    own_.take_parameters(pointers([](auto& parameter) { return parameter.value.data(); }));
  }
  void add_forward(std::vector<timing::contender>& to, const std::string& name, const char* library) {
    add(
        to, name, library, [this] { return own_.infer(given_.x.data(), y_.data()); }, timing::elements_of(y_));
  }
  void add_training(std::vector<timing::contender>& to, const std::string& name, const char* library) {
    const auto train = [this] { return own_.train(given_.x.data(), y_.data(), given_.of_y.data(), of_x_.data()); };
    add(to, name, library, train, [this] {
      own_.give_gradients(pointers([](auto& parameter) { return parameter.gradient.data(); }));
      return all_gradients(std::as_const(of_x_).data(), layers_, of_);
    });
  }

 private:
  /// Where cuDNN supports it, under the name of one of its algorithms.
  template <class Run>
  static void add(std::vector<timing::contender>& to, const std::string& name, const char* library, const Run& run,
                  std::function<std::vector<float>()> result) {
    const std::size_t before = to.size();
    cudnn::add_to(
        to, name + "/" + library, [run](int) { return run(); }, std::move(result));
    if (to.size() != before) to.back().library = library;
  }
  template <class PointerOf>
  std::vector<T*> pointers(const PointerOf& pointer_of) {
    std::vector<T*> found;
    layers_.visit_parameters([&](const std::string&, auto& parameter) { found.push_back(pointer_of(parameter)); });
    return found;
  }

  recurrent_case of_;
  const operands<T>& given_;
  layers_of<Gates, T> layers_;
  cudnn::recurrent_layers<Gates, T> own_;
  sequences<T> y_, of_x_;
};
#endif

/// Layers of Tenon beside those of cuDNN, by its standard algorithm and by the persistent one.
template <class Gates, class T>
class contest {
 public:
  explicit contest(const recurrent_case& of)
      : of_(of), given_(of), layers_(of.hidden, of.hidden, {.layers = of.layers, .bidirectional = of.bidirectional}) {
    layers_.initialise(3);
#if defined(BENCHMARKS_CUDNN)
    peers_[0].emplace(of, given_, layers_, CUDNN_RNN_ALGO_STANDARD);
    if (can_persist(of)) peers_[1].emplace(of, given_, layers_, CUDNN_RNN_ALGO_PERSIST_STATIC);
#endif
  }
  void compare_forward(timing::session& session, const std::string& name, double operations) {
    const T* y = nullptr;
    std::vector<timing::contender> contenders{
        {"tenon", [&](int) { y = layers_.forward(given_.x).sequence.data(); },
         [&] { return timing::on_host(y, static_cast<std::size_t>(of_.rows() * of_.outputs())); }}};
#if defined(BENCHMARKS_CUDNN)
    for_each_peer([&](auto& each, const char* library) { each.add_forward(contenders, name, library); });
#endif
    session.compare(name, {.operations = operations, .bound = bound_of<T>()}, contenders);
  }
  void compare_training(timing::session& session, const std::string& name, double operations) {
    const T* of_x = nullptr;
    const auto with_tenon = [&](int) {
      layers_.forward(given_.x);
      of_x = layers_.backward(given_.of_y).sequence.data();
    };
    std::vector<timing::contender> contenders{{"tenon", with_tenon, [&] { return all_gradients(of_x, layers_, of_); }}};
#if defined(BENCHMARKS_CUDNN)
    for_each_peer([&](auto& each, const char* library) { each.add_training(contenders, name, library); });
#endif
    session.compare(name, {.operations = operations, .bound = bound_of<T>()}, contenders);
  }

 private:
  recurrent_case of_;
  operands<T> given_;
  layers_of<Gates, T> layers_;
#if defined(BENCHMARKS_CUDNN)
  /// Where PyTorch takes the persistent algorithm.
  static bool can_persist(const recurrent_case& of) {
    return std::is_same_v<T, tn::half> && !std::is_same_v<Gates, nn::gru_gates> && of.parts() == 1 && of.hidden <= 1024;
  }
  template <class Body>
  void for_each_peer(const Body& body) {
    body(*peers_[0], "cudnn");
    if (peers_[1]) body(*peers_[1], "cudnn_persistent");
  }
  std::optional<peer<Gates, T>> peers_[2];
#endif
};

/// Forward, as without training; and with the gradients of the input and of all parameters.
template <class Gates, class T>
void compare(timing::session& session, const std::string& row, const recurrent_case& of,
             const std::string& kind = Gates::name) {
  const std::string name =
      tn::compose_text(row, "/", kind, "_", tn::dtype_name<T>(), "_", of.hidden, "_batch", of.batch);
  const double operations = of.operations(Gates::count);
  contest<Gates, T> both(of);
  both.compare_forward(session, name + "_forward", operations);
  both.compare_training(session, name + "_training", 3 * operations);
}

template <class T>
void compare_other_lstms(timing::session& session, const std::vector<recurrent_case>& sizes) {
  for (const auto& of : sizes) compare<nn::lstm_gates, T>(session, "G7b", of);
  compare<nn::lstm_gates, T>(session, "G7b", {.time = 512, .batch = 32, .hidden = 512, .layers = 2}, "lstm_2layers");
  compare<nn::lstm_gates, T>(session, "G7b", {.time = 512, .batch = 32, .hidden = 512, .bidirectional = true},
                             "lstm_bidirectional");
}

void cases(timing::session& session) {
  for (const tn::index hidden : {256, 512, 1024}) {
    for (const tn::index batch : {8, 32, 128}) {
      compare<nn::lstm_gates, tn::half>(session, "G7a", {.time = 512, .batch = batch, .hidden = hidden});
    }
  }
  const std::vector<recurrent_case> sizes{{512, 8, 256}, {512, 32, 512}, {512, 128, 1024}};
  compare_other_lstms<tn::bfloat16>(session, sizes);
  compare_other_lstms<float>(session, sizes);
  for (const auto& of : sizes) {
    compare<nn::gru_gates, tn::half>(session, "G7c", of);
    compare<nn::rnn_gates, tn::half>(session, "G7c", of);
  }
  // Of 1000 steps, so that milliseconds of a run are microseconds of a step.
  contest<nn::lstm_gates, tn::bfloat16>({.time = 1000, .batch = 32, .hidden = 1024})
      .compare_forward(session, "G7d/1000_steps_lstm_bfloat16_1024_batch32", 0);
  compare<nn::lstm_gates, tn::half>(session, "G7e", {.time = 512, .batch = 32, .hidden = 2048});
}

}  // namespace

int main(int argument_count, char** arguments) { return timing::run_cases(argument_count, arguments, &cases); }
