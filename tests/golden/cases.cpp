// tests/golden/cases.cpp: JSON and NPY files of the golden cases.
// Tensors are listed by name; null stands for one that is not there.
// SPDX-License-Identifier: Apache-2.0
#include "golden/cases.hpp"

#include <nlohmann/json.hpp>

namespace golden {

namespace {

array_table read_arrays(const std::filesystem::path& folder, const nlohmann::json& told, const char* key) {
  array_table result;
  if (!told.contains(key)) return result;
  for (const auto& tensor : told.at(key)) {
    if (!tensor.is_null()) result[tensor.at("name")] = conformance::read_array(folder, tensor);
  }
  return result;
}

/// Numbers that stand in JSON itself.
array array_of_numbers(const std::vector<float>& numbers) {
  array result{"float32", {static_cast<index>(numbers.size())}, {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(numbers.data());
  result.bytes.assign(bytes, bytes + numbers.size() * sizeof(float));
  return result;
}

}  // namespace

golden_case read_golden_case(const std::filesystem::path& folder) {
  const nlohmann::json told = conformance::read_json(folder / "case.json");
  const auto read = [&](const char* key) { return read_arrays(folder, told, key); };
  const bool is_training = told.at("op") == "train";
  array_table outputs_after = read("outputs_after");
  if (is_training) outputs_after["losses"] = array_of_numbers(told.at("losses").get<std::vector<float>>());
  return {.name = told.at("name"),
          .layer = told.at(is_training ? "network" : "op"),
          .attributes = conformance::attribute_table(told.at("attributes")),
          .inputs = read("inputs"),
          .parameters = read("parameters"),
          .buffers = read("buffers"),
          .grad_outputs = read("grad_outputs"),
          .outputs = read("outputs"),
          .buffers_after = read("buffers_after"),
          .gradients = read("gradients"),
          .folder = folder,
          .optimizer = is_training ? told.at("optimizer").get<std::string>() : std::string(),
          .parameters_after = read("parameters_after"),
          .outputs_after = std::move(outputs_after)};
}

}  // namespace golden
