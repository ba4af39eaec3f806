// tests/conformance/runner.hpp: runs the cases of a folder and tells what came of them.
// A case whose operation is not in the table is skipped, one that throws has failed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "conformance/cases.hpp"

namespace conformance {

/// Which cases to run; an empty text selects all.
struct selection {
  std::filesystem::path folder;
  std::string operation, family;
};

struct summary {
  int passed = 0, failed = 0, skipped = 0;
};

/// A line for each failing case and one for the operations that are not known, then the counts.
/// throws    file_error when the folder cannot be read
summary run(const selection& selected, const operation_table& table, std::ostream& report);

}  // namespace conformance
