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

TEST_CASE("a name is written once and holds no quote", "[safetensors]") {
  io::safetensors_writer writer;
  writer.add("x", tenon::tensor<float, rank<1>>({1}));
  CHECK_THROWS_AS(writer.add("x", tenon::tensor<float, rank<1>>({1})), tenon::file_error);
  CHECK_THROWS_AS(writer.add("a\"b", tenon::tensor<float, rank<1>>({1})), tenon::file_error);
}

TEST_CASE("every truncation is refused", "[safetensors]") {
  const bytes good = file_of("{\"x\":" + entry("F32", "[2]", 0, 8) + "}", 8);
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK(!refusal_of(bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))).empty());
  }
  CHECK(has(refusal_of(tenon_test::joined(good, {0})), "9 bytes of data, expected 8"));
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
            "expected 18446744073709551615"));
  bytes huge = file_of("{}", 0);
  for (std::size_t i = 0; i < 8; ++i) huge[i] = 0xff;
  CHECK(has(refusal_of(huge), "a header of 18446744073709551615 bytes, expected at most 2"));
}

TEST_CASE("PyTorch's own file is read", "[safetensors]") {
  const auto path = tenon_test::shared_path("golden/network_simple_cnn/model.safetensors");
  if (!path) return;
  const io::safetensors_file file(*path);
  CHECK(file.extents("conv1.weight") == std::vector<tenon::index>{32, 3, 3, 3});
  CHECK(file.dtype("fc2.bias") == "F32");
}
