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

}  // namespace

golden_case read_golden_case(const std::filesystem::path& folder) {
  const nlohmann::json told = conformance::read_json(folder / "case.json");
  const auto read = [&](const char* key) { return read_arrays(folder, told, key); };
  return {.name = told.at("name"),
          .layer = told.at("op"),
          .attributes = conformance::attribute_table(told.at("attributes")),
          .inputs = read("inputs"),
          .parameters = read("parameters"),
          .buffers = read("buffers"),
          .grad_outputs = read("grad_outputs"),
          .outputs = read("outputs"),
          .buffers_after = read("buffers_after"),
          .gradients = read("gradients")};
}

}  // namespace golden
