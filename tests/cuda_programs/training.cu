// tests/cuda_programs/training.cu: losses, gradients, optimizers and batches as a user writes them.
// SPDX-License-Identifier: Apache-2.0
#include "cuda_programs/space.hpp"

namespace tn = tenon;
namespace nn = tenon::nn;
using tn::dyn;

/// A function of a user's with a derivative.
struct cube {
  TENON_HOST_DEVICE float operator()(float x) const { return x * x * x; }
  static auto gradient(tn::of_operand<0>, const auto& g, const auto&, const auto& x) { return g * (3 * x * x); }
};

/// Gradients of expressions, of functions, and of a traced program.
void check_gradients(expectations& expect) {
  const auto x = tn::evaluated_tensor<space>(tn::normal<float>(tn::rank<2>(8, 3), 1));
  const auto t = tn::evaluated_tensor<space>(tn::normal<float>(tn::rank<2>(8, 2), 2));
  tn::tensor<float, tn::rank<2>, space> w = {{1, 0}, {0, 1}, {1, 1}};
  tn::tensor<float, tn::rank<1>, space> b = {0, 0};
  auto [loss, dw, db] = tn::value_and_gradient(tn::mean(tn::square(tn::matmul(x, w) + b - t)), tn::wrt(w, b));
  w = w - 0.1f * dw, b = b - 0.1f * db;
  const float less = tn::mean(tn::square(tn::matmul(x, w) + b - t));
  expect(less < loss, "a step down the gradient makes the loss smaller");
  const auto [cubed, dc] = tn::value_and_gradient([](const auto& v) { return tn::sum(tn::map(cube{}, v)); }, w);
  const auto expected = tn::evaluated_tensor(3 * w * w);
  expect(std::isfinite(cubed) && static_cast<float>(tn::max(tn::abs(dc - expected))) < 1e-5f,
         "a cube has its derivative");
  const auto traced = tn::variable(w);
  tn::backward(tn::sum(tn::square(tn::matmul(x, traced))));
  expect(traced.gradient().shape() == w.shape(), "a traced program leaves a gradient");
}

/// Expressions whose types are named before they are evaluated.
void check_types(expectations& expect) {
  const auto x = tn::evaluated_tensor<space>(tn::normal<float>(tn::rank<2>(8, 3), 1));
  const tn::tensor<float, tn::rank<2>, space> w = {{1, 0}, {0, 1}, {1, 1}};
  const auto product = tn::einsum<"ij,jk->ik">(x, w);
  using product_type = decltype(product);
  const product_type again = product;
  expect(static_cast<float>(tn::max(tn::abs(again - tn::matmul(x, w)))) < 1e-5f, "einsum is a product");
}

/// Every loss, as an expression.
void check_losses(expectations& expect) {
  const auto scores = tn::evaluated_tensor<space>(tn::normal<float>(tn::rank<2>(8, 2), 1));
  const auto t = tn::evaluated_tensor<space>(tn::normal<float>(tn::rank<2>(8, 2), 2));
  const auto y = 2 * scores;
  const tn::tensor<std::int64_t, tn::rank<1>, space> labels = {0, 1, 1, 0, 1, 0, 0, 1};
  const auto shares = tn::evaluated_tensor(tn::softmax(t, tn::axis<-1>));
  const float losses = nn::mse_loss(y, t) + nn::l1_loss(y, t) + nn::huber_loss(y, t) + nn::smooth_l1_loss(y, t) +
                       nn::bce_with_logits_loss(y, shares) + nn::bce_loss(shares, shares) +
                       nn::kl_div_loss(tn::log_softmax(scores, tn::axis<-1>), shares) +
                       nn::cross_entropy_loss(scores, labels) + nn::nll_loss(scores, labels) +
                       nn::smoothed_cross_entropy_loss(scores, labels, 0.1);
  expect(std::isfinite(losses), "losses are numbers");
  const auto frames = tn::evaluated_tensor<space>(tn::normal<float>(tn::rank<3>(4, 2, 5), 3));
  const tn::tensor<std::int64_t, tn::rank<2>> words = {{1, 2}, {3, 4}};
  const tn::tensor<std::int64_t, tn::rank<1>> times = {4, 4}, counts = {2, 2};
  const float aligned = nn::ctc_loss(tn::log_softmax(frames, tn::axis<-1>), words, times, counts);
  expect(std::isfinite(aligned), "so is that of frames and words");
}

