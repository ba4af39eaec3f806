// expect: tenon: what is saved is a network that is not const, or a train::training of a network and its optimizer
// tests/compile_fail/save_of_optimizer.cpp: an optimizer that is saved without its network.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/linear.hpp>
#include <tenon/train/adam.hpp>
#include <tenon/train/checkpoint.hpp>

void save(tenon::nn::linear<2, 3>& net, tenon::train::adam<>& optimizer) {
#ifdef MISUSE
  tenon::train::save_state(optimizer, "training.safetensors");
#else
  tenon::train::save_state(tenon::train::training(net, optimizer), "training.safetensors");
#endif
}
