// tests/device/instruction_text.cpp: the parts of instruction names.
// That the assembler takes the whole names is seen where tests/device/fragment.cpp is compiled as CUDA.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/instruction_text.hpp>

#include <string>
#include <tenon/device/fragment.hpp>

#include "support/catch.hpp"

TEST_CASE("roles, layouts, shapes and types have their instruction's names", "[device]") {
  using namespace tenon::detail;
  using left = tenon::emulated_fragment<tenon::matrix_a, 16, 16, 8, tenon::tf32, tenon::column_major>;
  CHECK(std::string(role_text<left::role>::text) == "a");
  CHECK(std::string(role_text<tenon::matrix_b>::text) == "b");
  CHECK(std::string(role_text<tenon::accumulator>::text) == "c");
  CHECK(std::string(layout_text<left::layout>::text) == "col");
  CHECK(std::string(layout_text<tenon::row_major>::text) == "row");
  CHECK(std::string(shape_text<left>::text) == "m16n16k8");
  CHECK(std::string(element_text<left::element>::product) == "f32.tf32.tf32.f32");
  CHECK(std::string(element_text<std::int8_t>::product) == "s32.s8.s8.s32");
}
