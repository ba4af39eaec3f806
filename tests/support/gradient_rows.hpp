// tests/support/gradient_rows.hpp: tables of gradients that were checked, by the names of what has them.
// tests/house/gradients.cpp reads the names: what the library offers and no row has is a fault.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>

#include "support/catch.hpp"

namespace tenon_test {

/// Names with blanks between them, and how their gradient differs from slopes: "" where it does not.
struct gradient_row {
  const char* names;
  std::string difference;
};

inline void check_rows(std::initializer_list<gradient_row> rows) {
  for (const gradient_row& row : rows) {
    INFO(row.names);
    CHECK(row.difference == "");
  }
}

}  // namespace tenon_test
