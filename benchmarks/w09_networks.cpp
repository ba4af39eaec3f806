// benchmarks/w09_networks.cpp: W9, training steps of a convolutional network and of an LSTM classifier; inference.
// Tenon, libtorch, and oneDNN by hand, from the same parameters on the same data; five steps must leave all of them
// with the same answers.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/nn/inference.hpp>
#include <tenon/nn/quantise.hpp>
#include <tenon/train.hpp>

#include "agree.hpp"
#include "onednn_network.hpp"
#include "simple_cnn.hpp"
#include "torch_networks.hpp"

namespace tn = tenon;
namespace nn = tenon::nn;

namespace {

using labels_type = tn::tensor<std::int64_t, tn::rank<1>>;

struct lstm_classifier {
  nn::lstm<64, 128> lstm;
  nn::linear<128, 10> fc;
  tn::tensor<float, tn::rank<2>> last, logits, of_last;
  tn::tensor<float, tn::rank<3>> of_sequence;

  explicit lstm_classifier() { lstm.initialise(1), fc.initialise(2); }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    lstm.visit_parameters(visitor), fc.visit_parameters(visitor);
  }
  const auto& forward(const tn::tensor<float, tn::rank<3>>& x) {
    const auto values = lstm.forward(x);
    const tn::index end = x.extent(0) - 1;
    last = tn::reshape(tn::slice(values.sequence, tn::only(end)), tn::rank<2>(x.extent(1), 128));
    logits = fc.forward(last);
    return logits;
  }
  template <class Gradient>
  void backward(const tn::tensor<float, tn::rank<3>>& x, const Gradient& gradient) {
    of_last = tn::zeros_like(last);
    fc.backward(last, logits, tn::evaluated_tensor(gradient), of_last.write_view());
    of_sequence = tn::zeros<float>(tn::rank<3>(x.extent(0), x.extent(1), 128));
    tn::slice(of_sequence, tn::only(x.extent(0) - 1)) = tn::new_axis<0>(of_last);
    lstm.backward(of_sequence, nn::not_wanted{});
  }
};

struct images {
  explicit images(long batch) : values({batch, 3, 28, 28}), labels({batch}) {
    values = tn::uniform<float>(values.shape(), 2, -1.0f, 1.0f);
    labels = tn::arange<std::int64_t>(batch) % std::int64_t{10};
  }
  tn::tensor<float, image_shape> values;
  labels_type labels;
};

struct sequences {
  explicit sequences(long batch) : values({32, batch, 64}), labels({batch}) {
    values = tn::uniform<float>(values.shape(), 2, -1.0f, 1.0f);
    labels = tn::arange<std::int64_t>(batch) % std::int64_t{10};
  }
  tn::tensor<float, tn::rank<3>> values;
  labels_type labels;
};

/// A network with its passes and optimizer, as a program of Tenon writes them.
class cnn_training {
 public:
  cnn_training() : network_(make_simple_cnn()), pass_(network_), optimizer_({.lr = 0.01, .momentum = 0.9}) {}
  auto& network() { return network_; }
  auto answers(const images& x) { return tn::evaluated_tensor(pass_.forward(x.values.view())); }
  void step(const images& x) {
    const auto logits = pass_.forward(x.values.view());
    pass_.backward(x.values.view(), nn::cross_entropy_gradient(logits, x.labels));
    optimizer_.step(network_);
  }

 private:
  decltype(make_simple_cnn()) network_;
  nn::pass<decltype(make_simple_cnn()), image_shape> pass_;
  tn::train::sgd<> optimizer_;
};

class lstm_training {
 public:
  lstm_training() : optimizer_({.lr = 0.01, .momentum = 0.9}) {}
  auto& network() { return network_; }
  auto answers(const sequences& x) { return tn::evaluated_tensor(network_.forward(x.values)); }
  void step(const sequences& x) {
    const auto& logits = network_.forward(x.values);
    network_.backward(x.values, nn::cross_entropy_gradient(logits, x.labels));
    optimizer_.step(network_);
  }

 private:
  lstm_classifier network_;
  tn::train::sgd<> optimizer_;
};

