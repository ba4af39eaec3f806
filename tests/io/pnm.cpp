// tests/io/pnm.cpp: images of the Netpbm family.
// Each kind built byte by byte; what lies about itself is refused.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/pnm.hpp>

#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

namespace io = tenon::io;
using tenon_test::has;

namespace {

io::image pnm_of(const std::string& content) {
  const tenon_test::scratch_file file("read.pnm");
  file.write(tenon_test::bytes_of(content));
  return io::read_pnm(file.path);
}

std::string pnm_refusal(const std::string& content) {
  return tenon_test::text_of<tenon::file_error>([&] { pnm_of(content); });
}

}  // namespace

TEST_CASE("grey and colour are read, as text and as bytes", "[pnm]") {
  const auto grey = pnm_of("P2\n# a comment\n3 2 # width and height\n255\n1 2 3\n4 5\n6");
  REQUIRE(grey.shape() == tenon::rank<3>(1, 2, 3));
  for (tenon::index i = 0; i < 6; ++i) CHECK(grey.data()[i] == 1 + i);
  const auto bytes = pnm_of("P5 3 2 255\n\x01\x02\x03\x04\x05\x06");
  for (tenon::index i = 0; i < 6; ++i) CHECK(bytes.data()[i] == 1 + i);
  const std::string pixels = "\x01\x02\x03\x04\x05\x06";
  for (const auto& colour : {pnm_of("P3 2 1 255 1 2 3 4 5 6\n"), pnm_of("P6 2 1 255 " + pixels)}) {
    REQUIRE(colour.shape() == tenon::rank<3>(3, 1, 2));
    for (tenon::index c = 0; c < 3; ++c) {
      CHECK(colour(c, 0, 0) == 1 + c);
      CHECK(colour(c, 0, 1) == 4 + c);
    }
  }
}

TEST_CASE("other greatest samples are scaled to bytes", "[pnm]") {
  const auto few = pnm_of("P2 3 1 2 0 1 2");
  CHECK(few(0, 0, 0) == 0);
  CHECK(few(0, 0, 1) == 128);
  CHECK(few(0, 0, 2) == 255);
  const auto wide = pnm_of(std::string("P5 2 1 65535\n\x80\x00\xff\xff", 17));
  CHECK(wide(0, 0, 0) == 128);
  CHECK(wide(0, 0, 1) == 255);
}

TEST_CASE("images are written and read again", "[pnm]") {
  for (const tenon::index channels : {1, 3}) {
    io::image image(tenon::rank<3>(channels, 5, 3));
    for (tenon::index i = 0; i < image.size(); ++i) image.data()[i] = static_cast<std::uint8_t>(7 * i);
    const tenon_test::scratch_file file("round.pnm");
    io::write_pnm(file.path, image);
    const auto again = io::read_pnm(file.path);
    REQUIRE(again.shape() == image.shape());
    for (tenon::index i = 0; i < image.size(); ++i) CHECK(again.data()[i] == image.data()[i]);
  }
  CHECK(has(tenon_test::text_of<tenon::file_error>([] { io::write_pnm("two.pnm", io::image({2, 1, 1})); }),
            "write_pnm: two.pnm: 2 channels, expected 1 of grey or 3 of colour"));
  CHECK(pnm_of("P5 0 4 255\n").size() == 0);
  CHECK(pnm_of("P2 0 4 255").size() == 0);
}

TEST_CASE("files that are no such image are refused", "[pnm]") {
  for (const char* each : {"", "P", "P4 1 1 \x80", "P1 1 1 1", "GIF89a"}) {
    CHECK(has(pnm_refusal(each), "it does not start with P2, P3, P5 or P6"));
  }
  CHECK(has(pnm_refusal("P5 3 2 255\n12345"), "5 bytes of elements, expected 6 (3 x 2 pixels); is it truncated?"));
  CHECK(has(pnm_refusal("P5 3 2 255\n1234567"), "7 bytes of elements, expected 6 (3 x 2 pixels)"));
  CHECK(has(pnm_refusal("P2 3 2 255\n1 2 3 4"), "7 bytes of elements, expected at least 11"));
  CHECK(has(pnm_refusal("P2 2 1 255\n1  "), "expected a number, the next sample"));
  CHECK(has(pnm_refusal("P2 1 1 7\n8"), "sample 8, expected at most 7"));
  CHECK(has(pnm_refusal("P5 1 1 7\n\x08"), "sample 8, expected at most 7"));
  CHECK(has(pnm_refusal("P5 1 1 0\n1"), "greatest sample 0, expected 1 to 65535"));
  CHECK(has(pnm_refusal("P5 1 1 65536\n1"), "greatest sample 65536"));
  CHECK(has(pnm_refusal("P5 x 1 255\n1"), "byte 3: expected a number, the width"));
  CHECK(has(pnm_refusal("P5 1 -1 255\n1"), "the height"));
  CHECK(has(pnm_refusal("P5 1x 1 255\n1"), "the width"));
  CHECK(has(pnm_refusal("P5 9999999999 9999999999 255\n1"), "[1, 9999999999, 9999999999] have more elements than can"));
  CHECK(has(pnm_refusal("P3 2999999999 2999999999 255\n1"), "[3, 2999999999, 2999999999] have more elements than can"));
  CHECK(has(pnm_refusal("P2 2999999999 2999999999 255\n1"), "expected at least 17999999988000000001"));
  CHECK(has(pnm_refusal("P5 99999999999 1 255\n1"), "the width"));
  CHECK(has(tenon_test::text_of<tenon::file_error>([] { io::read_pnm("/no/image.pgm"); }), "read_pnm: /no/image.pgm"));
}
