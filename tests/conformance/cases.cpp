// tests/conformance/cases.cpp: JSON and NPY files of the cases.
// The only file of the runner that parses.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/cases.hpp"

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tenon/io/npy.hpp>

namespace conformance {

namespace {

/// The element type that a file of elements of `dtype` has.
std::string file_descr(const std::string& dtype) {
  if (dtype == "bfloat16") return tn::io::detail::npy_descr<std::uint16_t>();
  return with_type(integer_types + type_list<float, double, tn::half, bool>{}, dtype,
                   []<class T>() { return tn::io::detail::npy_descr<T>(); });
}

std::vector<std::optional<array>> read_arrays(const std::filesystem::path& folder, const nlohmann::json& told) {
  std::vector<std::optional<array>> result;
  for (const auto& tensor : told) {
    result.push_back(tensor.is_null() ? std::nullopt : std::optional(read_array(folder, tensor)));
  }
  return result;
}

/// The elements of a tensor that stands in JSON itself.
array array_of_json(const nlohmann::json& tensor) {
  const std::string dtype = tensor.at("dtype");
  return with_type(all_types, dtype, [&]<class T>() {
    array result{dtype, tensor.at("shape").get<std::vector<index>>(), {}};
    for (const auto& value : tensor.at("data")) {
      const auto element = static_cast<T>(value.get<tn::compute_type<T>>());
      const auto* bytes = reinterpret_cast<const std::byte*>(&element);
      result.bytes.insert(result.bytes.end(), bytes, bytes + sizeof(T));
    }
    return result;
  });
}

}  // namespace

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
std::optional<array> attribute_table::tensor(const char* name) const {
  if (!has(name)) return std::nullopt;
  return array_of_json(values_->at(name));
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

test_case read_case(const std::filesystem::path& folder) {
  const nlohmann::json told = read_json(folder / "case.json");
  return {{attribute_table(told.at("attributes")), told.at("opset"), read_arrays(folder, told.at("inputs")),
           told.at("outputs").size()},
          read_arrays(folder, told.at("outputs")),
          told.value("random", false)};
}

}  // namespace conformance
