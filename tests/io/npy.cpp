// tests/io/npy.cpp: NPY files, good ones and bad ones.
// Files of all three versions and both orders are built byte by byte; NumPy's own are read where they are there.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/npy.hpp>

#include <tenon/expr/operations/complex.hpp>
#include <tenon/expressions.hpp>

#include "support/scratch_file.hpp"
#include "support/shared_dir.hpp"
#include "support/text_of.hpp"

namespace io = tenon::io;
using tenon::rank;
using tenon_test::bytes;
using tenon_test::bytes_of;
using tenon_test::has;
using tenon_test::joined;
using tenon_test::scratch_file;

namespace {

/// A file of `version` with this header and these elements.
bytes npy(int version, const std::string& header, const bytes& elements) {
  bytes start{0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<std::uint8_t>(version), 0};
  for (std::size_t i = 0; i < (version == 1 ? 2u : 4u); ++i) {
    start.push_back(static_cast<std::uint8_t>(header.size() >> (8 * i) & 0xff));
  }
  return joined(joined(start, bytes_of(header)), elements);
}

std::string header_of(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

template <class T, int Rank>
tenon::tensor<T, rank<Rank>> read_back(const bytes& content) {
  const scratch_file file("read.npy");
  file.write(content);
  return io::read_npy<T, Rank>(file.path);
}

template <class T, int Rank>
std::string refusal_of(const bytes& content) {
  return tenon_test::text_of<tenon::file_error>([&] { read_back<T, Rank>(content); });
}

const bytes six{1, 2, 3, 4, 5, 6};

template <class T, int Rank>
void check_round_trip(const rank<Rank>& extents) {
  const scratch_file file("round.npy");
  tenon::tensor<T, rank<Rank>> x(extents);
  for (tenon::index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>(static_cast<float>(i % 2));
  io::write_npy(file.path, x);
  const auto y = io::read_npy<T, Rank>(file.path);
  REQUIRE(y.shape() == x.shape());
  for (tenon::index i = 0; i < x.size(); ++i) CHECK(x.data()[i] == y.data()[i]);
  CHECK((std::filesystem::file_size(file.path) - static_cast<std::size_t>(x.size()) * sizeof(T)) % 64 == 0);
}

}  // namespace

TEST_CASE("files of every version are read", "[npy]") {
  for (const int version : {1, 2, 3}) {
    const auto x = read_back<std::uint8_t, 2>(npy(version, header_of("|u1", "(2, 3)"), six));
    REQUIRE(x.shape() == rank<2>(2, 3));
    CHECK(x(0, 2) == 3);
    CHECK(x(1, 0) == 4);
  }
}

TEST_CASE("columns come first in Fortran order", "[npy]") {
  const auto x = read_back<std::uint8_t, 2>(npy(1, header_of("|u1", "(2, 3)", "True"), six));
  CHECK(x(0, 1) == 3);
  CHECK(x(1, 0) == 2);
}

TEST_CASE("every element type and rank goes out and in", "[npy]") {
  check_round_trip<float, 2>(rank<2>(3, 5));
  check_round_trip<double, 1>(rank<1>(7));
  check_round_trip<tenon::half, 3>(rank<3>(2, 1, 4));
  check_round_trip<std::int64_t, 0>(rank<0>());
  check_round_trip<bool, 1>(rank<1>(9));
  check_round_trip<std::uint16_t, 2>(rank<2>(0, 4));
}

TEST_CASE("expressions and views are written by their values", "[npy]") {
  const scratch_file file("expression.npy");
  const tenon::tensor<float, rank<2>> x = {{1, 2, 3}, {4, 5, 6}};
  io::write_npy(file.path, x * 2);
  const auto doubled = io::read_npy<float, 2>(file.path);
  REQUIRE(doubled.shape() == rank<2>(2, 3));
  for (tenon::index i = 0; i < 6; ++i) CHECK(doubled.data()[i] == 2 * static_cast<float>(i + 1));
  io::write_npy(file.path, tenon::transpose(x));
  CHECK(io::read_npy<float, 2>(file.path)(2, 1) == 6);
  io::write_npy(file.path, x.view());
  CHECK(io::read_npy<float, 2>(file.path)(1, 2) == 6);
}

TEST_CASE("every truncation of an NPY file is refused", "[npy]") {
  const bytes good = npy(1, header_of("|u1", "(2, 3)"), six);
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS((read_back<std::uint8_t, 2>(bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)))),
                    tenon::file_error);
  }
}

