// tenon/io/safetensors.hpp: named tensors in one file, the format of safetensors.
// Eight bytes of length, a JSON header, then the elements of all tensors, little-endian and without holes.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <set>
#include <tenon/core/tensor.hpp>
#include <tenon/io/bytes.hpp>
#include <tenon/io/safetensors_header.hpp>
#include <tenon/io/write_bytes.hpp>

namespace tenon::io {

static_assert(std::endian::native == std::endian::little, "tenon: files are read on little-endian machines");

namespace detail {

/// The format's name of an element type.
template <dtype T>
constexpr const char* safetensors_dtype() {
  static_assert(!is_complex<T> || must_hold<T>, "tenon: safetensors files take no complex numbers; write both parts");
  if constexpr (std::is_same_v<T, bool>) return "BOOL";
  if constexpr (std::is_same_v<T, half>) return "F16";
  if constexpr (std::is_same_v<T, bfloat16>) return "BF16";
  if constexpr (std::is_same_v<T, float8_e4m3>) return "F8_E4M3";
  if constexpr (std::is_same_v<T, float8_e5m2>) return "F8_E5M2";
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? "F32" : "F64";
  constexpr const char* names[2][4] = {{"I8", "I16", "I32", "I64"}, {"U8", "U16", "U32", "U64"}};
  return names[std::is_unsigned_v<T> ? 1 : 0][std::bit_width(sizeof(T)) - 1];
}

/// Calls `body(std::type_identity<T>{})` with the element type of that name; false when there is none.
template <class Body>
bool with_safetensors_dtype(std::string_view name, Body&& body) {
  bool found = false;
  const auto attempt = [&]<class T>(std::type_identity<T> type) {
    if (!found && name == safetensors_dtype<T>()) found = true, body(type);
  };
  attempt(std::type_identity<float>{}), attempt(std::type_identity<double>{});
  attempt(std::type_identity<half>{}), attempt(std::type_identity<bfloat16>{}), attempt(std::type_identity<bool>{});
  attempt(std::type_identity<float8_e4m3>{}), attempt(std::type_identity<float8_e5m2>{});
  attempt(std::type_identity<std::int8_t>{}), attempt(std::type_identity<std::uint8_t>{});
  attempt(std::type_identity<std::int16_t>{}), attempt(std::type_identity<std::uint16_t>{});
  attempt(std::type_identity<std::int32_t>{}), attempt(std::type_identity<std::uint32_t>{});
  attempt(std::type_identity<std::int64_t>{}), attempt(std::type_identity<std::uint64_t>{});
  return found;
}

}  // namespace detail

/// A safetensors file. Opening it reads and checks all of it; `read` copies one tensor out. Its bytes may be in memory,
/// as those of a model that is part of the program: errors call them `name`.
/// throws    file_error when the file is truncated, its header is not what the format allows, tensors overlap, leave
///           holes, or do not have the bytes that their extents ask for, and where memory is too small
class safetensors_file {
 public:
  TENON_IF_CALLED explicit safetensors_file(const std::filesystem::path& path)
      : safetensors_file(path, read_bytes("safetensors", path)) {}
  TENON_IF_CALLED explicit safetensors_file(std::span<const std::uint8_t> content, const char* name = "bytes in memory")
      : safetensors_file(std::filesystem::path(name), {content.begin(), content.end()}) {}

