// tests/io/safetensors.cpp: files of named tensors, good ones and bad ones.
// Offsets must tile the data exactly; whatever leaves a hole, overlaps or promises more is refused.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/safetensors.hpp>

#include "support/scratch_file.hpp"
#include "support/shared_dir.hpp"
#include "support/text_of.hpp"

namespace io = tenon::io;
using tenon::rank;
using tenon_test::bytes;
using tenon_test::has;
using tenon_test::scratch_file;

namespace {

/// A file with this header before `size` bytes of data.
bytes file_of(const std::string& header, std::size_t size) {
  bytes content;
  for (int i = 0; i < 8; ++i) content.push_back(static_cast<std::uint8_t>(header.size() >> (8 * i) & 0xff));
  content = tenon_test::joined(content, tenon_test::bytes_of(header));
  content.resize(content.size() + size);
  return content;
}

std::string entry(const std::string& dtype, const std::string& shape, int begin, int end) {
  return tenon::compose_text(R"({"dtype":")", dtype, R"(","shape":)", shape, R"(,"data_offsets":[)", begin, ",", end,
                             "]}");
}

std::string refusal_of(const bytes& content) {
  const scratch_file file("refused.safetensors");
  file.write(content);
  return tenon_test::text_of<tenon::file_error>([&] { const io::safetensors_file refused(file.path); });
}

template <class T>
void check_round_trip() {
  const scratch_file file("round.safetensors");
  const tenon::tensor<T, rank<2>> x(
      {2, 2}, {static_cast<T>(1.0f), static_cast<T>(0.0f), static_cast<T>(1.0f), static_cast<T>(1.0f)});
  io::safetensors_writer writer;
  writer.add("x", x);
  writer.save(file.path);
  tenon::tensor<T, rank<2>> y({2, 2});
  io::safetensors_file(file.path).read("x", y);
  for (int i = 0; i < 4; ++i) CHECK(x.data()[i] == y.data()[i]);
}

}  // namespace

TEMPLATE_TEST_CASE("elements of every type go out and in", "[safetensors]", float, double, tenon::half, tenon::bfloat16,
                   tenon::float8_e4m3, tenon::float8_e5m2, bool, std::int8_t, std::uint8_t, std::int16_t, std::int32_t,
                   std::uint32_t, std::int64_t) {
  check_round_trip<TestType>();
}

TEST_CASE("a file tells names, types and extents, and converts on reading", "[safetensors]") {
  const scratch_file file("several.safetensors");
  io::safetensors_writer writer;
  writer.add("w", tenon::tensor<double, rank<2>>({1, 3}, {1.5, -2, 3}));
  writer.add("b", tenon::tensor<std::int32_t, rank<1>>({2}, {7, -8}));
  writer.add("none", tenon::tensor<float, rank<2>>({0, 5}));
  writer.save(file.path);
  const io::safetensors_file opened(file.path);
  CHECK(opened.names() == std::vector<std::string>{"b", "none", "w"});
  CHECK(opened.dtype("w") == "F64");
  CHECK(opened.extents("none") == std::vector<tenon::index>{0, 5});
  CHECK(opened.contains("b"));
  CHECK(!opened.contains("c"));
  tenon::tensor<float, rank<2>> w({1, 3});
  opened.read("w", w);
  CHECK(w(0, 1) == -2.0f);
  tenon::tensor<float, rank<1>> wrong({3});
  CHECK(has(tenon_test::text_of<tenon::file_error>([&] { opened.read("b", wrong); }), "b: extents [2], expected [3]"));
  CHECK(has(tenon_test::text_of<tenon::file_error>([&] { opened.read("c", wrong); }), "there is no tensor c"));
}

TEST_CASE("names that can be read are written, others refused", "[safetensors]") {
  const tenon::tensor<float, rank<1>> x({1}, {1});
  const std::vector<std::string> names{"x", "a\"b\\", "two\nlines", "\xf0\x9f\x98\x80", ""};
  io::safetensors_writer writer;
  for (const auto& name : names) writer.add(name, x);
  const scratch_file file("names.safetensors");
  writer.save(file.path);
  const io::safetensors_file opened(file.path);
  CHECK(opened.names().size() == names.size());
  for (const auto& name : names) CHECK(opened.contains(name));
  const auto refusal = [&](const std::string& name) {
    return tenon_test::text_of<tenon::file_error>([&] { writer.add(name, x); });
  };
  CHECK(refusal("x") == "safetensors: tensor x: the name was added before");
  CHECK(refusal("__metadata__") == "safetensors: tensor __metadata__: this name is reserved for the metadata");
  CHECK(has(refusal("a\xff"), "the name is no UTF-8"));
}

