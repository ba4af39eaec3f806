// examples/onnx/check/conformance_models.cpp: the cases of a folder of single operators, as models and as headers.
// Writes programs that include the headers, some cases in each, and lists the cases that the converter refuses.
// SPDX-License-Identifier: Apache-2.0
#include <onnx.pb.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <tenon/io/bytes.hpp>

#include "../header.hpp"

namespace {

using nlohmann::json;
using std::filesystem::path;

int type_number(const std::string& dtype) {
  static const std::map<std::string, int> all = {{"float32", 1},  {"uint8", 2},    {"int8", 3},    {"uint16", 4},
                                                 {"int16", 5},    {"int32", 6},    {"int64", 7},   {"bool", 9},
                                                 {"float16", 10}, {"float64", 11}, {"uint32", 12}, {"uint64", 13}};
  const auto found = all.find(dtype);
  return found == all.end() ? 0 : found->second;
}

json read_json(const path& file) {
  std::ifstream stream(file);
  return json::parse(stream);
}

/// The elements of an NPY file of version 1.
std::string elements_of(const path& file) {
  const auto bytes = tenon::io::read_bytes("conformance", file);
  const std::size_t begin = 10 + bytes.at(8) + 256 * bytes.at(9);
  return std::string(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.end());
}

void add_attribute(onnx::NodeProto& node, const std::string& name, const json& given) {
  onnx::AttributeProto& made = *node.add_attribute();
  made.set_name(name);
  if (given.is_object()) {
    made.set_type(onnx::AttributeProto::TENSOR);
    onnx::TensorProto& tensor = *made.mutable_t();
    tensor.set_data_type(type_number(given["dtype"]));
    for (const json& each : given["shape"]) tensor.add_dims(each);
    std::vector<double> numbers;
    for (const json& each : given["data"].flatten())
      numbers.push_back(each.is_boolean() ? each.get<bool>() : each.get<double>());
    const auto all = onnx_in::constant::of(tensor.data_type(), {}, numbers);
    tensor.set_raw_data(std::string(all.bytes.begin(), all.bytes.end()));
  } else if (given.is_string()) {
    made.set_type(onnx::AttributeProto::STRING), made.set_s(given.get<std::string>());
  } else if (given.is_number_float()) {
    made.set_type(onnx::AttributeProto::FLOAT), made.set_f(given);
  } else if (given.is_number()) {
    made.set_type(onnx::AttributeProto::INT), made.set_i(given);
  } else {
    const bool is_whole = given.empty() || given[0].is_number_integer();
    made.set_type(is_whole ? onnx::AttributeProto::INTS : onnx::AttributeProto::FLOATS);
    for (const json& each : given) {
      if (each.is_string()) made.set_type(onnx::AttributeProto::STRINGS), made.add_strings(each.get<std::string>());
      else if (is_whole) made.add_ints(each);
      else made.add_floats(each);
    }
  }
}

/// How much of a case a model tells: inputs from number `known` on are constants; extents of the others are symbols,
/// one for each number, or numbers. With symbols, cases share types.
struct told {
  std::size_t known;
  bool has_symbols;
};

/// The case's node between inputs and outputs.
onnx::ModelProto model_of(const json& given, const path& folder, const told& all) {
  onnx::ModelProto made;
  made.set_ir_version(8);
  auto& set = *made.add_opset_import();
  const std::string domain = given.value("domain", "");
  set.set_version(given["opset"]), set.set_domain(domain == "ai.onnx" ? "" : domain);
  onnx::NodeProto& node = *made.mutable_graph()->add_node();
  node.set_op_type(given["op"]), node.set_name(given["name"]), node.set_domain(domain);
  for (const auto& [name, attribute] : given["attributes"].items()) add_attribute(node, name, attribute);
  for (std::size_t i = 0; i < given["inputs"].size(); ++i) {
    const json& input = given["inputs"][i];
    const std::string name = input.is_null() ? "" : "i" + std::to_string(i);
    node.add_input(name);
    if (input.is_null()) continue;
    if (i >= all.known) {
      onnx::TensorProto& tensor = *made.mutable_graph()->add_initializer();
      tensor.set_name(name), tensor.set_data_type(type_number(input["dtype"]));
      for (const json& each : input["shape"]) tensor.add_dims(each);
      tensor.set_raw_data(elements_of(folder / input["file"].get<std::string>()));
      continue;
    }
    auto& type = *made.mutable_graph()->add_input();
    type.set_name(name);
    type.mutable_type()->mutable_tensor_type()->set_elem_type(type_number(input["dtype"]));
    auto& shape = *type.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (const json& each : input["shape"]) {
      const std::int64_t extent = each;
      if (all.has_symbols && extent > 1) shape.add_dim()->set_dim_param("n" + std::to_string(extent));
      else shape.add_dim()->set_dim_value(extent);
    }
  }
  for (std::size_t i = 0; i < given["outputs"].size(); ++i) {
    const std::string name = given["outputs"][i].is_null() ? "" : "o" + std::to_string(i);
    node.add_output(name);
    if (!name.empty()) made.mutable_graph()->add_output()->set_name(name);
  }
  return made;
}

/// A case that the converter took: its network, as a header, has members or none.
struct converted {
  bool has_members;
};

/// Writes header and weights of a case.
/// throws    error when the converter refuses it
converted convert(const onnx::ModelProto& model, const std::string& name, const path& out) {
  const path file = out / (name + ".onnx");
  std::ofstream(file, std::ios::binary) << model.SerializeAsString();
  const onnx_in::graph graph = onnx_in::read_model(file);
  onnx_in::network net(graph);
  std::ofstream(out / (name + ".hpp")) << onnx_in::header_text(net, name, name + ".onnx");
  onnx_in::save_weights(net, out / (name + ".safetensors"));
  return {!net.members().empty()};
}

/// What a dropout in training multiplies elements by that stay; nothing for other cases.
std::optional<double> dropout_scale(const json& given, const path& folder) {
  const json& inputs = given["inputs"];
  const auto first_byte = [&](std::size_t i) {
    return elements_of(folder / inputs[i]["file"].get<std::string>()).at(0);
  };
  if (given["op"] != "Dropout" || inputs.size() < 3 || first_byte(2) == 0) return std::nullopt;
  float ratio = 0.5f;
  if (!inputs[1].is_null()) std::memcpy(&ratio, elements_of(folder / inputs[1]["file"].get<std::string>()).data(), 4);
  return 1 / (1 - static_cast<double>(ratio));
}

/// The function that runs a case and compares its outputs.
std::string run_text(const json& given, const std::string& family, const json& tolerance, std::size_t known,
                     const converted& header, const std::optional<double>& scale) {
  const std::string name = given["name"], space = onnx_in::namespace_of(name);
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < std::min(known, given["inputs"].size()); ++i) {
    if (!given["inputs"][i].is_null()) arguments.push_back(given["inputs"][i]["file"]);
  }
  std::string text = "void run_" + name + "(const conformance_case& of) {\n  " + space + "::network<space> net;\n";
  if (header.has_members) text += "  of.load(net);\n";
  if (scale) text += "  net.train();\n";
  std::string names;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string number = arguments.size() == 1 ? "" : std::to_string(i + 1), x = "x" + std::to_string(i);
    text += "  const auto " + x + " = of.read<" + space + "::input" + number + ">(\"" + arguments[i] + "\");\n";
    names += (i == 0 ? "" : ", ") + x;
  }
  text += "  const tenon::no_grad testing;\n  const auto y = net(" + names + ");\n";
  std::vector<json> outputs;
  for (const json& each : given["outputs"]) {
    if (!each.is_null()) outputs.push_back(each);
  }
  const auto output = [&](std::size_t i) {
    return outputs.size() == 1 ? std::string("y") : "std::get<" + std::to_string(i) + ">(y)";
  };
  if (given.value("random", false)) {
    text += "  of.check_dropout(x0, " + output(0) + ", " + std::to_string(scale.value()) +
            (outputs.size() == 1 ? "" : ", " + output(1)) + ");\n";
    outputs.clear();
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string dtype = outputs[i]["dtype"];
    std::string type = onnx_in::type_of(type_number(dtype)).name;
    if (type == "tn::half") type = "tenon::half";
    const json limits = tolerance.value(dtype, json{{"atol", 0}, {"rtol", 0}});
    text += "  of.compare<" + type + ", " + std::to_string(outputs[i]["shape"].size()) + ">(" + output(i) + ", \"" +
            outputs[i]["file"].get<std::string>() + "\", " + limits["atol"].dump() + ", " + limits["rtol"].dump() +
            ");\n";
  }
  return text + "}\nconst conformance_entry entry_" + name + "(\"" + family + "\", \"" + name + "\", run_" + name +
         ");\n";
}