TEST_CASE("other element types, ranks and sizes are refused with both", "[npy]") {
  const bytes good = npy(1, header_of("|u1", "(2, 3)"), six);
  CHECK(has(refusal_of<float, 2>(good), "elements |u1, expected <f4"));
  CHECK(has(refusal_of<std::uint8_t, 1>(good), "2 axes, expected 1 (extents [2, 3])"));
  CHECK(has(refusal_of<std::uint8_t, 2>(joined(good, {7})), "7 bytes of elements, expected 6 (extents [2, 3])"));
  CHECK(
      has(refusal_of<std::uint32_t, 1>(npy(1, header_of(">u4", "(1,)"), {0, 0, 0, 1})), "elements >u4, expected <u4"));
  CHECK(has(refusal_of<std::uint8_t, 2>(bytes_of("not an array at all")), "it does not start as an NPY file does"));
}

TEST_CASE("headers that lie are refused without memory being asked for", "[npy]") {
  const auto refused = [](const std::string& header) { return refusal_of<std::uint8_t, 2>(npy(1, header, six)); };
  CHECK(has(refused(header_of("|u1", "(4611686018427387904, 4611686018427387904)")), "than can be counted"));
  CHECK(has(refused(header_of("|u1", "(2, -3)")), "no valid shape"));
  CHECK(has(refused(header_of("|u1", "(2, 3")), "no valid shape"));
  CHECK(has(refused(header_of("|u1", "(99999999999999999999, 1)")), "no valid shape"));
  CHECK(has(refused(header_of("|u1", "(2, 3)", "Maybe")), "no valid fortran_order"));
  CHECK(has(refused("{'shape': (2, 3), 'fortran_order': False}"), "no valid descr"));
  bytes long_header = npy(2, header_of("|u1", "(2, 3)"), six);
  long_header[11] = 0xff;
  CHECK(has(refusal_of<std::uint8_t, 2>(long_header), "truncated?"));
}

TEST_CASE("extents beyond counting are refused where one is 0 as well", "[npy]") {
  const std::string huge = "4611686018427387904";
  for (const auto& shape : {"(0, " + huge + ", " + huge + ")", "(" + huge + ", " + huge + ", 0)"}) {
    CHECK(has(refusal_of<std::uint8_t, 3>(npy(1, header_of("|u1", shape), {})), "more elements than can be counted"));
  }
  CHECK(read_back<std::uint8_t, 2>(npy(1, header_of("|u1", "(0, " + huge + ")"), {})).size() == 0);
}

TEST_CASE("elements keep their bits, and bools are true where they are not 0", "[npy]") {
  const auto bools = read_back<bool, 1>(npy(1, header_of("|b1", "(3,)"), {0, 2, 255}));
  CHECK(!bools(0));
  CHECK((bools(1) && bools(2)));
  const auto nan = read_back<tenon::half, 1>(npy(1, header_of("<f2", "(1,)"), {0x01, 0x7c}));
  CHECK(nan(0).bits == 0x7c01);
}

TEST_CASE("complex numbers go out and in by their own name", "[npy]") {
  const scratch_file file("complex.npy");
  tenon::tensor<std::complex<float>, rank<1>> x({2});
  x.data()[0] = {1, 2}, x.data()[1] = {-3, 4};
  io::write_npy(file.path, x);
  const auto y = io::read_npy<std::complex<float>, 1>(file.path);
  CHECK(y(1) == std::complex<float>(-3, 4));
  CHECK(has(tenon_test::text_of<tenon::file_error>([&] { io::read_npy<double, 1>(file.path); }),
            "elements <c8, expected <f8"));
}

TEST_CASE("NumPy's own files are read", "[npy]") {
  const auto path = tenon_test::shared_path("golden/linear/parameter_bias.npy");
  if (path) CHECK(io::read_npy<float, 1>(*path).shape() == rank<1>(7));
}
