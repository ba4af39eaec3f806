// expect: tenon: an average has the space and elements of its network: average<host, double> of doubles
// tests/compile_fail/average_of_doubles.cpp: an average of floats of a network of doubles.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train.hpp>

using layer_of_doubles = tenon::nn::linear<3, 4, tenon::nn::linear_options{}, tenon::host, double>;

void statement(layer_of_doubles& layer) {
#ifdef MISUSE
  tenon::train::average<> average({.decay = 0.9});
#else
  tenon::train::average<tenon::host, double> average({.decay = 0.9});
#endif
  average.update(layer);
}
