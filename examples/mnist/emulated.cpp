// examples/mnist/emulated.cpp: the emulated device, compiled beside the others.
// Its threads are fibers of the CPU; it shows what a GPU would do, slowly.
// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

int run_emulated(const mnist::options& options) {
  tn::distributed::alone one;
  return mnist::run<tn::emulated>(options, one);
}
