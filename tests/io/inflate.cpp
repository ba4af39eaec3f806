// tests/io/inflate.cpp: streams of deflate, whole and damaged.
// What zlib deflated comes back; no stream gives more or less than was promised.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/inflate.hpp>

#include "support/deflated.hpp"
#include "support/random.hpp"
#include "support/text_of.hpp"

#if TENON_ZLIB != 0
using tenon_test::bytes;
using tenon_test::has;

namespace {

bytes inflated(const bytes& deflated, std::uint64_t size) {
  return tenon::io::inflate(deflated, size, [](const std::string& fact) { throw tenon::file_error("test: " + fact); });
}
std::string inflate_refusal(const bytes& deflated, std::uint64_t size) {
  return tenon_test::text_of<tenon::file_error>([&] { inflated(deflated, size); });
}
/// Bytes of few values, which compress, and of all, which do not.
bytes random_bytes(std::size_t size, int values) {
  bytes result(size);
  tenon_test::random_source random(7);
  for (auto& each : result) each = static_cast<std::uint8_t>(random.below(values));
  return result;
}

}  // namespace

TEST_CASE("what was deflated comes back", "[inflate]") {
  for (const std::size_t size : {0u, 1u, 17u, 70000u}) {
    for (const int values : {1, 3, 256}) {
      const bytes content = random_bytes(size, values);
      CHECK(inflated(tenon_test::deflated(content), size) == content);
    }
  }
  CHECK(inflated({0x4b, 0x4c, 0x4a, 0x06, 0x00}, 3) == tenon_test::bytes_of("abc"));  // RFC 1951, fixed codes
}

TEST_CASE("streams that are damaged or lie are refused", "[inflate]") {
  const bytes content = random_bytes(2000, 5), good = tenon_test::deflated(content);
  for (std::size_t length = 0; length < good.size(); ++length) {
    CHECK(inflate_refusal(bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)), 2000) != "");
  }
  CHECK(has(inflate_refusal(bytes(good.begin(), good.end() - 1), 2000), "of 2000; is it truncated?"));
  CHECK(has(inflate_refusal(good, 1999), "its compressed bytes hold more than the 1999 promised"));
  CHECK(has(inflate_refusal(good, 2001), "its compressed bytes end after 2000 of 2001"));
  CHECK(has(inflate_refusal({0x07}, 3), "its compressed bytes are damaged (invalid block type)"));
  CHECK(has(inflate_refusal({0x4b, 0x06}, std::uint64_t{1} << 62), "2 compressed bytes cannot hold 46116860184273"));
}
#else
TEST_CASE("deflated bytes are read where zlib is found", "[inflate]") { WARN("skipped: built without zlib"); }
#endif
