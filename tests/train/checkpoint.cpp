// tests/train/checkpoint.cpp: parameters through files and back.
// What does not fit is refused whole, with everything that is wrong in one sentence.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/linear.hpp>
#include <tenon/nn/sequential.hpp>
#include <tenon/train/checkpoint.hpp>

#include "support/elements.hpp"
#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon_test::numbers_of;
using tenon_test::scratch_file;

namespace {

auto make_network(std::uint64_t seed) {
  auto net = nn::sequential(nn::linear<3, 4>{}, nn::linear<4, 2>{});
  net.initialise(seed);
  return net;
}

template <class Network>
std::vector<double> all_values(Network& net) {
  std::vector<double> result;
  net.visit_parameters([&](const auto&, auto& parameter) {
    const auto values = numbers_of(parameter.value);
    result.insert(result.end(), values.begin(), values.end());
  });
  return result;
}

}  // namespace

TEST_CASE("saved parameters are loaded bit for bit", "[checkpoint]") {
  const scratch_file file("round.safetensors");
  auto saved = make_network(3), loaded = make_network(4);
  tenon::train::save(saved, file.path);
  REQUIRE(all_values(saved) != all_values(loaded));
  tenon::train::load(loaded, file.path);
  CHECK(all_values(saved) == all_values(loaded));
  CHECK(tenon::io::safetensors_file(file.path).names() ==
        std::vector<std::string>{"0.bias", "0.weight", "1.bias", "1.weight"});
}

TEST_CASE("a file of another network is refused whole", "[checkpoint]") {
  const scratch_file file("other.safetensors");
  tenon::train::save(nn::sequential(nn::linear<3, 5>{}), file.path);
  auto net = make_network(4);
  const auto before = all_values(net);
  const auto text = tenon_test::text_of<tenon::file_error>([&] { tenon::train::load(net, file.path); });
  CHECK(tenon_test::has(text, "load: " + file.path.string() + ": it does not fit the network"));
  CHECK(tenon_test::has(text, "; 0.weight has extents [5, 3], expected [4, 3]"));
  CHECK(tenon_test::has(text, "; 0.bias has extents [5], expected [4]"));
  CHECK(tenon_test::has(text, "; 1.weight is missing; 1.bias is missing"));
  CHECK(all_values(net) == before);
}

TEST_CASE("tensors that the network does not have are refused", "[checkpoint]") {
  const scratch_file file("more.safetensors");
  tenon::train::save(nn::sequential(nn::linear<3, 4>{}, nn::linear<4, 2>{}, nn::linear<2, 1>{}), file.path);
  auto net = make_network(4);
  const auto text = tenon_test::text_of<tenon::file_error>([&] { tenon::train::load(net, file.path); });
  CHECK(tenon_test::has(text, "; 2 of its tensors are unexpected"));
}
