// benchmarks/compile_time/tenon/mlp.cpp: three linear layers that learn to read digits from a folder of MNIST's files.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <tenon/train.hpp>

namespace tn = tenon;
namespace nn = tenon::nn;

int main(int count, char** arguments) {
  const std::string folder = count > 1 ? arguments[1] : ".";
  const tn::index epochs = count > 2 ? std::stol(arguments[2]) : 5;
  const tn::data::labelled_images digits{tn::io::read_idx<3>(folder + "/train-images-idx3-ubyte"),
                                         tn::io::read_idx<1>(folder + "/train-labels-idx1-ubyte")};
  auto net = nn::sequential(nn::flatten{}, nn::linear<784, 512>{}, nn::relu{}, nn::linear<512, 512>{}, nn::relu{},
                            nn::linear<512, 10>{});
  net.initialise(1);
  tn::train::adamw optimizer({.lr = 1e-3});
  tn::data::loader loader(digits, {.batch = 64, .shuffle = true, .seed = 1});
  nn::pass<decltype(net), tn::shape<tn::dyn, 1, 28, 28>> pass(net);
  for (tn::index epoch = 0; epoch < epochs; ++epoch) {
    double loss = 0;
    tn::index right = 0;
    for (const auto& batch : loader.epoch(epoch)) {
      const auto logits = pass.forward(batch.images.view());
      loss += tn::sum(nn::cross_entropy(logits, batch.labels));
      pass.backward(batch.images.view(), nn::cross_entropy_gradient(logits, batch.labels));
      optimizer.step(net);
      right += tn::count_nonzero(tn::argmax(logits, tn::axis<-1>) == tn::new_axis<-1>(batch.labels));
    }
    const auto examples = static_cast<double>(digits.size());
    std::printf("epoch %ld: loss %.4f, accuracy %.4f\n", static_cast<long>(epoch + 1), loss / examples,
                static_cast<double>(right) / examples);
  }
  return 0;
}
