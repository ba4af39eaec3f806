// tests/kernels/row_writer.cpp: rows written in packets and one by one, and the packets that programs have in common.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/kernels/row_writer.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::array;
using tenon::axis;
using tenon::rank;

namespace {

/// The packet of a statement `to = from - sum(from)` of these elements.
template <class To, class From>
int packet_of() {
  tenon::tensor<From, rank<2>> from({2, 8});
  const auto node = tenon::as_node(from - tenon::sum(from, axis<1>));
  const auto program = node.template lower<0>(tenon::identity_map<2>());
  const auto folds = tenon::lower_reductions(node, node.shape().to_array());
  return tenon::common_row_packet<tenon::strided_target<To, 2>, std::remove_const_t<decltype(program)>>(&folds);
}

}  // namespace

TEST_CASE("the programs of a row move packets of one size", "[row_writer]") {
  CHECK(packet_of<float, float>() == 4);
  CHECK(packet_of<double, float>() == 2);
  CHECK(packet_of<float, double>() == 2);
  CHECK(packet_of<tenon::half, tenon::half>() == 8);
  CHECK(packet_of<float, tenon::half>() == 4);
}

TEST_CASE("units of a row are elements or packets, in one run or several", "[row_writer]") {
  const auto x = tenon_test::counting<float>(rank<2>(3, 16));
  const auto program = tenon::as_node(x * 2).lower<0>(tenon::identity_map<2>());
  for (const bool in_run : {false, true}) {
    for (const bool in_packets : {false, true}) {
      tenon::tensor<float, rank<2>> y = tenon::zeros<float>(rank<2>(3, 16));
      const array<tenon::index, 2> extents{{1, in_packets ? 4 : 16}};
      const tenon::row_writer<2, 4, tenon::strided_target<float, 2>, std::remove_const_t<decltype(program)>> writer{
          tenon::numbered_positions<2>(extents), {y.data(), {{16, 1}}}, program, in_packets, in_run};
      CAPTURE(in_run, in_packets);
      writer.write({{1, 0}}, 2, tenon::no_slots{});
      CHECK(y(1, 2) == (in_packets ? 0 : 36));
      CHECK(y(1, 8) == (in_packets ? 48 : 0));
      CHECK(y(1, 11) == (in_packets ? 54 : 0));
      CHECK(y(1, 12) == 0);
      writer.write_all({{2, 0}}, 1, 2, extents[1], tenon::no_slots{});  // every second one
      for (tenon::index i = 0; i < 16; ++i) {
        const bool is_written = (in_packets ? i / 4 : i) % 2 == 1;
        CHECK(y(2, i) == (is_written ? 2 * x(2, i) : 0));
      }
    }
  }
}
