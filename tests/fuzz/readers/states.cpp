// tests/fuzz/readers/states.cpp: attacks on the state of networks.
// A file that is refused changes nothing; one that is loaded is saved as it was.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/sequential.hpp>
#include <tenon/train/checkpoint.hpp>

#include "fuzz/readers/damage.hpp"

namespace fuzz {

namespace {

namespace io = tenon::io;
namespace nn = tenon::nn;
namespace train = tenon::train;

auto make_state_network(std::uint64_t seed) {
  auto net = nn::sequential(nn::linear<3, 2>{}, nn::batch_norm<2>{});
  net.initialise(seed);
  return net;
}
using state_network = decltype(make_state_network(0));

/// Every number of a network's state, as bytes.
bytes bytes_of_state(state_network& net) {
  bytes all;
  nn::visit_state(net, [&](const std::string&, const auto& value) {
    const auto host = train::detail::state_on_host(value);
    const auto* const first = reinterpret_cast<const std::uint8_t*>(host.data());
    all.insert(all.end(), first, first + static_cast<std::size_t>(host.size()) * sizeof(*host.data()));
  });
  return all;
}

/// The state of a network, of which a name or an extent is changed at times.
bytes make_state(random_source& random) {
  static const memory_file file("made.safetensors");
  auto net = make_state_network(random.bits());
  train::save_state(net, file.path);
  bytes content = io::read_bytes("fuzz", file.path);
  if (once_in(3, random)) return content;
  const auto length = static_cast<std::ptrdiff_t>(io::little_endian<8>(content));
  bytes header(content.begin() + 8, content.begin() + 8 + length);
  header = damaged(std::move(header), random);
  for (std::size_t i = 0; i < 8; ++i) content[i] = static_cast<std::uint8_t>(header.size() >> (8 * i) & 0xff);
  replace(content, {8, static_cast<std::size_t>(length)}, header);
  return content;
}

void check_state(const std::filesystem::path& path, const bytes& content) {
  static const memory_file again("again.state");
  auto net = make_state_network(1), second = make_state_network(2);
  const bytes before = bytes_of_state(net);
  try {
    train::load_state(net, path, {.strict = content.size() % 2 == 0});
  } catch (const tenon::file_error&) {
    must_hold(bytes_of_state(net) == before, "a refused file changes the network");
    throw;
  }
  try {
    train::save_state(net, again.path);
  } catch (const tenon::error& refusal) {  // elements whose bits are all ones mark what nobody wrote
    must_hold(std::string(refusal.what()).find("was never written") != std::string::npos, "a state is not saved again");
    return;
  }
  train::load_state(second, again.path);
  must_hold(bytes_of_state(net) == bytes_of_state(second), "another state comes back");
}

}  // namespace

std::vector<format> state_formats() { return {{"state", make_state, check_state}}; }

}  // namespace fuzz
