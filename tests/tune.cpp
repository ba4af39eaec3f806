// tests/tune.cpp: measured choices of tiles serve later products, and files keep them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>
#include <tenon/tune.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/scratch_file.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::product_choice;
using tenon::rank;
using tenon::tuned_products;
using tenon_test::counting;
using tenon_test::numbers_of;

/// The products of a test are its own.
struct forgotten_products {
  forgotten_products() { tuned_products::of_process().clear(); }
  ~forgotten_products() { tuned_products::of_process().clear(); }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("tuning finds the choice that is fastest and changes no result", "[tune]",
                        tenon_test::kernel_spaces) {
  const forgotten_products forgotten;
  const auto x = counting<tenon::half, TestType>(rank<2>(40, 130)),
             y = counting<tenon::half, TestType>(rank<2>(130, 24));
  const auto before = numbers_of(tenon::matmul(x * 0.001, y));
  const auto found = tenon::tune(tenon::matmul(x * 0.001, y));
  REQUIRE(found.size() == 1);
  CHECK(found[0].key.kernel == "mma_product");
  CHECK(found[0].key.element == "float16");
  CHECK(found[0].key.size == tenon::product_size{40, 24, 130, 1});
  CHECK(found[0].seconds > 0);
  CHECK(found[0].seconds <= found[0].usual_seconds);
  REQUIRE(tuned_products::of_process().entries().size() == 1);
  CHECK(tuned_products::of_process().entries()[0].second == found[0].choice);
  CHECK(tenon_test::difference(numbers_of(tenon::matmul(x * 0.001, y)), before, 1e-3) == "");
}

TEMPLATE_LIST_TEST_CASE("a statement runs by the choice that is known for its product", "[tune]",
                        tenon_test::kernel_spaces) {
  const forgotten_products forgotten;
  const auto x = counting<tenon::half, TestType>(rank<2>(20, 200)),
             y = counting<tenon::half, TestType>(rank<2>(200, 30));
  const auto grid_of = [&] { return tenon::explain(tenon::matmul(x, y)); };
  const auto usual = grid_of();
  tenon::product_listener listener;
  tenon::evaluated_tensor(tenon::matmul(x, y));
  tenon::evaluated_tensor(tenon::matmul(x, y));
  REQUIRE(listener.asked.size() == 1);
  auto& table = tuned_products::of_process();
  const auto& key = listener.asked[0].key;
  table.set(key, product_choice{0, 2});
  CHECK(grid_of() != usual);
  const auto chosen = numbers_of(tenon::matmul(x, y));
  table.set(key, product_choice{1, 1000});  // more parts than there are steps
  CHECK(grid_of() == usual);
  CHECK(tenon_test::difference(numbers_of(tenon::matmul(x, y)), chosen, 1e-2) == "");
}

TEST_CASE("products of the host have nothing to choose", "[tune]") {
  const auto x = counting<float, tenon::host>(rank<2>(4, 5)), y = counting<float, tenon::host>(rank<2>(5, 3));
  CHECK(tenon::tune(tenon::matmul(x, y)).empty());
}

TEST_CASE("choices are saved and loaded", "[tune]") {
  const forgotten_products forgotten;
  const tenon_test::scratch_file file("tuned");
  auto& table = tuned_products::of_process();
  const tenon::product_key key{{10, 20, 30, 2}, 90, 132, "wmma_product", "float16"};
  table.set(key, {0, 4});
  tenon::save_tuned(file.path);
  table.set(key, {1, 1});
  tenon::load_tuned(file.path);
  REQUIRE(table.entries().size() == 1);
  CHECK(table.entries()[0] == std::pair(key, product_choice{0, 4}));
  file.write(tenon_test::bytes_of("tenon tuned products 1\nwmma_product float16 0 0 1 2 3 1 1 3\n"));
  tenon::load_tuned(file.path);
  CHECK(table.entries().size() == 2);
}

TEST_CASE("files that hold no choices are refused by line, and nothing is added", "[tune]") {
  const forgotten_products forgotten;
  const tenon_test::scratch_file file("tuned");
  const auto text_for = [&](const std::string& content) {
    file.write(tenon_test::bytes_of(content));
    return tenon_test::text_of<tenon::file_error>([&] { tenon::load_tuned(file.path); });
  };
  CHECK(text_for("something") == "load_tuned: " + file.path.string() + ": line 1 is not 'tenon tuned products 1'");
  CHECK(text_for("tenon tuned products 1\nwmma_product float16 90 132 1 2 3 1 0 1\nwmma_product float16 90\n") ==
        "load_tuned: " + file.path.string() + ": line 3 is no choice: 'wmma_product float16 90'");
  CHECK(text_for("tenon tuned products 1\nwmma_product float16 90 132 1 2 3 1 2 1\n").find("line 2") !=
        std::string::npos);
  CHECK(text_for("tenon tuned products 1\nwmma_product float16 90 132 1 2 3 1 0 1 0\n").find("line 2 is no choice") !=
        std::string::npos);
  for (const char* line : {"-1 132 1 2 3 1 0 1", "90 -2 1 2 3 1 0 1", "90 132 -1 2 3 4 0 1", "90 132 1 -2 3 4 0 1",
                           "90 132 1 2 -3 4 0 1", "90 132 1 2 3 -4 0 1", "90 132 1 2 3 1 1 1000000",
                           "90 132 1 2 3 1 0 4", "90 132 1 2 3 1 0 0", "90 132 1 2 0 1 0 2"}) {
    CAPTURE(line);
    const std::string whole = std::string("wmma_product float16 ") + line;
    CHECK(text_for("tenon tuned products 1\n" + whole + "\n") ==
          "load_tuned: " + file.path.string() + ": line 2 is no choice: '" + whole + "'");
  }
  CHECK(tuned_products::of_process().entries().empty());
  std::string many = "tenon tuned products 1\n";
  for (int line = 0; line < 10000; ++line) many += "wmma_product float16 90 132 1 2 3 1 0 1\n";
  CHECK(text_for(many).find("more than 10000 lines") != std::string::npos);
  CHECK(tuned_products::of_process().entries().empty());
  const auto missing = tenon_test::text_of<tenon::file_error>([] { tenon::load_tuned("/no/tuned"); });
  CHECK(missing == "load_tuned: /no/tuned: there is no folder /no");
}
