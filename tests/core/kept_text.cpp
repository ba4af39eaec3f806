// tests/core/kept_text.cpp: texts that checkpoints keep.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/kept_text.hpp>

#include "support/spaces.hpp"
#include "support/text_of.hpp"

TEMPLATE_LIST_TEST_CASE("a kept text is used as a tensor of its bytes", "[kept_text]", tenon_test::spaces) {
  using tenon::host;
  const tenon::kept_text name("adam"), other("lamb"), none("");
  CHECK(name.text() == "adam");
  CHECK(name.size() == 4);
  CHECK(name.shape().extent(0) == 4);
  CHECK_FALSE(name.is_needed());
  const auto bytes = name.to<TestType>().template to<host>();
  CHECK(std::string(bytes.data(), bytes.data() + bytes.size()) == "adam");
  CHECK(none.to<TestType>().size() == 0);
  name.copy_from(bytes), none.copy_from(none.to<host>());
  const std::string refused = "kept_text: adam, expected lamb";
  CHECK(tenon_test::text_of<tenon::error>([&] { other.copy_from(bytes); }) == refused);
  CHECK(tenon_test::text_of<tenon::error>([&] { none.copy_from(bytes); }) == "kept_text: adam, expected ");
}
