// tests/conformance/runner.cpp: one case after the other.
// What an operation throws is the difference that its case reports.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner.hpp"

#include <ostream>
#include <set>

namespace conformance {

namespace {

/// A random case is a dropout: what must hold, whichever elements are left out.
std::string dropout_complaint(const call& from, const array_list& actual) {
  const double ratio = from.has(1) ? *from.input(1).elements<float>() : 0.5;
  return dropout_difference(actual.at(0), from.outputs > 1 ? &actual.at(1) : nullptr, from.input(0), 1 / (1 - ratio));
}

/// What is wrong with a case; empty when nothing is.
std::string complaint_about(const test_case& given, const operation& apply, const tolerance_table& tolerances) {
  const array_list actual = apply(given.application);
  if (given.is_random) return dropout_complaint(given.application, actual);
  for (std::size_t i = 0; i < given.expected.size(); ++i) {
    if (!given.expected[i]) continue;
    if (i >= actual.size()) return tn::compose_text("output ", i, " is absent");
    const std::string text = difference(actual[i], *given.expected[i], tolerances);
    if (!text.empty()) return tn::compose_text("output ", i, ": ", text);
  }
  return {};
}

std::string complaint_about(const std::filesystem::path& folder, const operation& apply,
                            const tolerance_table& tolerances) {
  try {
    return complaint_about(read_case(folder), apply, tolerances);
  } catch (const std::exception& thrown) {
    return thrown.what();
  }
}

bool is_selected(const case_entry& entry, const selection& selected) {
  return (selected.operation.empty() || selected.operation == entry.operation) &&
         (selected.family.empty() || selected.family == entry.family);
}

}  // namespace

operation moving(bool (*is_moved)(std::size_t), operation apply) {
  return [=](call from) {
    const std::string dtype = from.input(0).dtype, bits = bits_name(dtype);
    for (std::size_t i = 0; i < from.inputs.size(); ++i) {
      if (is_moved(i) && from.inputs[i]) from.inputs[i]->dtype = bits_name(from.inputs[i]->dtype);
    }
    array_list results = apply(from);
    for (array& each : results) {
      if (each.dtype == bits) each.dtype = dtype;
    }
    return results;
  };
}

summary run(const selection& selected, const operation_table& table, std::ostream& report) {
  const case_list cases = read_case_list(selected.folder);
  summary counts;
  std::set<std::string> unknown;
  for (const auto& entry : cases.entries) {
    if (!is_selected(entry, selected)) continue;
    const auto found = table.find(entry.operation);
    if (found == table.end()) {
      unknown.insert(entry.operation);
      counts.skipped += 1;
      continue;
    }
    const std::string complaint = complaint_about(selected.folder / entry.name, found->second, cases.tolerances);
    (complaint.empty() ? counts.passed : counts.failed) += 1;
    if (!complaint.empty()) report << entry.name << " (" << entry.operation << "): " << complaint << '\n';
  }
  if (!unknown.empty()) {
    report << "operations not known:";
    for (const auto& name : unknown) report << ' ' << name;
    report << '\n';
  }
  report << counts.passed << " passed, " << counts.failed << " failed, " << counts.skipped << " skipped\n";
  return counts;
}

}  // namespace conformance