/// A case as a model whose inputs are all given or, where that is refused, whose first one is, or none.
/// Of these, one with symbols is taken before one with numbers.
std::string write_case(const json& given, const std::string& family, const json& tolerance, const path& folder,
                       const path& out, std::string& refusals) {
  const std::string name = given["name"];
  const auto scale = dropout_scale(given, folder / name);
  std::string reason;
  const std::size_t count = given["inputs"].size();
  const bool reaches_beyond = given["op"] == "Slice";  // where extents are known at run time, that is an error
  for (const told& all : {told{count, true}, told{count, false}, told{1, true}, told{1, false}, told{0, false}}) {
    if (all.has_symbols && reaches_beyond) continue;
    try {
      const converted header = convert(model_of(given, folder / name, all), name, out);
      return run_text(given, family, tolerance, all.known, header, scale);
    } catch (const tenon::error& refusal) {
      if (reason.empty()) reason = refusal.what();
    }
  }
  refusals += family + ": " + name + ": " + reason + "\n";
  return "";
}

/// Neighbours, which use the same layers, are compiled together.
void write_all(const path& folder, const path& out, std::size_t count) {
  const json all = read_json(folder / "cases.json");
  std::vector<std::string> includes, texts;
  std::string refusals;
  for (const json& each : all["cases"]) {
    const std::string name = each["name"];
    const std::string text =
        write_case(read_json(folder / name / "case.json"), each["family"], all["tolerance"], folder, out, refusals);
    if (!text.empty()) includes.push_back("#include \"" + name + ".hpp\"\n"), texts.push_back(text);
  }
  for (std::size_t part = 0, first = 0; part < count; ++part) {
    const std::size_t last = (part + 1) * texts.size() / count;
    std::ofstream file(out / ("part" + std::to_string(part) + ".cpp"));
    file << "#include \"conformance_run.hpp\"\n";
    for (std::size_t i = first; i < last; ++i) file << includes[i];
    for (; first < last; ++first) file << texts[first];
  }
  std::ofstream(out / "refused.txt") << refusals;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  try {
    write_all(arguments[1], arguments[2], std::stoul(arguments[3]));
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
