// tenon/io/npy.hpp: NPY files, NumPy's format of one array.
// A magic number, a version, a header that is a Python literal, then the elements; C and Fortran order are both read.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <string_view>
#include <tenon/core/tensor.hpp>
#include <tenon/io/bytes.hpp>
#include <tenon/io/write_bytes.hpp>

namespace tenon::io {

namespace detail {

/// NumPy's name of a little-endian element type.
template <dtype T>
std::string npy_descr() {
  static_assert(!std::is_same_v<T, bfloat16> && !is_float8<T>,
                "tenon: NumPy has no bfloat16 and no floats of 8 bits; cast to float first");
  const char real_kind = std::is_same_v<T, bool> ? 'b' : is_floating<T> ? 'f' : std::is_unsigned_v<T> ? 'u' : 'i';
  const char kind = is_complex<T> ? 'c' : real_kind;
  return compose_text(sizeof(T) == 1 ? "|" : "<", std::string(1, kind), sizeof(T));
}

/// Reads the dictionary of a header.
class npy_header {
 public:
  npy_header(const std::filesystem::path& path, std::string_view text) : path_(path), text_(text) {}

  std::string_view descr() const {
    const std::string_view rest = value_of("descr");
    const auto end = rest.size() > 1 && rest[0] == '\'' ? rest.find('\'', 1) : std::string_view::npos;
    if (end == std::string_view::npos) refuse_header("descr");
    return rest.substr(1, end - 1);
  }
  bool is_fortran_order() const {
    const std::string_view rest = value_of("fortran_order");
    if (!rest.starts_with("True") && !rest.starts_with("False")) refuse_header("fortran_order");
    return rest[0] == 'T';
  }
  std::vector<index> extents() const {
    std::string_view rest = value_of("shape");
    const auto end = rest.find(')');
    if (end == std::string_view::npos || rest[0] != '(') refuse_header("shape");
    rest = rest.substr(1, end - 1);
    std::vector<index> result;
    while (rest.find_first_not_of(" ,") != std::string_view::npos) {
      rest.remove_prefix(rest.find_first_not_of(" ,"));
      index extent = -1;
      const auto [stop, status] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
      if (status != std::errc{} || extent < 0) refuse_header("shape");
      result.push_back(extent);
      rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
    }
    return result;
  }

 private:
  [[noreturn]] void refuse_header(const char* key) const {
    refuse("read_npy", path_, compose_text("its header has no valid ", key));
  }
  std::string_view value_of(const char* key) const {
    const std::string quoted = compose_text("'", key, "':");
    const auto found = text_.find(quoted);
    if (found == std::string_view::npos) refuse_header(key);
    const auto first = text_.find_first_not_of(' ', found + quoted.size());
    if (first == std::string_view::npos) refuse_header(key);
    return text_.substr(first);
  }

