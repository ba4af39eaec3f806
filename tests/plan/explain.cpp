// tests/plan/explain.cpp: what a plan says of itself.
// The whole text of typical statements, and the number of kernels against the launches of the emulated device.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/emulated.hpp>
#include <tenon/plan/explain.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon::tensor;
using tenon_test::counting;

/// The launches of statements as they run: kernel, blocks, threads, shared memory, choices.
struct launch_log final : tenon::launch_observer {
  std::vector<std::string> lines;

  void statement(const tenon::statement_facts&) override {}
  bool begin(const tenon::launch_facts& facts) override {
    std::string line = tenon::compose_text("launches ", facts.kernel, ": ", facts.shape->grid.x);
    if (facts.shape->grid.y > 1) line += tenon::compose_text(" x ", facts.shape->grid.y);
    line += tenon::compose_text(facts.shape->grid.blocks() == 1 ? " block" : " blocks", " of ", facts.shape->block,
                                " threads");
    if (facts.shape->shared_bytes != 0) {
      line += tenon::compose_text(", ", tenon::describe_bytes(facts.shape->shared_bytes), " of shared memory");
    }
    for (int i = 0; i < facts.choice_count; ++i) {
      line += tenon::compose_text("; ", facts.choices[i].name, " ", facts.choices[i].value);
    }
    lines.push_back(line);
    return true;
  }
  void end() noexcept override {}
};

/// Whether `explain` says, in their order, the launches that assigning the expression to a new tensor runs.
template <class E>
bool explains_its_launches(const E& expression) {
  launch_log log;
  const std::string text = tenon::explain(expression);
  const tenon::observer_scope scope(&log);
  tenon::tensor<typename E::element, rank<E::shape_type::rank>, tenon::emulated> result(
      rank<E::shape_type::rank>(expression.shape().to_array()));
  result = expression;
  std::size_t at = 0, found = 0;
  for (const auto& line : log.lines) {
    at = text.find(line + "\n", at);
    if (at == std::string::npos) return false;
  }
  for (at = text.find("launches "); at != std::string::npos; at = text.find("launches ", at + 1)) ++found;
  return found == log.lines.size() && found > 0;
}

}  // namespace

TEST_CASE("products of few elements are one loop, whatever stands around them", "[explain]") {
  tenon::tensor<float, tenon::shape<tenon::dyn, 3, 3>> r({100, 3, 3});
  const auto node = tenon::matmul(tenon::matmul(r, r), r);
  constexpr bool in_boxes = tenon::runs_in_boxes<tenon::host, std::remove_const_t<decltype(node)>>;
  STATIC_REQUIRE(tenon::kernel_count<decltype(node)> == 2);  // at most
  if (in_boxes) {
    CHECK(tenon::explain(node) ==
          "1 kernel\n"
          "1. box by box: float32 [100, 3, 3] = contract(contract(x0, x0), x0)\n"
          "   reads 3600 bytes of 1 tensor, writes 3600 bytes\n");
  }
}

TEST_CASE("softmax is one row-resident kernel", "[explain]") {
  const auto x = counting<float>(rank<2>(64, 784));
  CHECK(tenon::explain(tenon::exp(x - tenon::max(x, axis<1>)) * 2.5) ==
        "1 kernel\n"
        "1. row-resident: float32 [64, 784] = multiply(exp(subtract(x0, max(x0, axis<1>))), 2.5)\n"
        "   reads 201 kB of 1 tensor, writes 201 kB\n");
  CHECK(tenon::explain(tenon::softmax(x, axis<1>)).substr(0, 24) == "1 kernel\n1. row-resident");
}

TEST_CASE("a contraction's surroundings are fused into it, equal tensors read once", "[explain]") {
  const auto x = counting<float>(rank<2>(20, 30)), w = counting<float>(rank<2>(30, 10));
  const auto bias = counting<float>(rank<1>(10));
  CHECK(tenon::explain(tenon::relu(tenon::matmul(x, w) + bias) + bias) ==
        "1 kernel\n"
        "1. contraction: float32 [20, 10] = add(relu(add(contract(x0, x1), x2)), x2)\n"
        "   reads 3640 bytes of 3 tensors, writes 800 bytes\n"
        "   runs as packed tiles\n");
}

