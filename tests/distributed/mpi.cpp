// tests/distributed/mpi.cpp: ranks that MPI connects; CTest runs this by mpirun too, with several of them.
// Compiled where MPI is found. What happens when a rank is lost is tested by tests/mpi.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <tenon/distributed/data_parallel.hpp>
#include <tenon/distributed/mpi.hpp>
#include <tenon/nn/linear.hpp>

#include "support/elements.hpp"
#include "support/text_of.hpp"

namespace {

namespace distributed = tenon::distributed;
namespace nn = tenon::nn;
static_assert(distributed::communicator<distributed::mpi_communicator>);

/// MPI from the first test to the end of the program.
distributed::mpi_communicator& mpi_world() {
  struct session {
    session() { MPI_Init(nullptr, nullptr); }
    ~session() { MPI_Finalize(); }
  };
  static session open;
  static distributed::mpi_communicator all(MPI_COMM_WORLD, {.timeout = std::chrono::seconds(60)});
  return all;
}

}  // namespace

TEST_CASE("MPI broadcasts bytes and sums up numbers, several at once", "[mpi]") {
  auto& all = mpi_world();
  const auto size = static_cast<double>(all.size());
  std::vector<int> bytes(1000, all.rank() + 7);
  all.broadcast(bytes.data(), bytes.size() * sizeof(int));
  CHECK(bytes == std::vector<int>(1000, 7));
  all.broadcast(nullptr, 0);
  std::vector<float> first(100'000, static_cast<float>(all.rank() + 1));
  double second[2] = {1, 0.5};
  auto sum = all.start_sum(first.data(), first.size()), other = all.start_sum(second, 2);
  all.advance(sum);
  all.wait(other), all.wait(sum);
  CHECK(first == std::vector<float>(100'000, static_cast<float>(size * (size + 1) / 2)));
  CHECK(second[0] == size);
  CHECK(second[1] == size / 2);
  CHECK(tenon_test::text_of<tenon::error>([&] { all.start_sum(second, std::size_t{1} << 31); }) ==
        "start_sum: 2147483648 numbers, expected fewer than 2^31; take smaller buckets");
}

TEST_CASE("a failed call says what MPI says", "[mpi]") {
  mpi_world();
  const auto text = tenon_test::text_of<distributed::communication_error>(
      [] { distributed::detail::check_mpi("MPI_Test", MPI_ERR_REQUEST); });
  CHECK(tenon_test::has(text, "MPI_Test: MPI_ERR_REQUEST"));
}

TEST_CASE("processes have the gradient of the whole batch", "[mpi]") {
  auto& all = mpi_world();
  const auto gradient_of = [](auto& ranks, tenon::index first, tenon::index last, std::uint64_t seed) {
    auto net = nn::sequential(nn::linear<3, 5>{}, nn::linear<5, 2>{});
    net.initialise(seed);
    distributed::data_parallel parallel(net, ranks, {.bucket_bytes = 40});
    nn::pass<decltype(net), tenon::shape<tenon::dyn, 3>> pass(net);
    const tenon::tensor<float, tenon::shape<tenon::dyn, 3>> drawn =
        tenon::uniform<float>(tenon::shape<tenon::dyn, 3>(12, 3), 9, -1.0f, 1.0f);
    const tenon::tensor<float, tenon::shape<tenon::dyn, 3>> x(tenon::slice(drawn, tenon::range(first, last)));
    const auto y = pass.forward(x.view());
    parallel.backward(pass, x.view(), y * (2.0f / static_cast<float>(y.size())), {.examples = last - first});
    return tenon_test::numbers_of(tenon::get<0>(net.layers).weight.gradient);
  };
  distributed::alone one;
  const auto expected = gradient_of(one, 0, 12, 3);
  const auto seed = 3 + static_cast<std::uint64_t>(all.rank());
  const auto found = gradient_of(all, 12 * all.rank() / all.size(), 12 * (all.rank() + 1) / all.size(), seed);
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::fabs(found[i] - expected[i]) < 1e-6);
}