  const std::filesystem::path& path() const { return path_; }
  TENON_IF_CALLED std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [name, entry] : header_.tensors) result.push_back(name);
    return result;
  }
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  TENON_IF_CALLED bool contains(const std::string& name) const { return header_.tensors.contains(name); }
  const std::vector<index>& extents(const std::string& name) const { return entry(name).extents; }
  const std::string& dtype(const std::string& name) const { return entry(name).dtype; }

  /// Whether a tensor has exactly these extents.
  template <shape_type Shape>
  bool fits(const std::string& name, const Shape& shape) const {
    const auto expected = shape.to_array();
    return std::equal(expected.begin(), expected.end(), extents(name).begin(), extents(name).end());
  }
  /// Reads a tensor into elements of the same extents, converting its element type; the same type keeps every bit. The
  /// bytes of a bool are true where they are not 0, as for NumPy and PyTorch.
  /// throws    file_error when there is no such tensor or it has other extents
  template <class T, shape_type Shape, memory_space Space>
    requires std::is_same_v<statement_space<Space>, host>
  void read(const std::string& name, tensor<T, Shape, Space>& into) const {
    if (!fits(name, into.shape())) {
      refuse_file(compose_text(name, ": extents ", extents(name), ", expected ", into.shape().to_array()));
    }
    const std::uint8_t* from = bytes_.data() + data_ + entry(name).begin;
    detail::with_safetensors_dtype(entry(name).dtype, [&]<class U>(std::type_identity<U>) {
      for (index i = 0; i < into.size(); ++i) {
        const auto element = element_of<U>(from + static_cast<std::size_t>(i) * sizeof(U));
        if constexpr (std::is_same_v<T, U>) into.data()[i] = element;
        else into.data()[i] = static_cast<T>(converted_to<compute_type<T>>(element));
      }
    });
  }

 private:
  TENON_IF_CALLED safetensors_file(const std::filesystem::path& path, std::vector<std::uint8_t>&& content)
      : path_(path), bytes_(std::move(content)) {
    if (bytes_.size() < 8) refuse_file("fewer than 8 bytes; is it truncated?");
    const std::uint64_t length = little_endian<8>(bytes_);
    if (length > bytes_.size() - 8) {
      if (bytes_[0] == 'P' && bytes_[1] == 'K') {
        refuse_file(
            "no safetensors file, but a zip file, as of torch.save; safetensors.torch.save_file writes this one");
      }
      if (bytes_.size() > 8 && bytes_[8] != '{') refuse_file("no safetensors file: its header does not begin with {");
      refuse_file(
          compose_text("a header of ", length, " bytes, expected at most ", bytes_.size() - 8, "; is it truncated?"));
    }
    data_ = 8 + static_cast<std::size_t>(length);
    within_memory("safetensors", path_, length, [&] {
      read_header();
      check_layout();
    });
  }

  TENON_IF_CALLED [[noreturn]] void refuse_file(const std::string& fact) const { refuse("safetensors", path_, fact); }
  TENON_IF_CALLED const safetensors_entry& entry(const std::string& name) const {
    const auto found = header_.tensors.find(name);
    if (found == header_.tensors.end()) refuse_file("there is no tensor " + name);
    return found->second;
  }
  TENON_IF_CALLED void read_header() {
    try {
      header_ = safetensors_header_parser({reinterpret_cast<const char*>(bytes_.data()) + 8, data_ - 8}).parse();
    } catch (const file_error& failure) {
      refuse_file(failure.what());
    }
  }
  TENON_IF_CALLED void check_layout() const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces;
    for (const auto& named : header_.tensors) {  // by one name: clang 19 crashes where a lambda of a header that was
      const auto& piece = named.second;          // precompiled captures structured bindings
      const bool known = detail::with_safetensors_dtype(piece.dtype, [&]<class U>(std::type_identity<U>) {
        const std::uint64_t expected = bytes_of_elements("safetensors", path_, piece.extents, sizeof(U));
        if (piece.end < piece.begin || piece.end - piece.begin != expected) {
          refuse_file(compose_text(named.first, ": data_offsets ", piece.begin, " to ", piece.end, ", expected ",
                                   expected, " bytes for extents ", piece.extents, " of ", piece.dtype));
        }
      });
      if (!known) refuse_file(named.first + ": dtype " + piece.dtype + " is not known");
      pieces.emplace_back(piece.begin, piece.end);
    }
    std::sort(pieces.begin(), pieces.end());
    std::uint64_t covered = 0;
    for (const auto& [begin, end] : pieces) {
      if (begin != covered)
        refuse_file(compose_text("its tensors overlap or leave a hole at byte ", covered, " of the data"));
      covered = end;
    }
    if (covered != bytes_.size() - data_) {
      refuse_file(compose_text(bytes_.size() - data_, " bytes of data, expected ", covered, "; is it truncated?"));
    }
  }

  std::filesystem::path path_;
  std::vector<std::uint8_t> bytes_;
  std::size_t data_ = 0;
  safetensors_header header_;
};

/// Collects named tensors and writes them as one file: `add(name, x)` copies the elements, `save(path)` writes all.
class safetensors_writer {
 public:
  /// throws    file_error when the name was added before, is reserved for the metadata, or is no UTF-8
  template <class T, shape_type Shape, memory_space Space>
    requires std::is_same_v<statement_space<Space>, host>
  void add(const std::string& name, const tensor<T, Shape, Space>& elements) {
    check_name(name);
    const std::size_t begin = data_.size(), bytes = static_cast<std::size_t>(elements.size()) * sizeof(T);
    data_.resize(begin + bytes);
    if (bytes != 0) std::memcpy(data_.data() + begin, elements.data(), bytes);
    std::string extents = compose_text(elements.shape().to_array());
    header_ +=
        compose_text(header_.empty() ? "" : ",", quoted_json(name), ":{\"dtype\":\"", detail::safetensors_dtype<T>(),
                     "\",\"shape\":", extents, ",\"data_offsets\":[", begin, ",", begin + bytes, "]}");
  }
  /// throws    file_error
  TENON_IF_CALLED void save(const std::filesystem::path& path) const {
    std::string header = "{" + header_ + "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    std::uint8_t length[8];
    for (int i = 0; i < 8; ++i) length[i] = static_cast<std::uint8_t>(header.size() >> (8 * i) & 0xff);
    const std::span<const std::uint8_t> parts[] = {
        length, {reinterpret_cast<const std::uint8_t*>(header.data()), header.size()}, data_};
    write_bytes("safetensors", path, parts);
  }

 private:
  TENON_IF_CALLED void check_name(const std::string& name) {
    const auto refuse_name = [&](const char* fact) {
      throw file_error(compose_text("safetensors: tensor ", name, ": ", fact));
    };
    if (name == metadata_name) refuse_name("this name is reserved for the metadata");
    for (std::size_t at = 0, length = 0; at < name.size(); at += length) {
      length = character_at(name, at).length;
      if (length == 0) refuse_name("the name is no UTF-8");
    }
    if (!names_.insert(name).second) refuse_name("the name was added before");
  }

  std::set<std::string> names_;
  std::string header_;
  std::vector<std::uint8_t> data_;
};

}  // namespace tenon::io
