// examples/onnx/header.hpp: a network that has been read, as a C++ header and a file of weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "network.hpp"

namespace onnx_in {

/// The header: groups of members as modules, and `network` with its `forward`.
std::string header_text(network& net, const std::string& name, const std::string& model);
/// Writes the weights, by the names of the members.
void save_weights(const network& net, const std::filesystem::path& path);

}  // namespace onnx_in
