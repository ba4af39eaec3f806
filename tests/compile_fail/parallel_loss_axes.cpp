// expect: tenon: data_parallel takes a loss without axes, the mean over examples; mean(...) of this one?
// lines: 6: both calls of such a loss share the function that asserts it
// tests/compile_fail/parallel_loss_axes.cpp: a loss with axes, of which the ranks would need a number.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train.hpp>

namespace nn = tenon::nn;

void statement(tenon::distributed::thread_communicator& all, nn::linear<3, 4>& net,
               const tenon::tensor<float, tenon::rank<2>>& x, const tenon::tensor<float, tenon::rank<2>>& y) {
  tenon::distributed::data_parallel parallel(net, all);
#ifdef MISUSE
  parallel.backward(tenon::traced(tenon::square(net(x) - y)), 12);
#else
  parallel.backward(tenon::traced(tenon::mean(tenon::square(net(x) - y))), 12);
#endif
}
