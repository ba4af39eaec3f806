// tests/distributed/nccl.cpp: one GPU as a rank by itself; more ranks need more GPUs.
// Compiled by nvcc where NCCL is found.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

#include <tenon/distributed/data_parallel.hpp>
#include <tenon/distributed/nccl.hpp>

#include "support/catch.hpp"

namespace {
namespace distributed = tenon::distributed;
namespace nn = tenon::nn;
static_assert(distributed::communicator<distributed::nccl_communicator<distributed::alone>>);

template <class Network>
tenon::index examples_of_two_passes(Network& net) {
  distributed::alone hosts;
  distributed::nccl_communicator all(hosts);
  distributed::data_parallel parallel(net, all);
  nn::pass<Network, tenon::shape<tenon::dyn, 3>, tenon::cuda> pass(net);
  tenon::tensor<float, tenon::shape<tenon::dyn, 3>, tenon::cuda> x({4, 3});
  x = 1.0f;
  const auto input = std::as_const(x).view();
  const auto y = pass.forward(input);
  parallel.accumulate(pass, input, y, {.examples = 4});
  return parallel.backward(pass, input, y, {.examples = 4}).examples;
}

}  // namespace

TEST_CASE("NCCL sums up what lies on a device, in the order of its stream", "[nccl]") {
  distributed::alone hosts;
  distributed::nccl_communicator all(hosts);
  tenon::tensor<float, tenon::rank<1>, tenon::cuda> values({1000});
  values = 2.0f;
  auto sum = all.start_sum(values.data(), 1000);
  all.advance(sum), all.wait(sum);
  values = values + 1.0f;
  CHECK(static_cast<float>(tenon::sum(values)) == 3000.0f);
}

TEST_CASE("gradients on a device go through NCCL and stay what they are", "[nccl]") {
  auto net = nn::sequential(nn::linear<3, 2>{}).to<tenon::cuda>();
  CHECK(examples_of_two_passes(net) == 8);
}