TEST_CASE("elements read as their own type keep every bit", "[safetensors]") {
  const scratch_file file("bits.safetensors");
  const auto check_bits = [&]<class T>(const std::string& name, const bytes& stored, std::type_identity<T>) {
    bytes content = file_of(
        "{\"x\":" +
            entry(name, tenon::compose_text("[", stored.size() / sizeof(T), "]"), 0, static_cast<int>(stored.size())) +
            "}",
        0);
    file.write(tenon_test::joined(content, stored));
    tenon::tensor<T, rank<1>> x({static_cast<tenon::index>(stored.size() / sizeof(T))});
    io::safetensors_file(file.path).read("x", x);
    CHECK(std::memcmp(x.data(), stored.data(), stored.size()) == 0);
  };
  bytes all(256);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(i);
  check_bits("F8_E5M2", all, std::type_identity<tenon::float8_e5m2>{});
  check_bits("F8_E4M3", all, std::type_identity<tenon::float8_e4m3>{});
  check_bits("F16", {0x01, 0x7c, 0x00, 0x7c}, std::type_identity<tenon::half>{});  // a NaN that signals, infinity
  check_bits("BF16", {0x81, 0x7f}, std::type_identity<tenon::bfloat16>{});
  check_bits("F32", {0x01, 0x00, 0x80, 0x7f}, std::type_identity<float>{});
  check_bits("F64", {1, 0, 0, 0, 0, 0, 0xf0, 0xff}, std::type_identity<double>{});
}

TEST_CASE("bools are true where their byte is not 0", "[safetensors]") {
  const scratch_file file("bools.safetensors");
  file.write(tenon_test::joined(file_of("{\"x\":" + entry("BOOL", "[3]", 0, 3) + "}", 0), {0, 2, 255}));
  const io::safetensors_file opened(file.path);
  tenon::tensor<bool, rank<1>> bools({3});
  tenon::tensor<float, rank<1>> floats({3});
  opened.read("x", bools), opened.read("x", floats);
  for (int i = 0; i < 3; ++i) {
    std::uint8_t byte = 7;
    std::memcpy(&byte, bools.data() + i, 1);
    CHECK(int{byte} == (i == 0 ? 0 : 1));
    CHECK(floats(i) == (i == 0 ? 0.0f : 1.0f));
  }
}

TEST_CASE("every truncation is refused", "[safetensors]") {
  const bytes good = file_of("{\"x\":" + entry("F32", "[2]", 0, 8) + "}", 8);
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK(!refusal_of(bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))).empty());
  }
  CHECK(has(refusal_of(tenon_test::joined(good, {0})), "9 bytes of data, expected 8"));
}

TEST_CASE("a file in memory is read as one on a disk, and errors tell its name", "[safetensors]") {
  const bytes content = tenon_test::joined(file_of("{\"x\":" + entry("I8", "[3]", 0, 3) + "}", 0), bytes{1, 2, 253});
  const io::safetensors_file file(content);
  tenon::tensor<int, rank<1>> x({3});
  file.read("x", x);
  CHECK((x(0) == 1 && x(1) == 2 && x(2) == -3));
  const auto refusal = [](const auto&... of) {
    return tenon_test::text_of<tenon::file_error>([&] { const io::safetensors_file refused(of...); });
  };
  const bytes cut(content.begin(), content.end() - 1);
  CHECK(refusal(cut) == "safetensors: bytes in memory: 2 bytes of data, expected 3; is it truncated?");
  CHECK(has(refusal(cut, "model"), "safetensors: model: 2 bytes"));
  CHECK(has(refusal(bytes{}), "fewer than 8 bytes"));
}

TEST_CASE("headers that lie are refused", "[safetensors]") {
  const auto refused = [](const std::string& tensors, std::size_t size) {
    return refusal_of(file_of("{" + tensors + "}", size));
  };
  CHECK(has(refused("\"x\":" + entry("F32", "[3]", 0, 8), 8), "expected 12 bytes for extents [3] of F32"));
  CHECK(has(refused("\"x\":" + entry("F32", "[2]", 8, 0), 8), "data_offsets 8 to 0"));
  CHECK(has(refused("\"x\":" + entry("F33", "[2]", 0, 8), 8), "dtype F33 is not known"));
  CHECK(has(refused("\"x\":" + entry("F32", "[1]", 0, 4) + ",\"y\":" + entry("F32", "[1]", 0, 4), 8), "overlap"));
  CHECK(has(refused("\"x\":" + entry("F32", "[1]", 4, 8), 8), "leave a hole at byte 0"));
  CHECK(has(refused("\"x\":" + entry("F32", "[4611686018427387904,4611686018427387904]", 0, 8), 8),
            "[4611686018427387904, 4611686018427387904] have more elements than can be counted"));
  const std::string far = "4611686018427387904";
  CHECK(has(refused("\"x\":" + entry("U8", "[0," + far + "," + far + "]", 0, 0), 0), "than can be counted"));
  bytes huge = file_of("{}", 0);
  for (std::size_t i = 0; i < 8; ++i) huge[i] = 0xff;
  CHECK(has(refusal_of(huge), "a header of 18446744073709551615 bytes, expected at most 2"));
  CHECK(has(refusal_of(tenon_test::bytes_of("loss,lr\n0.5,0.25\n")),
            "no safetensors file: its header does not begin with {"));
  CHECK(has(refusal_of(tenon_test::bytes_of("PK\3\4 of torch.save")), "safetensors.torch.save_file writes this one"));
}

TEST_CASE("PyTorch's own file is read", "[safetensors]") {
  const auto path = tenon_test::shared_path("golden/network_simple_cnn/model.safetensors");
  if (!path) return;
  const io::safetensors_file file(*path);
  CHECK(file.extents("conv1.weight") == std::vector<tenon::index>{32, 3, 3, 3});
  CHECK(file.dtype("fc2.bias") == "F32");
}
