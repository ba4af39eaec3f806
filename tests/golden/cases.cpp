// tests/golden/cases.cpp: JSON and NPY files of the golden cases.
// Tensors are listed by name; null stands for one that is not there.
// SPDX-License-Identifier: Apache-2.0
#include "golden/cases.hpp"

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tenon/io/npy.hpp>

namespace golden {

namespace {

/// The element type that a file of elements of `dtype` has.
std::string file_descr(const std::string& dtype) {
  if (dtype == "bfloat16") return tn::io::detail::npy_descr<std::uint16_t>();
  return with_type(integer_types + type_list<float, double, tn::half, bool>{}, dtype,
                   [&]<class T>() { return tn::io::detail::npy_descr<T>(); });
}

nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw tn::file_error(tn::compose_text("read_json: ", path.string(), ": cannot be opened"));
  return nlohmann::json::parse(file);
}

array read_array(const std::filesystem::path& folder, const nlohmann::json& told) {
  array result{told.at("dtype"), told.at("shape").get<std::vector<index>>(), {}};
  const std::filesystem::path path = folder / told.at("file").get<std::string>();
  const auto bytes = tn::io::read_bytes("read_array", path);
  const auto [begin, elements] = tn::io::detail::layout_of_npy(path, bytes);
  const tn::io::detail::npy_header header(path,
                                          {reinterpret_cast<const char*>(bytes.data()) + begin, elements - begin});
  if (header.is_fortran_order() || header.extents() != result.extents || header.descr() != file_descr(result.dtype)) {
    throw tn::file_error(tn::compose_text("read_array: ", path.string(), ": not what case.json says"));
  }
  result.bytes.resize(bytes.size() - elements);
  std::memcpy(result.bytes.data(), bytes.data() + elements, result.bytes.size());
  return result;
}

array_table read_arrays(const std::filesystem::path& folder, const nlohmann::json& told, const char* key) {
  array_table result;
  if (!told.contains(key)) return result;
  for (const auto& tensor : told.at(key)) {
    if (!tensor.is_null()) result[tensor.at("name")] = read_array(folder, tensor);
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

attribute_table::attribute_table(const nlohmann::json& attributes)
    : values_(std::make_shared<const nlohmann::json>(attributes)) {}
bool attribute_table::has(const char* name) const { return values_->contains(name) && !values_->at(name).is_null(); }
double attribute_table::number(const char* name, double fallback) const {
  return has(name) ? values_->at(name).get<double>() : fallback;
}
index attribute_table::integer(const char* name, index fallback) const {
  return has(name) ? values_->at(name).get<index>() : fallback;
}
bool attribute_table::flag(const char* name, bool fallback) const {
  return has(name) ? values_->at(name).get<bool>() : fallback;
}
bool attribute_table::is_text(const char* name) const { return has(name) && values_->at(name).is_string(); }
std::string attribute_table::text(const char* name, const char* fallback) const {
  return has(name) ? values_->at(name).get<std::string>() : fallback;
}
std::vector<index> attribute_table::integers(const char* name) const {
  return has(name) ? values_->at(name).get<std::vector<index>>() : std::vector<index>();
}
std::vector<double> attribute_table::numbers(const char* name) const {
  return has(name) ? values_->at(name).get<std::vector<double>>() : std::vector<double>();
}

case_list read_case_list(const std::filesystem::path& folder) {
  const nlohmann::json told = read_json(folder / "cases.json");
  case_list result;
  for (const auto& entry : told.at("cases"))
    result.entries.push_back({entry.at("name"), entry.at("op"), entry.at("family")});
  for (const auto& [dtype, allowed] : told.at("tolerance").items()) {
    result.tolerances[dtype] = {allowed.at("rtol"), allowed.at("atol")};
  }
  return result;
}

golden_case read_golden_case(const std::filesystem::path& folder) {
  const nlohmann::json told = read_json(folder / "case.json");
  const auto read = [&](const char* key) { return read_arrays(folder, told, key); };
  const bool is_training = told.at("op") == "train";
  array_table outputs_after = read("outputs_after");
  if (is_training) outputs_after["losses"] = array_of_numbers(told.at("losses").get<std::vector<float>>());
  return {.name = told.at("name"),
          .layer = told.at(is_training ? "network" : "op"),
          .attributes = attribute_table(told.at("attributes")),
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
