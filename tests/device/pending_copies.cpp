// tests/device/pending_copies.cpp: who waits for which copies.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/pending_copies.hpp>

#include "support/catch.hpp"

namespace {

/// A mark that counts who waits for it.
struct counted_mark {
  int* waits;
  bool* passed;

  void synchronize() const { ++*waits, *passed = true; }
  bool is_done() const { return *passed; }
};

}  // namespace

TEST_CASE("a block waits for its own copies, once", "[device]") {
  int waits[3] = {0, 0, 0};
  bool passed[3] = {false, false, false};
  const char block[2] = {0, 0};
  tenon::pending_copies<counted_mark> copies;
  copies.await(&block[0]);
  copies.add(&block[0], {&waits[0], &passed[0]});
  copies.add(&block[0], {&waits[1], &passed[1]});
  copies.add(&block[1], {&waits[2], &passed[2]});
  CHECK(copies.blocks() == 2);
  copies.await(&block[0]);
  CHECK(waits[0] == 1);
  CHECK(waits[1] == 1);
  CHECK(waits[2] == 0);
  CHECK(copies.blocks() == 1);
  copies.await(&block[0]);
  CHECK(waits[0] == 1);
  copies.await(&block[1]);
  CHECK(waits[2] == 1);
  CHECK(copies.blocks() == 0);
}

TEST_CASE("marks that are passed are forgotten by the next copy of the block", "[device]") {
  int waits[2] = {0, 0};
  bool passed[2] = {true, false};
  const char block = 0;
  tenon::pending_copies<counted_mark> copies;
  copies.add(&block, {&waits[0], &passed[0]});
  copies.add(&block, {&waits[1], &passed[1]});
  copies.await(&block);
  CHECK(waits[0] == 0);
  CHECK(waits[1] == 1);
}
