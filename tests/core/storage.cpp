// tests/core/storage.cpp: the owning block of elements.
// Copies are deep, moves leave an empty block, and sizes that cannot be are refused before anything is allocated.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/storage.hpp>

#include "support/catch.hpp"

namespace {

using int_block = tenon::storage<int, tenon::host>;

int_block counted(int count) {
  int_block result(count);
  for (int i = 0; i < count; ++i) result.data()[i] = i;
  return result;
}

}  // namespace

TEST_CASE("a block knows its elements", "[storage]") {
  const int_block memory = counted(5);
  CHECK(memory.count() == 5);
  CHECK(memory.bytes() == 20);
  CHECK(memory.data()[4] == 4);
}

TEST_CASE("an empty block holds no memory", "[storage]") {
  CHECK(int_block().data() == nullptr);
  CHECK(int_block(0).data() == nullptr);
  const int_block copy = int_block(0);
  CHECK(copy.count() == 0);
}

TEST_CASE("copies are deep", "[storage]") {
  int_block first = counted(4), second = first;
  second.data()[0] = 100;
  CHECK(first.data()[0] == 0);
  CHECK(second.data()[3] == 3);
  const int* const kept = first.data();
  first = second;
  CHECK(first.data() == kept);
  CHECK(first.data()[0] == 100);
  first = counted(9);
  CHECK(first.count() == 9);
  second = first;
  CHECK(second.count() == 9);
  CHECK(second.data() != first.data());
}

TEST_CASE("assigning a block to itself keeps it", "[storage]") {
  int_block memory = counted(3);
  const int_block& same = memory;
  memory = same;
  CHECK(memory.data()[2] == 2);
}

TEST_CASE("moves hand the memory over", "[storage]") {
  int_block first = counted(4);
  const int* const memory = first.data();
  const int_block second = std::move(first);
  CHECK(second.data() == memory);
  CHECK(first.data() == nullptr);
  CHECK(first.count() == 0);
}

TEST_CASE("counts that cannot be are refused", "[storage]") {
  CHECK_THROWS_AS(int_block(-1), tenon::shape_error);
  CHECK_THROWS_AS(int_block(INT64_MAX), tenon::shape_error);
  CHECK_THROWS_AS(int_block(INT64_MAX / 4 + 1), tenon::shape_error);
}

#if TENON_FILL != 0
TEST_CASE("storage is filled", "[storage]") {
  const tenon::storage<float, tenon::host> memory(1000);
  float expected = 0;
  tenon::fill_unwritten<float>(&expected, sizeof expected);
  for (tenon::index i = 0; i < memory.count(); ++i) {
    CHECK(std::memcmp(memory.data() + i, &expected, sizeof expected) == 0);
  }
}
#endif
