// tests/core/buffer.cpp: memory that is used again.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/buffer.hpp>

#include <tenon/core/tensor.hpp>

#include "support/catch.hpp"
#include "support/spaces.hpp"

using tenon::rank;

TEMPLATE_LIST_TEST_CASE("a buffer keeps its memory while it is large enough", "[buffer]", tenon_test::spaces) {
  tenon::buffer<float, rank<2>, TestType> buffer;
  const auto large = buffer.resize(rank<2>(4, 6));
  const auto small = buffer.resize(rank<2>(3, 5));
  CHECK(small.data() == large.data());
  CHECK(small.shape() == rank<2>(3, 5));
  CHECK(buffer.current().shape() == rank<2>(3, 5));
  CHECK(buffer.resize(rank<2>(4, 6)).data() == large.data());
  CHECK(buffer.resize(rank<2>(40, 6)).shape() == rank<2>(40, 6));
}