TEST_CASE("products of the host say which algorithm multiplies", "[explain]") {
  const auto algorithm_of = [](const auto& expression) {
    const auto text = tenon::explain(expression);
    const auto start = text.find("runs as ");
    return start == std::string::npos ? text : text.substr(start + 8, text.find('\n', start) - start - 8);
  };
  const auto x = counting<float>(rank<2>(20, 30)), w = counting<float>(rank<2>(30, 10));
  const auto line = counting<float>(rank<2>(1, 30)), column = counting<float>(rank<2>(30, 2));
  CHECK(algorithm_of(tenon::matmul(line, w)) == "few rows");
  CHECK(algorithm_of(tenon::relu(tenon::matmul(x, column))) == "few columns");
  CHECK(algorithm_of(tenon::matmul(tenon::transpose(w), column)) == "few columns");
  const auto short_line = counting<tenon::half>(rank<2>(1, 30)), short_w = counting<tenon::half>(rank<2>(30, 10));
  const auto pair = counting<tenon::bfloat16>(rank<2>(30, 2)), wide = counting<tenon::bfloat16>(rank<2>(10, 30));
  CHECK(algorithm_of(tenon::matmul(short_line, short_w)) == "few rows");
  CHECK(algorithm_of(tenon::matmul(wide, pair)) == "few columns");
  CHECK(algorithm_of(tenon::matmul(x > 0, w > 0)) == "one by one");
  const auto batches = counting<float>(tenon::shape<3, 5, 5>{});
  CHECK(algorithm_of(tenon::matmul(batches, batches)) == "small product");
  const auto small = counting<float>(tenon::shape<4, 4>{});
  const bool is_small = tenon::runs_small<decltype(tenon::matmul(small, small))>;
  CHECK(algorithm_of(tenon::matmul(small, small)) == (is_small ? "arithmetic in registers" : "small product"));
  const auto square = counting<float>(tenon::shape<16, 16>{});
  using node_type = decltype(tenon::matmul(square, square));
  const bool is_unrolled = tenon::runs_unrolled_product<float, node_type>;
  CHECK(algorithm_of(tenon::matmul(square, square)) == (is_unrolled ? "unrolled product" : "small product"));

  const auto image = counting<float>(rank<4>(2, 3, 8, 8)), weight = counting<float>(rank<4>(5, 3, 3, 3)),
             flat = counting<float>(rank<4>(3, 1, 3, 3));
  CHECK(algorithm_of(tenon::convolve(image, weight)) == "windows");
  CHECK(algorithm_of(tenon::convolve(image, flat, {.groups = 3})) == "depthwise windows");
  const auto gradient = counting<float>(rank<4>(2, 5, 4, 4));
  const tenon::window_geometry<2> apart{.stride = {{2, 2}}, .padding = {{1, 1}}};
  CHECK(algorithm_of(tenon::convolve_image_gradient(gradient, weight, {{8, 8}}, apart)) == "phases");
  CHECK(algorithm_of(tenon::convolve_weight_gradient(gradient, image, {{3, 3}}, apart)) == "weight gradients");
  const auto flat_gradient = counting<float>(rank<4>(2, 3, 6, 6));
  CHECK(algorithm_of(tenon::convolve_weight_gradient(flat_gradient, image, {{3, 3}}, {.groups = 3})) ==
        "depthwise weight gradients");
}