  const std::filesystem::path& path_;
  std::string_view text_;
};

/// Where header and elements of a file begin.
struct npy_layout {
  std::size_t header, elements;
};

inline npy_layout layout_of_npy(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  constexpr std::array<std::uint8_t, 6> magic{0x93, 'N', 'U', 'M', 'P', 'Y'};
  if (bytes.size() < 10 || !std::equal(magic.begin(), magic.end(), bytes.begin())) {
    refuse("read_npy", path, "it does not start as an NPY file does");
  }
  if (bytes[6] < 1 || bytes[6] > 3)
    refuse("read_npy", path, compose_text("version ", int{bytes[6]}, ", expected 1 to 3"));
  if (bytes[6] != 1 && bytes.size() < 12) refuse("read_npy", path, "its header is truncated");
  const std::size_t header = bytes[6] == 1 ? 10 : 12;
  const std::uint64_t length = bytes[6] == 1 ? little_endian<2>(bytes.subspan(8)) : little_endian<4>(bytes.subspan(8));
  if (length > bytes.size() - header) {
    refuse(
        "read_npy", path,
        compose_text("a header of ", length, " bytes, expected at most ", bytes.size() - header, "; is it truncated?"));
  }
  return {header, header + static_cast<std::size_t>(length)};
}

/// The extents of a header, which must ask for exactly as many elements as the file has.
template <dtype T, int Rank>
array<index, Rank> checked_extents(const std::filesystem::path& path, const npy_header& header, std::size_t present) {
  const std::string expected_descr = npy_descr<T>();
  if (header.descr() != expected_descr) {
    refuse("read_npy", path, compose_text("elements ", header.descr(), ", expected ", expected_descr));
  }
  const auto listed = header.extents();
  if (static_cast<int>(listed.size()) != Rank) {
    refuse("read_npy", path, compose_text(listed.size(), " axes, expected ", Rank, " (extents ", listed, ")"));
  }
  array<index, Rank> extents{};
  for (int axis = 0; axis < Rank; ++axis) extents[axis] = listed[static_cast<std::size_t>(axis)];
  const std::uint64_t bytes = bytes_of_elements("read_npy", path, listed, sizeof(T));
  if (bytes != present) {
    refuse("read_npy", path,
           compose_text(present, " bytes of elements, expected ", bytes, " (extents ", listed, ")",
                        present < bytes ? "; is it truncated?" : ""));
  }
  return extents;
}

/// Parses an NPY file's bytes; `path` is for messages.
template <dtype T, int Rank>
tensor<T, rank<Rank>> parse_npy(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  static_assert(std::endian::native == std::endian::little, "tenon: files are read on little-endian machines");
  const auto [begin, elements] = layout_of_npy(path, bytes);
  const npy_header header(path, {reinterpret_cast<const char*>(bytes.data()) + begin, elements - begin});
  const auto extents = checked_extents<T, Rank>(path, header, bytes.size() - elements);
  tensor<T, rank<Rank>> result{rank<Rank>(extents)};
  if (!std::is_same_v<T, bool> && !header.is_fortran_order()) {
    if (result.size() != 0)
      std::memcpy(static_cast<void*>(result.data()), bytes.data() + elements, bytes.size() - elements);
    return result;
  }
  const auto strides = header.is_fortran_order() ? column_major_strides(extents) : row_major_strides(extents);
  for (index i = 0; i < result.size(); ++i) {
    index rest = i, from = 0;
    for (int axis = Rank - 1; axis >= 0; rest /= extents[axis], --axis) from += rest % extents[axis] * strides[axis];
    result.data()[i] = element_of<T>(bytes.data() + elements + static_cast<std::size_t>(from) * sizeof(T));
  }
  return result;
}

/// What stands before the elements of a file, in C order: version 1.0.
template <dtype T, int Rank>
std::vector<std::uint8_t> npy_header_of(const array<index, Rank>& extents) {
  std::string shape;
  for (const index extent : extents) shape += compose_text(extent, ", ");
  std::string text =
      compose_text("{'descr': '", npy_descr<T>(), "', 'fortran_order': False, 'shape': (", shape, "), }");
  text.resize((text.size() + 1 + 10 + 63) / 64 * 64 - 10 - 1, ' ');
  text += '\n';
  std::vector<std::uint8_t> result{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  append_little_endian<2>(result, text.size());
  result.insert(result.end(), text.begin(), text.end());
  return result;
}

/// The elements of a tensor where they lie.
template <class T, shape_type Shape, memory_space Space>
std::span<const std::uint8_t> bytes_of(const tensor<T, Shape, Space>& elements) {
  return {reinterpret_cast<const std::uint8_t*>(elements.data()),
          static_cast<std::size_t>(elements.size()) * sizeof(T)};
}

}  // namespace detail

/// Reads an NPY file of little-endian elements `T` with `Rank` axes, in C or Fortran order.
/// throws    file_error when the file is missing, of another element type or rank, truncated or too long, or memory is
///           too small; nothing is allocated for a header that contradicts the size of the file
/// source    NumPy Enhancement Proposal 1, versions 1.0 to 3.0
/// example   const auto x = io::read_npy<float, 2>("x.npy");
template <dtype T, int Rank>
tensor<T, rank<Rank>> read_npy(const std::filesystem::path& path) {
  const auto bytes = read_bytes("read_npy", path);
  return within_memory("read_npy", path, bytes.size(), [&] { return detail::parse_npy<T, Rank>(path, bytes); });
}

/// Writes a tensor of the host as an NPY file, version 1.0. A file of this name is replaced whole.
/// throws    file_error when the file cannot be written
/// example   io::write_npy("x.npy", x);
template <class T, shape_type Shape, memory_space Space>
  requires std::is_same_v<statement_space<Space>, host>
void write_npy(const std::filesystem::path& path, const tensor<T, Shape, Space>& elements) {
  const auto header = detail::npy_header_of<T>(elements.shape().to_array());
  const std::array<std::span<const std::uint8_t>, 2> parts{header, detail::bytes_of(elements)};
  write_bytes("write_npy", path, parts);
}
/// The same of the values of a view or an expression.
template <class T, shape_type Shape>
void write_npy(const std::filesystem::path& path, const view<T, Shape, host>& elements) {
  write_npy(path, tensor<std::remove_const_t<T>, Shape>(elements));
}
template <expression_node Expression>
void write_npy(const std::filesystem::path& path, const Expression& expression) {
  write_npy(path, tensor<typename Expression::element, typename Expression::shape_type>(expression));
}

}  // namespace tenon::io
