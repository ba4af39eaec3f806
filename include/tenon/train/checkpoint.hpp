// tenon/train/checkpoint.hpp: the parameters of a network, to and from safetensors files.
// Names and shapes are PyTorch's, so a state_dict of the same layers loads without renaming.
// Floor 8: may include base, core, nn, io, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/io/safetensors.hpp>

namespace tenon::train {

/// Writes every parameter of a network on the host.
/// throws    file_error
template <class Network>
void save(Network net, const std::filesystem::path& path) {
  io::safetensors_writer writer;
  net.visit_parameters([&](const std::string& name, auto& parameter) { writer.add(name, parameter.value); });
  writer.save(path);
}

/// Reads every parameter of a network on the host; nothing is changed when the file does not fit.
/// throws    file_error that lists all missing, unexpected and misshapen tensors together
template <class Network>
void load(Network& net, const std::filesystem::path& path) {
  const io::safetensors_file file(path);
  std::string mismatches;
  index known = 0;
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    if (!file.contains(name)) {
      mismatches += compose_text("; ", name, " is missing");
    } else if (known += 1; !file.fits(name, parameter.value.shape())) {
      mismatches += compose_text("; ", name, " has extents ", file.extents(name), ", expected ",
                                 parameter.value.shape().to_array());
    }
  });
  if (known != static_cast<index>(file.names().size())) {
    mismatches += compose_text("; ", static_cast<index>(file.names().size()) - known, " of its tensors are unexpected");
  }
  if (!mismatches.empty()) io::refuse("load", path, "it does not fit the network" + mismatches);
  net.visit_parameters([&](const std::string& name, auto& parameter) { file.read(name, parameter.value); });
}

}  // namespace tenon::train