TEST_CASE("a boundary says why it is there", "[explain]") {
  const auto x = counting<float>(rank<2>(4, 5));
  CHECK(tenon::explain(x - tenon::mean(x)) ==
        "2 kernels\n"
        "1. reduction: float32 [] = mean(x0)\n"
        "   reads 80 bytes of 1 tensor, writes 4 bytes\n"
        "   ends here: what follows needs the whole reduction at every position\n"
        "2. pointwise: float32 [4, 5] = subtract(x0, result1)\n"
        "   reads 84 bytes of 2 tensors, writes 80 bytes\n");
  CHECK(tenon::explain(x - tenon::mean(x, axis<0>)).find("at positions of other rows") != std::string::npos);
  const auto square = counting<float>(rank<2>(5, 5));
  const auto chain = tenon::explain(tenon::matmul(tenon::relu(tenon::matmul(x, square)), square));
  CHECK(chain.find("ends here: a contraction reads its operands many times") != std::string::npos);
  CHECK(chain.find("2. contraction: float32 [4, 5] = contract(result1, x0)") != std::string::npos);
}

TEST_CASE("parts that are written twice are one kernel", "[explain]") {
  const auto x = counting<float>(rank<2>(4, 5)), w = counting<float>(rank<2>(5, 3)), v = counting<float>(rank<2>(5, 3));
  CHECK(tenon::explain(tenon::softmax(tenon::matmul(x, w), axis<1>)).substr(0, 9) == "2 kernels");
  const auto square = tenon::explain(tenon::matmul(x, w) * tenon::matmul(x, w));
  CHECK(square.find("2. pointwise: float32 [4, 3] = multiply(result1, result1)") != std::string::npos);
  const auto product = tenon::explain(tenon::matmul(x, w) * tenon::matmul(x, v));
  CHECK(product.find("2. contraction: float32 [4, 3] = multiply(result1, contract(x0, x1))") != std::string::npos);
}

TEST_CASE("generators read nothing, views are named", "[explain]") {
  const auto text = tenon::explain(tenon::transpose(counting<double>(rank<2>(3, 2)) * 2) + tenon::arange<double>(3));
  CHECK(text.find("float64 [2, 3] = add(view(multiply(x0, 2)), progression())") != std::string::npos);
  CHECK(text.find("reads 48 bytes of 1 tensor, writes 48 bytes") != std::string::npos);
  const auto noise = tenon::explain(tenon::uniform<float>(rank<1>(3), 1) * 2);
  CHECK(noise.find("float32 [3] = multiply(uniform(), 2)") != std::string::npos);
}

TEST_CASE("on a device, launches are explained and none is run", "[explain]") {
  const auto x = counting<float, tenon::emulated>(rank<2>(50, 40)),
             w = counting<float, tenon::emulated>(rank<2>(40, 70));
  const tenon::launch_counter counter;
  const auto text = tenon::explain(tenon::matmul(x, w) * 2);
  CHECK(counter.count() == 0);
  CHECK(text.find("launches simt_product: ") != std::string::npos);
  CHECK(text.find(" threads") != std::string::npos);
  CHECK(text.find("; rows of a tile") != std::string::npos);
  CHECK(tenon::explain(x * 2 + 1).find("launches pointwise: 1 block of 256 threads; elements of a packet 4") !=
        std::string::npos);
  CHECK(tenon::explain(tenon::zeros<float>(rank<1>(0)) * 2).find("launches") == std::string::npos);
}

TEST_CASE("explained launches are those that run", "[explain]") {
  const auto x = counting<float, tenon::emulated>(rank<2>(50, 40)),
             w = counting<float, tenon::emulated>(rank<2>(40, 70));
  const auto flat = counting<float, tenon::emulated>(rank<1>(100'003));
  CHECK(explains_its_launches(x * 2 + 1));
  CHECK(explains_its_launches(tenon::transpose(x) * 2));
  CHECK(explains_its_launches(tenon::sum(flat)));
  CHECK(explains_its_launches(tenon::sum(x, axis<0>)));
  CHECK(explains_its_launches(tenon::softmax(x, axis<1>)));
  CHECK(explains_its_launches(tenon::relu(tenon::matmul(x, w)) + 1));
  CHECK(explains_its_launches(tenon::softmax(tenon::matmul(x, w), axis<1>)));
  CHECK(explains_its_launches(x - tenon::max(x)));
}
