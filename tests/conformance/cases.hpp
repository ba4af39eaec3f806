// tests/conformance/cases.hpp: a folder of cases, read.
// The format is that of the folder's own README.md: cases.json, and a folder with case.json and NPY files a case.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "conformance/compare.hpp"
#include "conformance/operations.hpp"

namespace conformance {

/// A line of cases.json.
struct case_entry {
  std::string name, operation, family;
};

struct case_list {
  std::vector<case_entry> entries;
  tolerance_table tolerances;
};

/// An operation applied to its inputs, and what must come out.
struct test_case {
  call application;
  std::vector<std::optional<array>> expected;
  bool is_random;  ///< the outputs hang on random numbers that are not those of the expected ones
};

/// throws    file_error when a file is missing or says nothing sensible
nlohmann::json read_json(const std::filesystem::path& path);
/// The elements of an NPY file in `folder`, whose file name, type and extents are `told`.
array read_array(const std::filesystem::path& folder, const nlohmann::json& told);
case_list read_case_list(const std::filesystem::path& folder);
test_case read_case(const std::filesystem::path& folder);

}  // namespace conformance