template <class Training, class Input>
void step_with_tenon(benchmark::State& state, long batch) {
  Input x(batch);
  Training training;
  for (auto _ : state) {
    training.step(x);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

void infer_with_tenon(benchmark::State& state, long batch) {
  images x(batch);
  auto network = make_simple_cnn();
  network.eval();
  nn::inference use(nn::fuse(network), x.values.shape());
  for (auto _ : state) benchmark::DoNotOptimize(use.run(x.values.view()).data());
  state.SetItemsProcessed(state.iterations() * batch);
}

/// With all in bfloat16.
void infer_with_short_floats(benchmark::State& state, long batch) {
  images x(batch);
  const tn::tensor<tn::bfloat16, image_shape> values(tn::cast<tn::bfloat16>(x.values));
  auto network = make_simple_cnn();
  network.eval();
  nn::inference use(nn::fuse(network).to<tn::bfloat16>(), x.values.shape());
  for (auto _ : state) benchmark::DoNotOptimize(use.run(values.view()).data());
  state.SetItemsProcessed(state.iterations() * batch);
}

/// With weights and inputs of products as bytes.
void infer_with_bytes(benchmark::State& state, long batch) {
  images x(batch);
  auto network = make_simple_cnn();
  network.eval();
  nn::calibration seen(nn::fuse(network), x.values.shape());
  seen.run(x.values.view());
  nn::inference use(seen.quantised(), x.values.shape());
  for (auto _ : state) benchmark::DoNotOptimize(use.run(x.values.view()).data());
  state.SetItemsProcessed(state.iterations() * batch);
}

#if defined(BENCHMARKS_TORCH)
template <class Training, class Input, class TorchNetwork>
void step_with_torch(benchmark::State& state, long batch) {
  Input x(batch);
  Training reference;
  TorchNetwork network;
  take_parameters(network, reference.network());
  torch_training<TorchNetwork> training(network);
  const torch::Tensor input = seen_by_torch(x.values);
  const torch::Tensor labels = torch::from_blob(x.labels.data(), {batch}, torch::kInt64);
  for (int i = 0; i < 5; ++i) reference.step(x), training.step(input, labels);
  const auto ours = reference.answers(x);
  const torch::Tensor theirs = network.forward(input).detach().contiguous();
  must_agree("w09", ours.data(), theirs.data_ptr<float>(), ours.size(), 2e-4);
  for (auto _ : state) training.step(input, labels);
  state.SetItemsProcessed(state.iterations() * batch);
}

void infer_with_torch(benchmark::State& state, long batch) {
  images x(batch);
  auto tenon_network = make_simple_cnn();
  torch_simple_cnn network;
  take_parameters(network, tenon_network);
  network.eval();
  tenon_network.eval();
  nn::inference use(nn::fuse(tenon_network), x.values.shape());
  const torch::NoGradGuard no_gradients;
  const torch::Tensor input = seen_by_torch(x.values);
  const auto ours = use.run(x.values.view());
  const torch::Tensor theirs = network.forward(input).contiguous();
  must_agree("w09", ours.data(), theirs.data_ptr<float>(), theirs.numel(), 1e-4);
  for (auto _ : state) benchmark::DoNotOptimize(network.forward(input).data_ptr<float>());
  state.SetItemsProcessed(state.iterations() * batch);
}
#endif

#if defined(BENCHMARKS_ONEDNN)
template <class Network>
void take_parameters(onednn_simple_cnn& to, Network& from) {
  std::vector<float*> parameters;
  from.visit_parameters([&](const std::string&, auto& parameter) { parameters.push_back(parameter.value.data()); });
  to.take_parameters(parameters);
}

void step_with_onednn(benchmark::State& state, long batch) {
  images x(batch);
  cnn_training reference;
  onednn_simple_cnn training(batch, true, x.values.data());
  take_parameters(training, reference.network());
  for (int i = 0; i < 5; ++i) reference.step(x), training.step(x.labels.data());
  const auto ours = reference.answers(x);
  must_agree("w09", ours.data(), training.answers(), ours.size(), 2e-4);
  for (auto _ : state) training.step(x.labels.data());
  state.SetItemsProcessed(state.iterations() * batch);
}

void infer_with_onednn(benchmark::State& state, long batch) {
  images x(batch);
  auto tenon_network = make_simple_cnn();
  tenon_network.eval();
  onednn_simple_cnn network(batch, false, x.values.data());
  take_parameters(network, tenon_network);
  nn::inference use(nn::fuse(tenon_network), x.values.shape());
  const auto ours = use.run(x.values.view());
  must_agree("w09", ours.data(), network.answers(), 10 * batch, 1e-4);
  for (auto _ : state) benchmark::DoNotOptimize(network.answers());
  state.SetItemsProcessed(state.iterations() * batch);
}
#endif

void add(const std::string& name, void (*run)(benchmark::State&, long), long batch) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { run(state, batch); })
      ->Unit(benchmark::kMicrosecond)
      ->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  add("cnn_step_batch64/tenon", step_with_tenon<cnn_training, images>, 64);
  add("lstm_step_batch32/tenon", step_with_tenon<lstm_training, sequences>, 32);
  for (const long batch : {1, 64}) {
    const std::string name = "cnn_inference_batch" + std::to_string(batch);
    add(name + "/tenon", infer_with_tenon, batch);
    add(name + "_bfloat16/tenon", infer_with_short_floats, batch);
    add(name + "_bytes/tenon", infer_with_bytes, batch);
  }
#if defined(BENCHMARKS_ONEDNN)
  add("cnn_step_batch64/onednn", step_with_onednn, 64);
  for (const long batch : {1, 64}) {
    add("cnn_inference_batch" + std::to_string(batch) + "/onednn", infer_with_onednn, batch);
  }
#endif
#if defined(BENCHMARKS_TORCH)
  add("cnn_step_batch64/torch", step_with_torch<cnn_training, images, torch_simple_cnn>, 64);
  add("lstm_step_batch32/torch", step_with_torch<lstm_training, sequences, torch_lstm_classifier>, 32);
  for (const long batch : {1, 64}) {
    add("cnn_inference_batch" + std::to_string(batch) + "/torch", infer_with_torch, batch);
  }
#endif
  benchmark::RunSpecifiedBenchmarks();
}
