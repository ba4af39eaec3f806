// examples/onnx/read_model.cpp: ONNX files to graphs; the one place that knows protobuf.
// SPDX-License-Identifier: Apache-2.0
#include <onnx.pb.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <tenon/base/dtype.hpp>
#include <tenon/io/bytes.hpp>

#include "graph.hpp"

namespace onnx_in {

const element_type& type_of(int number) {
  static constexpr element_type all[] = {
      {1, "float", "F32", 4, true},           {2, "std::uint8_t", "U8", 1, false},
      {3, "std::int8_t", "I8", 1, false},     {4, "std::uint16_t", "U16", 2, false},
      {5, "std::int16_t", "I16", 2, false},   {6, "std::int32_t", "I32", 4, false},
      {7, "std::int64_t", "I64", 8, false},   {9, "bool", "BOOL", 1, false},
      {10, "tn::half", "F16", 2, true},       {11, "double", "F64", 8, true},
      {12, "std::uint32_t", "U32", 4, false}, {13, "std::uint64_t", "U64", 8, false}};
  for (const element_type& each : all) {
    if (each.number == number) return each;
  }
  throw tenon::error("element type " + std::to_string(number) + " of ONNX is not supported");
}

namespace {

/// Calls `body(T{})` with the C++ type of an element type.
template <class Body>
void with_type(int number, const Body& body) {
  switch (number) {
    case 1:
      return body(float{});
    case 2:
      return body(std::uint8_t{});
    case 3:
      return body(std::int8_t{});
    case 4:
      return body(std::uint16_t{});
    case 5:
      return body(std::int16_t{});
    case 6:
      return body(std::int32_t{});
    case 7:
      return body(std::int64_t{});
    case 9:
      return body(bool{});
    case 10:
      return body(tenon::half(0.0f));
    case 11:
      return body(double{});
    case 12:
      return body(std::uint32_t{});
    case 13:
      return body(std::uint64_t{});
    default:
      static_cast<void>(type_of(number));
  }
}

/// A number as an element; what is beyond integers becomes their nearest.
template <class T>
T converted(double number) {
  if constexpr (std::is_same_v<T, bool>) {
    return number != 0;
  } else if constexpr (std::is_same_v<T, tenon::half>) {
    return tenon::half(static_cast<float>(number));
  } else if constexpr (!std::is_integral_v<T>) {
    return static_cast<T>(number);
  } else {
    const auto least = std::numeric_limits<T>::lowest(), most = std::numeric_limits<T>::max();
    if (!(number > static_cast<double>(least))) return least;
    return number >= static_cast<double>(most) ? most : static_cast<T>(number);
  }
}

template <class T>
double wide(T element) {
  if constexpr (std::is_same_v<T, tenon::half>) return static_cast<double>(static_cast<float>(element));
  else return static_cast<double>(element);
}

template <class T, class Elements>
void append(constant& made, const Elements& elements) {
  for (const auto each : elements) {
    const T element = static_cast<T>(each);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&element);
    made.bytes.insert(made.bytes.end(), bytes, bytes + sizeof(T));
  }
}

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

attribute attribute_of(const onnx::AttributeProto& from, const std::filesystem::path& folder) {
  attribute made;
  made.integer = from.i();
  made.number = from.f();
  made.text = from.s();
  made.integers.assign(from.ints().begin(), from.ints().end());
  made.numbers.assign(from.floats().begin(), from.floats().end());
  made.texts.assign(from.strings().begin(), from.strings().end());
  if (from.has_t()) made.tensor.emplace(0, constant_of(from.t(), folder));
  made.is_graph = from.has_g() || from.graphs_size() > 0;
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

/// Letters and digits of a name alone, as C++ takes them.
std::string plain(const std::string& name) {
  std::string made;
  for (const char each : name) {
    const bool fits = std::isalnum(static_cast<unsigned char>(each)) != 0;
    if (fits) made += each;
    else if (!made.empty() && made.back() != '_') made += '_';
  }
  return made.empty() || std::isdigit(static_cast<unsigned char>(made[0])) ? "n" + made : made;
}

graph_input input_of(const onnx::ValueInfoProto& from, std::size_t number) {
  graph_input made{from.name(), from.type().tensor_type().elem_type(), {}};
  if (!from.type().has_tensor_type() || !from.type().tensor_type().has_shape()) {
    throw tenon::error("input '" + from.name() + "' is no tensor of a known number of axes");
  }
  for (const auto& each : from.type().tensor_type().shape().dim()) {
    const std::string own = "extent" + std::to_string(number) + "_" + std::to_string(made.extents.size());
    if (each.has_dim_value()) made.extents.push_back(each.dim_value());
    else made.extents.push_back(extent(each.dim_param().empty() ? own : plain(each.dim_param())));
  }
  return made;
}

}  // namespace

std::vector<double> constant::numbers() const {
  std::vector<double> made;
  with_type(element, [&]<class T>(T) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      T each;
      std::memcpy(&each, bytes.data() + at, sizeof(T));
      made.push_back(wide(each));
    }
  });
  return made;
}

constant constant::of(int element, std::vector<std::int64_t> all, const std::vector<double>& numbers) {
  constant made{element, std::move(all), {}};
  with_type(element, [&]<class T>(T) {
    std::vector<T> elements(numbers.size());
    made.bytes.reserve(numbers.size() * sizeof(T));
    for (std::size_t i = 0; i < numbers.size(); ++i) elements[i] = converted<T>(numbers[i]);
    append<T>(made, elements);
  });
  return made;
}

graph read_model(const std::filesystem::path& path) {
  const auto bytes = tenon::io::read_bytes("tenon-onnx", path);
  if (bytes.size() > INT32_MAX)
    throw tenon::error(path.string() + ": more than 2 GiB, expected tensors in files beside it");
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !model.has_graph()) {
    throw tenon::error(path.string() + ": no ONNX model; is it truncated?");
  }
  graph made;
  const auto folder = path.parent_path();
  for (const auto& each : model.opset_import()) {
    if (each.domain().empty() || each.domain() == "ai.onnx") made.opset = each.version();
  }
  if (model.graph().sparse_initializer_size() > 0)
    throw tenon::error(path.string() + ": sparse tensors are not supported");
  for (const auto& each : model.graph().initializer()) made.constants.emplace(each.name(), constant_of(each, folder));
  for (const auto& each : model.graph().node()) made.nodes.push_back(node_of(each, folder));
  for (const auto& each : model.graph().input()) {
    if (!made.constants.contains(each.name())) made.inputs.push_back(input_of(each, made.inputs.size()));
  }
  for (const auto& each : model.graph().output()) made.outputs.push_back(each.name());
  return made;
}

}  // namespace onnx_in
