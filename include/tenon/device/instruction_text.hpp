// tenon/device/instruction_text.hpp: what matrix instructions call roles, layouts, shapes and element types.
// Inline assembly takes parts of a name as arrays of characters, so one statement serves all types of a size.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/primitives.hpp>

namespace tenon::detail {

struct text_a {
  static constexpr char text[] = "a";
};
struct text_b {
  static constexpr char text[] = "b";
};
struct text_c {
  static constexpr char text[] = "c";
};
struct text_row {
  static constexpr char text[] = "row";
};
struct text_column {
  static constexpr char text[] = "col";
};
struct text_16_16_16 {
  static constexpr char text[] = "m16n16k16";
};
struct text_16_16_8 {
  static constexpr char text[] = "m16n16k8";
};
struct text_8_8_4 {
  static constexpr char text[] = "m8n8k4";
};

/// What instructions call an element type, and the types of a product of it.
template <class T>
struct element_text;
template <>
struct element_text<half> {
  static constexpr char text[] = "f16", product[] = "f32.f32";
};
template <>
struct element_text<bfloat16> {
  static constexpr char text[] = "bf16", product[] = "f32.bf16.bf16.f32";
};
template <>
struct element_text<tf32> {
  static constexpr char text[] = "tf32", product[] = "f32.tf32.tf32.f32";
};
template <>
struct element_text<std::int8_t> {
  static constexpr char text[] = "s8", product[] = "s32.s8.s8.s32";
};
template <>
struct element_text<double> {
  static constexpr char text[] = "f64", product[] = "f64.f64.f64.f64";
};
template <>
struct element_text<float> {
  static constexpr char text[] = "f32";
};
template <>
struct element_text<std::int32_t> {
  static constexpr char text[] = "s32";
};

/// What instructions call a product of matrices that lanes hold by the documented layout: shape, layouts and types.
template <class T>
struct lane_product_text;
template <>
struct lane_product_text<half> {
  static constexpr char text[] = "m16n8k16.row.col.f32.f16.f16.f32";
};
template <>
struct lane_product_text<bfloat16> {
  static constexpr char text[] = "m16n8k16.row.col.f32.bf16.bf16.f32";
};
template <>
struct lane_product_text<tf32> {
  static constexpr char text[] = "m16n8k8.row.col.f32.tf32.tf32.f32";
};
template <>
struct lane_product_text<std::int8_t> {
  static constexpr char text[] = "m16n8k32.row.col.s32.s8.s8.s32";
};

/// What instructions call a product of a warpgroup: its depth and types.
template <class T>
struct warpgroup_text;
template <>
struct warpgroup_text<half> {
  static constexpr char text[] = "k16.f32.f16.f16";
};
template <>
struct warpgroup_text<bfloat16> {
  static constexpr char text[] = "k16.f32.bf16.bf16";
};
template <>
struct warpgroup_text<float8_e4m3> {
  static constexpr char text[] = "k32.f32.e4m3.e4m3";
};
template <>
struct warpgroup_text<float8_e5m2> {
  static constexpr char text[] = "k32.f32.e5m2.e5m2";
};
template <>
struct warpgroup_text<tf32> {
  static constexpr char text[] = "k8.f32.tf32.tf32";
};
template <>
struct warpgroup_text<std::int8_t> {
  static constexpr char text[] = "k32.s32.s8.s8";
};

/// What follows the operands of a warpgroup's product. Floats name their signs; elements of 16 bits also say which
/// operands have lines side by side.
template <bool Rows, bool Columns>
struct text_of_signs_and_orders {
  static constexpr char text[] = {
      ',', ' ', '1', ',', ' ', '1', ',', ' ', Rows ? '1' : '0', ',', ' ', Columns ? '1' : '0', '\0'};
};
struct text_of_signs {
  static constexpr char text[] = ", 1, 1";
};
struct text_of_nothing {
  static constexpr char text[] = "";
};

template <class Role>
using role_text = std::conditional_t<std::is_same_v<Role, matrix_a>, text_a,
                                     std::conditional_t<std::is_same_v<Role, matrix_b>, text_b, text_c>>;
template <class Layout>
using layout_text = std::conditional_t<std::is_same_v<Layout, row_major>, text_row, text_column>;
template <class Fragment>
using shape_text = std::conditional_t<Fragment::k == 16, text_16_16_16,
                                      std::conditional_t<Fragment::k == 8, text_16_16_8, text_8_8_4>>;

}  // namespace tenon::detail