/// A network from a loader, by every optimizer.
void check_training(expectations& expect) {
  auto made = tn::evaluated_tensor(tn::normal<float>(tn::rank<2>(24, 3), 3));
  auto classes = tn::evaluated_tensor(tn::cast<std::int64_t>(tn::sum(made, tn::drop<1>) > 0));
  const tn::data::tensor_dataset examples(std::move(made), std::move(classes));
  tn::data::loader loader(examples, {.batch = 8, .shuffle = true, .seed = 1});
  auto net = nn::sequential(nn::linear<3, 8>{}, nn::relu{}, nn::linear<8, 2>{}).to<space>();
  nn::pass<decltype(net), tn::rank<2>, space> pass(net);
  tn::train::sgd<space> sgd({.lr = 0.1, .momentum = 0.9});
  tn::train::adam<space> adam({.lr = 0.01});
  tn::train::adamw<space> adamw({.lr = 0.01});
  tn::train::adagrad<space> adagrad({.lr = 0.01});
  tn::train::adadelta<space> adadelta({.lr = 0.01});
  tn::train::rmsprop<space> rmsprop({.lr = 0.01});
  tn::train::lamb<space> lamb({.lr = 0.01});
  tn::train::lion<space> lion({.lr = 0.001});
  tn::train::nadam<space> nadam({.lr = 0.01});
  tn::train::radam<space> radam({.lr = 0.01});
  tn::train::adamax<space> adamax({.lr = 0.01});
  tn::train::average<space> average({.decay = 0.9});
  tn::train::loss_scaler<space> scaler;
  sgd.clipping().max_norm = 1;
  float first = 0, last = 0;
  for (tn::index epoch = 0; epoch < 4; ++epoch) {
    last = 0;
    for (const auto& [inputs, wanted] : tn::data::batches_in<space>(loader, epoch)) {
      const auto logits = pass.forward(inputs.view());
      last += static_cast<float>(tn::mean(nn::cross_entropy(logits, wanted)));
      pass.backward(inputs.view(), nn::cross_entropy_gradient(logits, wanted));
      sgd.schedule(tn::train::cosine_annealing_lr{.t_max = 12}, epoch);
      sgd.step(net), adam.step(net), adamw.step(net), adagrad.step(net), adadelta.step(net);
      rmsprop.step(net), lamb.step(net), lion.step(net), nadam.step(net), radam.step(net), adamax.step(net);
      average.update(net);
      const auto moved = pass.forward(inputs.view());
      pass.backward(inputs.view(), nn::cross_entropy_gradient(moved, wanted) * scaler.scale());
      scaler.step(adam, net);
    }
    if (epoch == 0) first = last;
  }
  expect(last < first, "training makes the loss smaller");
  auto used = net;
  average.copy_to(used);
  auto narrow = net.to<tn::bfloat16>();
  nn::pass<decltype(narrow), tn::rank<2>, space, tn::bfloat16> in_bfloat16(narrow);
  const auto x = tn::evaluated_tensor<space>(tn::normal<float>(tn::rank<2>(8, 3), 1));
  const auto rounded = tn::evaluated_tensor(tn::cast<tn::bfloat16>(x));
  expect(in_bfloat16.forward(rounded.view()).extent(1) == 2, "a network has other elements too");
}

int main() {
  expectations expect;
  check_gradients(expect);
  check_types(expect);
  check_losses(expect);
  check_training(expect);
  return expect.failures;
}
