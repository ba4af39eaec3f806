// examples/onnx/read_model.cpp: ONNX files to graphs; the one place that knows protobuf.
// SPDX-License-Identifier: Apache-2.0
#include <onnx.pb.h>

#include <algorithm>
#include <tenon/io/bytes.hpp>

#include "elements.hpp"
#include "names.hpp"

namespace onnx_in {

namespace {

/// The bytes of a tensor that lies in a file beside the model.
std::string external_bytes(const onnx::TensorProto& tensor, const std::filesystem::path& folder) {
  std::map<std::string, std::string> facts;
  for (const auto& each : tensor.external_data()) facts[each.key()] = each.value();
  const std::filesystem::path beside(facts["location"]);
  const bool leaves = std::find(beside.begin(), beside.end(), "..") != beside.end();
  if (beside.empty() || beside.is_absolute() || leaves) {
    throw tenon::error("tensor '" + tensor.name() + "' lies in '" + beside.string() +
                       "', expected a file beside the model");
  }
  const auto bytes = tenon::io::read_bytes("tenon-onnx", folder / beside);
  const std::size_t begin = facts.contains("offset") ? std::stoull(facts["offset"]) : 0;
  if (begin > bytes.size()) throw tenon::error("tensor '" + tensor.name() + "' begins behind its file");
  const std::size_t count = facts.contains("length") ? std::stoull(facts["length"]) : bytes.size() - begin;
  if (count > bytes.size() - begin) throw tenon::error("tensor '" + tensor.name() + "' ends behind its file");
  return std::string(reinterpret_cast<const char*>(bytes.data()) + begin, count);
}

constant constant_of(const onnx::TensorProto& tensor, const std::filesystem::path& folder) {
  constant made;
  made.element = tensor.data_type();
  std::size_t count = 1;
  for (const auto each : tensor.dims()) {
    constexpr std::size_t most = std::size_t{1} << 40;  // elements of a tensor
    if (each < 0 || static_cast<std::size_t>(each) > most ||
        (each != 0 && count > most / static_cast<std::size_t>(each))) {
      throw tenon::error("tensor '" + tensor.name() + "' has an extent of " + std::to_string(each) +
                         ", which does not fit");
    }
    made.extents.push_back(each), count *= static_cast<std::size_t>(each);
  }
  const bool is_elsewhere = tensor.data_location() == onnx::TensorProto::EXTERNAL;
  const std::string raw = is_elsewhere ? external_bytes(tensor, folder) : tensor.raw_data();
  made.bytes.assign(raw.begin(), raw.end());
  if (raw.empty()) {
    with_type(made.element, [&]<class T>(T) {
      if constexpr (std::is_same_v<T, float>) append<T>(made, tensor.float_data());
      else if constexpr (std::is_same_v<T, double>) append<T>(made, tensor.double_data());
      else if constexpr (std::is_same_v<T, std::int64_t>) append<T>(made, tensor.int64_data());
      else if constexpr (std::is_unsigned_v<T> && sizeof(T) >= 4) append<T>(made, tensor.uint64_data());
      else if constexpr (std::is_same_v<T, tenon::half>) append<std::uint16_t>(made, tensor.int32_data());
      else append<T>(made, tensor.int32_data());
    });
  }
  if (made.bytes.size() != count * type_of(made.element).bytes) {
    throw tenon::error("tensor '" + tensor.name() + "' has " + std::to_string(made.bytes.size()) + " bytes, expected " +
                       std::to_string(count * type_of(made.element).bytes));
  }
  return made;
}

graph graph_of(const onnx::GraphProto& from, const std::filesystem::path& folder);

attribute attribute_of(const onnx::AttributeProto& from, const std::filesystem::path& folder) {
  attribute made;
  made.integer = from.i();
  made.number = from.f();
  made.text = from.s();
  made.integers.assign(from.ints().begin(), from.ints().end());
  made.numbers.assign(from.floats().begin(), from.floats().end());
  made.texts.assign(from.strings().begin(), from.strings().end());
  if (from.has_t()) made.tensor.emplace(0, constant_of(from.t(), folder));
  if (from.has_g() || from.graphs_size() > 0)
    made.part = std::make_shared<graph>(graph_of(from.has_g() ? from.g() : from.graphs(0), folder));
  return made;
}

node node_of(const onnx::NodeProto& from, const std::filesystem::path& folder) {
  node made{from.name(), from.op_type(), from.domain() == "ai.onnx" ? "" : from.domain(), {}, {}, {}};
  if (made.name.empty() && from.output_size() > 0) made.name = from.output(0);
  made.inputs.assign(from.input().begin(), from.input().end());
  made.outputs.assign(from.output().begin(), from.output().end());
  for (const auto& each : from.attribute()) made.attributes[each.name()] = attribute_of(each, folder);
  return made;
}

graph_input input_of(const onnx::ValueInfoProto& from, std::size_t number, extent_names& names) {
  graph_input made{from.name(), from.type().tensor_type().elem_type(), {}};
  if (!from.type().has_tensor_type() || !from.type().tensor_type().has_shape()) {
    throw tenon::error("input '" + from.name() + "' is no tensor of a known number of axes");
  }
  lengths known;
  for (const auto& each : from.type().tensor_type().shape().dim()) {
    const std::string own = "extent" + std::to_string(number) + "_" + std::to_string(made.extents.size());
    const bool is_known = each.has_dim_value() && each.dim_value() >= 0;  // some exports write -1 for any number
    if (is_known) known.push_back(each.dim_value());
    if (is_known) made.extents.push_back(each.dim_value());
    else made.extents.push_back(extent(names.of(each.dim_param().empty() ? " " + own : each.dim_param())));
  }
  try {
    static_cast<void>(size_of(known));
  } catch (const tenon::error& failure) {
    throw tenon::error("input '" + from.name() + "' " + failure.what());
  }
  return made;
}

/// Nodes, constants and outputs.
graph graph_of(const onnx::GraphProto& from, const std::filesystem::path& folder) {
  graph made;
  if (from.sparse_initializer_size() > 0) throw tenon::error("sparse tensors are not supported");
  for (const auto& each : from.initializer()) made.constants.emplace(each.name(), constant_of(each, folder));
  for (const auto& each : from.node()) made.nodes.push_back(node_of(each, folder));
  for (const auto& each : from.output()) made.outputs.push_back(each.name());
  return made;
}

}  // namespace

graph read_model(const std::filesystem::path& path) {
  const auto bytes = tenon::io::read_bytes("tenon-onnx", path);
  if (bytes.size() > INT32_MAX)
    throw tenon::error(path.string() + ": more than 2 GiB, expected tensors in files beside it");
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !model.has_graph()) {
    throw tenon::error(path.string() + ": no ONNX model; is it truncated?");
  }
  graph made = graph_of(model.graph(), path.parent_path());
  extent_names names;
  for (const auto& each : model.graph().input()) {
    if (!made.constants.contains(each.name())) made.inputs.push_back(input_of(each, made.inputs.size(), names));
  }
  for (const auto& each : model.opset_import()) {
    if (each.domain().empty() || each.domain() == "ai.onnx") made.opset = each.version();
  }
  return made;
}

}  // namespace onnx_in
