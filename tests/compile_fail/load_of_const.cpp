// expect: tenon: what is loaded is a network that is not const
// tests/compile_fail/load_of_const.cpp: a const network that is to be loaded.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/linear.hpp>
#include <tenon/train/checkpoint.hpp>

#ifdef MISUSE
void load(const tenon::nn::linear<2, 3>& net) {
#else
void load(tenon::nn::linear<2, 3>& net) {
#endif
  tenon::train::load_state(net, "net.safetensors");
}
