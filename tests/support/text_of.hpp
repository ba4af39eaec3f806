// tests/support/text_of.hpp: the text of the exception that some code throws.
// Error texts are part of the interface, so tests read them, and no base class may stand in for the promised type.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <typeinfo>

#include "support/catch.hpp"

namespace tenon_test {

/// The text of the exception that `body` throws; the test fails unless its type is exactly `Exception`.
template <class Exception, class Body>
std::string text_of(Body&& body) {
  try {
    body();
  } catch (const std::exception& caught) {
    INFO("thrown: " << typeid(caught).name() << ": " << caught.what());
    CHECK(typeid(caught) == typeid(Exception));
    return caught.what();
  }
  FAIL_CHECK("nothing was thrown, expected " << typeid(Exception).name());
  return {};
}

/// Whether `text` contains `part`.
inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace tenon_test
