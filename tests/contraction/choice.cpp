// tests/contraction/choice.cpp: in which tiles products are computed, by extents and device.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/choice.hpp>

#include "support/catch.hpp"

namespace {

using tenon::product_choice;
using tenon::product_size;

constexpr tenon::tile_extents tiles{{{{128, 128, 32}}, {{64, 64, 32}}}};
constexpr int multiprocessors = 132;

}  // namespace

TEST_CASE("large tiles where they occupy the device", "[choice]") {
  const auto choice_of = [](const product_size& size) {
    return tenon::usual_product_choice(size, tiles, multiprocessors);
  };
  CHECK(choice_of({4096, 4096, 4096, 1}) == product_choice{0, 1});
  CHECK(choice_of({128, 128, 64, 132}) == product_choice{0, 1});
  CHECK(choice_of({128, 128, 64, 131}) == product_choice{1, 1});
  CHECK(choice_of({1024, 1024, 4096, 1}) == product_choice{1, 1});
  CHECK(choice_of({64, 64, 64, 4096}) == product_choice{1, 1});  // large ones would compute as much outside
}

TEST_CASE("blocks share small tiles that are too few, eight steps each at least", "[choice]") {
  const auto parts_of = [](const product_size& size) {
    const auto choice = tenon::usual_product_choice(size, tiles, multiprocessors);
    CHECK(choice.tile == 1);
    return choice.parts;
  };
  CHECK(parts_of({256, 256, 65536, 1}) == 8);
  CHECK(parts_of({64, 64, 65536, 1}) == 132);
  CHECK(parts_of({64, 64, 1024, 1}) == 4);
  CHECK(parts_of({64, 64, 255, 1}) == 1);
  CHECK(parts_of({0, 64, 1024, 1}) == 1);
  CHECK(parts_of({64, 64, 0, 1}) == 1);
}

TEST_CASE("choices that a kernel does not take", "[choice]") {
  const product_size size{640, 640, 320, 1};
  CHECK(is_possible(product_choice{1, 10}, size, tiles));
  CHECK_FALSE(is_possible(product_choice{1, 11}, size, tiles));  // there are ten steps
  CHECK_FALSE(is_possible(product_choice{2, 1}, size, tiles));
  CHECK_FALSE(is_possible(product_choice{-1, 1}, size, tiles));
  CHECK_FALSE(is_possible(product_choice{0, 0}, size, tiles));
  CHECK(is_possible(product_choice{1, 1}, {64, 64, 320, 1025}, tiles));
  CHECK_FALSE(is_possible(product_choice{1, 2}, {64, 64, 320, 1025}, tiles));  // no room to count so many tiles
}

TEST_CASE("what is known of a product is for its very key", "[choice]") {
  tenon::tuned_products products;
  const tenon::product_key key{{1, 2, 3, 4}, 90, multiprocessors, "kernel", "float16"};
  CHECK(products.find(key, {0, 1}) == product_choice{0, 1});
  products.set(key, {1, 2});
  products.set(key, {1, 3});
  CHECK(products.find(key, {0, 1}) == product_choice{1, 3});
  for (int place = 0; place < 5; ++place) {
    auto other = key;
    if (place == 0) other.size.depth = 5;
    if (place == 1) other.architecture = 80;
    if (place == 2) other.multiprocessors = 131;
    if (place == 3) other.kernel = "other";
    if (place == 4) other.element = "bfloat16";
    CHECK(products.find(other, {0, 1}) == product_choice{0, 1});
  }
  CHECK(products.entries().size() == 1);
  products.clear();
  CHECK(products.find(key, {0, 1}) == product_choice{0, 1});
}
