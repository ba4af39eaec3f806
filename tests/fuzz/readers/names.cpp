// tests/fuzz/readers/names.cpp: attacks on the reader of named tensors, and on its header alone.
// Names come back whatever characters they have, elements with the same bits.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/safetensors.hpp>

#include "fuzz/readers/damage.hpp"
#include "support/stored_archive.hpp"

namespace fuzz {

namespace {

namespace io = tenon::io;
using tenon::rank;

constexpr const char* dtypes[] = {"F32", "F64", "F16", "BF16", "BOOL", "F8_E4M3", "F8_E5M2", "I8",
                                  "U8",  "I16", "U16", "I32",  "U32",  "I64",     "U64"};
constexpr std::size_t sizes_of_dtypes[] = {4, 8, 2, 2, 1, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8};
constexpr const char* names_of_tensors[] = {"0.weight", "0.bias",   "a\\nb", "\\ud83d\\ude00", "\xf0\x9f\x98\x80",
                                            "",         "\\\"\\\\", "x y",   "\\u0000",        "__metadata"};

/// A header of some tensors, and how many bytes of data it asks for.
std::string make_header(random_source& random, std::size_t& size) {
  const char* const space = once_in(4, random) ? " \n" : "";
  std::string header = "{";
  if (once_in(3, random)) header += R"("__metadata__":{"format":"pt","":"\u00e9"},)";
  for (auto count = random.below(4); count > 0; --count) {
    const auto type = static_cast<std::size_t>(random.below(std::size(dtypes)));
    std::size_t elements = 1;
    std::string shape;
    const auto axes = once_in(4, random) ? random.below(4) : 1;
    for (std::int64_t axis = 0; axis < axes; ++axis) {
      const auto extent = random.below(5);
      elements *= static_cast<std::size_t>(extent);
      shape += (axis == 0 ? "" : ",") + std::to_string(extent);
    }
    const std::size_t end = size + elements * sizes_of_dtypes[type];
    header +=
        tenon::compose_text("\"", one_of(names_of_tensors, random), "\"", space, ":", space, R"({"dtype":")",
                            dtypes[type], R"(","shape":[)", shape, R"(],"data_offsets":[)", size, ",", end, "]},");
    size = end;
  }
  if (header.back() == ',') header.pop_back();
  return header + "}";
}

bytes make_header_alone(random_source& random) {
  std::size_t size = 0;
  return tenon_test::bytes_of(make_header(random, size));
}

void check_header(const std::filesystem::path&, const bytes& content) {
  const auto parse = [](std::string_view text) { return io::safetensors_header_parser(text).parse(); };
  const auto read = parse({reinterpret_cast<const char*>(content.data()), content.size()});
  std::string again = "{\"__metadata__\":{";
  for (const auto& [key, value] : read.metadata) {
    again += (again.back() == '{' ? "" : ",") + io::quoted_json(key) + ":" + io::quoted_json(value);
  }
  again += "}";
  for (const auto& [name, entry] : read.tensors) {
    again +=
        tenon::compose_text(",", io::quoted_json(name), R"(:{"dtype":)", io::quoted_json(entry.dtype), R"(,"shape":)",
                            entry.extents, R"(,"data_offsets":[)", entry.begin, ",", entry.end, "]}");
  }
  const auto second = parse(again + "}");
  must_hold(second.metadata == read.metadata && second.tensors.size() == read.tensors.size(), "other names come back");
  for (const auto& [name, entry] : read.tensors) {
    const auto& found = second.tensors.at(name);
    must_hold(found.dtype == entry.dtype && found.extents == entry.extents && found.begin == entry.begin &&
                  found.end == entry.end,
              "another entry comes back");
  }
}

/// A file whose header may be damaged before its length is written.
bytes make_safetensors(random_source& random) {
  std::size_t size = 0;
  bytes header = tenon_test::bytes_of(make_header(random, size)), content;
  if (once_in(3, random)) header = damaged(std::move(header), random);
  tenon_test::append_number(content, header.size(), 8);
  content = tenon_test::joined(content, header);
  for (std::size_t i = 0; i < size; ++i) content.push_back(static_cast<std::uint8_t>(random.bits()));
  return content;
}

/// The tensor of this name in its own type, which goes to a writer, and as floats.
template <class T>
void check_tensor(const io::safetensors_file& file, const std::string& name, io::safetensors_writer& writer) {
  tenon::tensor<T, rank<1>> own({file.extents(name)[0]});
  tenon::tensor<float, rank<1>> floats({own.size()});
  file.read(name, own), file.read(name, floats);
  for (tenon::index i = 0; i < own.size(); ++i) {
    const auto expected = tenon::converted_to<float>(own(i));
    must_hold(floats(i) == expected || floats(i) != floats(i), "another float is read");
  }
  writer.add(name, own);
}

template <class T>
void must_come_back(const io::safetensors_file& first, const io::safetensors_file& second, const std::string& name) {
  tenon::tensor<T, rank<1>> one({first.extents(name)[0]}), other({one.size()});
  first.read(name, one), second.read(name, other);
  const auto size = static_cast<std::size_t>(one.size()) * sizeof(T);
  must_hold(size == 0 || std::memcmp(one.data(), other.data(), size) == 0, "other elements come back");
}

void check_safetensors(const std::filesystem::path& path, const bytes&) {
  static const memory_file again("again.safetensors");
  const io::safetensors_file file(path);
  io::safetensors_writer writer;
  std::vector<std::string> names;
  for (const auto& name : file.names()) {
    if (file.extents(name).size() != 1) continue;
    names.push_back(name);
    io::detail::with_safetensors_dtype(file.dtype(name),
                                       [&]<class T>(std::type_identity<T>) { check_tensor<T>(file, name, writer); });
  }
  writer.save(again.path);
  const io::safetensors_file second(again.path);
  must_hold(second.names() == names, "other names come back");
  for (const auto& name : names) {
    io::detail::with_safetensors_dtype(file.dtype(name),
                                       [&]<class T>(std::type_identity<T>) { must_come_back<T>(file, second, name); });
  }
}

void repair_safetensors(bytes& content) {
  const auto end = std::find(content.rbegin(), content.rend(), std::uint8_t{'}'}).base() - content.begin();
  for (int i = 0; end > 8 && i < 8; ++i)
    content[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>((end - 8) >> (8 * i) & 0xff);
}

}  // namespace

std::vector<format> named_formats() {
  return {{"safetensors", make_safetensors, check_safetensors, repair_safetensors},
          {"safetensors_header", make_header_alone, check_header}};
}

}  // namespace fuzz
