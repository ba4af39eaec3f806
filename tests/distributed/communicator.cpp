// tests/distributed/communicator.cpp: a rank alone says everything to itself.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/distributed/communicator.hpp>

#include "support/catch.hpp"

static_assert(tenon::distributed::communicator<tenon::distributed::alone>);
static_assert(!tenon::distributed::communicator<int>);

TEST_CASE("one rank alone keeps its bytes and its sums", "[communicator]") {
  tenon::distributed::alone all;
  float values[2] = {1, 2};
  all.broadcast(values, sizeof(values));
  auto sum = all.start_sum(values, 2);
  all.advance(sum), all.wait(sum);
  CHECK(all.rank() == 0);
  CHECK(all.size() == 1);
  CHECK(values[0] == 1);
  CHECK(values[1] == 2);
}
