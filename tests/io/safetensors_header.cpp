// tests/io/safetensors_header.cpp: the JSON that a header may hold, and nothing else.
// Each refusal names the character where the text stops being a header.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/safetensors_header.hpp>

#include "support/text_of.hpp"

namespace io = tenon::io;

namespace {

io::safetensors_header parse(std::string_view text) { return io::safetensors_header_parser(text).parse(); }

std::string refusal_of(std::string_view text) {
  return tenon_test::text_of<tenon::file_error>([&] { parse(text); });
}

const std::string written_entry = R"({"dtype":"F32","shape":[2,3],"data_offsets":[0,24]})";

}  // namespace

TEST_CASE("entries, metadata and spaces are read", "[safetensors_header]") {
  const auto header = parse(R"( { "__metadata__" : {"format":"pt"}, "a.weight": )" + written_entry + " }  ");
  REQUIRE(header.tensors.size() == 1);
  const auto& tensor = header.tensors.at("a.weight");
  CHECK(tensor.dtype == "F32");
  CHECK(tensor.extents == std::vector<tenon::index>{2, 3});
  CHECK(tensor.begin == 0);
  CHECK(tensor.end == 24);
  CHECK(header.metadata.at("format") == "pt");
  CHECK(parse("{}").tensors.empty());
  CHECK(parse(R"({"scalar":{"dtype":"I8","shape":[],"data_offsets":[0,1]}})").tensors.at("scalar").extents.empty());
}

TEST_CASE("escapes in names are resolved", "[safetensors_header]") {
  CHECK(parse(R"({"a\"\\\/\n":)" + written_entry + "}").tensors.contains("a\"\\/\n"));
  CHECK(parse(R"({"\u0041\u00e9\u20AC":)" + written_entry + "}").tensors.contains("A\u00e9\u20ac"));
  CHECK(parse(R"({"\ud83d\uDE00":)" + written_entry + "}").tensors.contains("\xf0\x9f\x98\x80"));
}

TEST_CASE("text that JSON would misread is quoted and comes back", "[safetensors_header]") {
  CHECK(io::quoted_json("a\"b\\c\n\x1f") == R"("a\"b\\c\u000a\u001f")");
  for (const std::string& name :
       {std::string("a\"\\\n"), std::string("\0\x1f\x7f", 3), std::string("\xf0\x9f\x98\x80")}) {
    CHECK(parse("{" + io::quoted_json(name) + ":" + written_entry + "}").tensors.contains(name));
  }
}

TEST_CASE("characters that are none are refused", "[safetensors_header]") {
  const auto of_name = [](const std::string& name) { return refusal_of("{\"" + name + "\":" + written_entry + "}"); };
  for (const char* each : {R"(\ud800)", R"(\udc00)", R"(\ud800\ud800)", R"(\ud800x)", R"(\ud800\n)"}) {
    CHECK(tenon_test::has(of_name(each), "expected a pair of surrogates"));
  }
  CHECK(tenon_test::has(of_name(R"(\ud800\u)"), "four hexadecimal digits"));
  for (const char* each : {"\xff", "\xc3", "\xed\xa0\x80", "\xc0\xaf"}) {
    CHECK(tenon_test::has(of_name(each), "character 2: expected a character of UTF-8"));
  }
}

TEST_CASE("text that is no header is refused where it goes wrong", "[safetensors_header]") {
  CHECK(refusal_of("") == "header: character 0: expected {");
  CHECK(refusal_of("[]") == "header: character 0: expected {");
  CHECK(refusal_of("{} x") == "header: character 3: expected nothing after the last brace");
  CHECK(refusal_of("{\"a\" 1}") == "header: character 5: expected : after a name");
  CHECK(refusal_of("{\"a") == "header: character 3: expected the end of a string");
  CHECK(refusal_of("{\"a\n\":1}") == "header: character 3: expected no control character in a string");
  CHECK(refusal_of("{\"a\\x\":1}") == "header: character 5: expected an escape of JSON");
  CHECK(refusal_of("{\"a\\u12g4\":1}") == "header: character 8: expected four hexadecimal digits");
}

TEST_CASE("entries that are incomplete or double are refused", "[safetensors_header]") {
  const auto of_entry = [](const std::string& text) { return refusal_of("{\"a\":" + text + "}"); };
  CHECK(tenon_test::has(of_entry(R"({"dtype":"F32","shape":[2]})"), "dtype, shape and data_offsets, once each"));
  CHECK(tenon_test::has(of_entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0]})"), "two data_offsets"));
  CHECK(tenon_test::has(of_entry(R"({"kind":"F32"})"), "dtype, shape or data_offsets"));
  CHECK(tenon_test::has(of_entry(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,1]})"), "expected a number"));
  CHECK(tenon_test::has(of_entry(R"({"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,1]})"),
                        "up to 2^62"));
  const std::string twice = "a name that was not there before";
  CHECK(tenon_test::has(of_entry(R"({"dtype":"F32","dtype":"F32","shape":[2]})"), twice));
  CHECK(tenon_test::has(of_entry(R"({"dtype":"F32","shape":[2],"shape":[3]})"), twice));
  CHECK(tenon_test::has(of_entry(R"({"dtype":"F32","data_offsets":[0,8],"data_offsets":[0,8]})"), twice));
  CHECK(tenon_test::has(refusal_of(R"({"__metadata__":{},"__metadata__":{}})"), twice));
  CHECK(tenon_test::has(refusal_of(R"({"__metadata__":{"a":"1","a":"2"}})"), twice));
  CHECK(tenon_test::has(of_entry(R"({"shape":[2],"data_offsets":[0,8]})"), "dtype, shape and data_offsets, once each"));
  CHECK(tenon_test::has(of_entry(R"({"dtype":"F32","shape":[02],"data_offsets":[0,8]})"), "without leading zeros"));
  CHECK(tenon_test::has(of_entry(R"({"dtype":"F32","shape":[2],"data_offsets":[00,8]})"), "without leading zeros"));
  CHECK(tenon_test::has(of_entry(R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})"), "] or ,"));
  CHECK(tenon_test::has(refusal_of("{\"a\":" + written_entry + ",\"a\":" + written_entry + "}"),
                        "a name that was not there before"));
  std::string long_shape = R"({"dtype":"F32","shape":[1)";
  for (int i = 0; i < 64; ++i) long_shape += ",1";
  CHECK(tenon_test::has(of_entry(long_shape + R"(],"data_offsets":[0,4]})"), "at most 64 numbers"));
}
