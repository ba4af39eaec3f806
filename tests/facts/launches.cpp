// tests/facts/launches.cpp: the fusion table of docs/statements.md, row by row.
// Of each row: the page, what the type promises, what is counted, and on a device the kernels of a captured graph.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/launch_count.hpp>
#include <tenon/tenon.hpp>

#include <fstream>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::axis;
using tenon::range;
using tenon::rank;
using tenon_test::counting;

/// The lines of the table whose head begins with `| pattern`.
std::vector<std::string> rows_of_page() {
  std::ifstream page(TENON_SOURCE_DIR "/docs/statements.md");
  std::vector<std::string> rows;
  std::string line;
  while (std::getline(page, line) && line.rfind("| pattern", 0) != 0) continue;
  std::getline(page, line);  // the rule below the head
  while (std::getline(page, line) && line.rfind("| ", 0) == 0) rows.push_back(line);
  return rows;
}

#if defined(__CUDACC__)
/// The kernels of a graph that captures `run`, which has run before: a count that is not Tenon's own.
template <class Run>
int captured_kernels(const Run& run) {
  tenon::stream used;
  const tenon::stream_scope scope(used);
  run();  // workspaces belong to a stream; from now on nothing of them is allocated
  tenon::synchronize();
  tenon::check_cuda("cudaStreamBeginCapture", cudaStreamBeginCapture(used.handle(), cudaStreamCaptureModeThreadLocal));
  run();
  cudaGraph_t graph{};
  tenon::check_cuda("cudaStreamEndCapture", cudaStreamEndCapture(used.handle(), &graph));
  std::size_t count = 0;
  tenon::check_cuda("cudaGraphGetNodes", cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  tenon::check_cuda("cudaGraphGetNodes", cudaGraphGetNodes(graph, nodes.data(), &count));
  int kernels = 0;
  for (const auto node : nodes) {
    cudaGraphNodeType type{};
    tenon::check_cuda("cudaGraphNodeGetType", cudaGraphNodeGetType(node, &type));
    kernels += type == cudaGraphNodeTypeKernel ? 1 : 0;
  }
  tenon::check_cuda("cudaGraphDestroy", cudaGraphDestroy(graph));
  return kernels;
}
#endif

/// Rows of the page, as they are checked one after another.
class fusion_table {
 public:
  fusion_table() : rows_(rows_of_page()) {}

  /// The next row: its statement, what it promises, and `run`, which is the statement.
  template <class Run>
  void check(const std::string& statement, int kernels, const Run& run) {
    INFO(statement);
    REQUIRE(next_ < rows_.size());
    CHECK(rows_[next_].find(" | `" + statement + "` | " + std::to_string(kernels) + " | ") != std::string::npos);
    ++next_;
    const tenon::launch_counter counter;
    run();
    CHECK(counter.count() == kernels);
#if defined(__CUDACC__)
    CHECK(captured_kernels(run) == kernels);
#endif
  }
  template <class Destination, class Expression>
  void check(const std::string& statement, int kernels, Destination& destination, const Expression& expression) {
    CHECK(tenon::kernel_count<Expression> == kernels);
    check(statement, kernels, [&] { destination = expression; });
  }
  bool is_complete() const { return next_ == rows_.size(); }

 private:
  std::vector<std::string> rows_;
  std::size_t next_ = 0;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("each row of the fusion table launches what the page says", "[facts]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(6, 40), -7, 0.01), w = counting<float, TestType>(rank<2>(40, 6));
  const auto residual = counting<float, TestType>(rank<2>(6, 6));
  const auto row = counting<float, TestType>(rank<1>(40)), bias = counting<float, TestType>(rank<1>(6));
  const auto image = counting<float, TestType>(rank<4>(2, 3, 6, 6)),
             kernel = counting<float, TestType>(rank<4>(4, 3, 3, 3));
  tenon::tensor<float, rank<2>, TestType> y({6, 40}), square({6, 6}), long_square({6, 40});
  tenon::tensor<float, rank<1>, TestType> sums({6}), means({40}), variances({40});
  tenon::tensor<float, rank<4>, TestType> maps({2, 4, 4, 4});
  fusion_table table;
  table.check("y = x * x + exp(-abs(x))", 1, y, x * x + tenon::exp(-tenon::abs(x)));
  table.check("y = where(transpose(w) > 0, x + row, cast<float>(iota<int>(x.shape())))", 1, y,
              tenon::where(tenon::transpose(w) > 0, x + row, tenon::cast<float>(tenon::iota<int>(x.shape()))));
  table.check("s = sqrt(sum(square(x - row), axis<1>)) + 1", 1, sums,
              tenon::sqrt(tenon::sum(tenon::square(x - row), axis<1>)) + 1);
  table.check("y = softmax(x, axis<-1>)", 1, y, tenon::softmax(x, axis<-1>));
  table.check("y = layer_norm(x, axis<-1>, row, row, 1e-5f)", 1, y, tenon::layer_norm(x, axis<-1>, row, row, 1e-5f));
  table.check("y = x / sum(x)", 2, y, x / tenon::sum(x));
  table.check("z = relu(matmul(x * 2, exp(-w)) + bias) + residual", 1, square,
              tenon::relu(tenon::matmul(x * 2, tenon::exp(-w)) + bias) + residual);
  table.check("maps = relu(convolve(image, kernel))", 1, maps, tenon::relu(tenon::convolve(image, kernel)));
  table.check("y = relu(scaled_dot_product_attention(x * 2, x, exp(-x))) + row", 1, y,
              tenon::relu(tenon::scaled_dot_product_attention(x * 2, x, tenon::exp(-x))) + row);
  table.check("evaluate(assign(y, x * 2), assign(u, x * x))", 1,
              [&] { tenon::evaluate(tenon::assign(y, x * 2), tenon::assign(long_square, x * x)); });
  table.check("evaluate(assign(m, mean(x, axis<0>)), assign(v, variance(x, axis<0>)))", 1, [&] {
    tenon::evaluate(tenon::assign(means, tenon::mean(x, axis<0>)),
                    tenon::assign(variances, tenon::variance(x, axis<0>)));
  });
  table.check("z = matmul(relu(matmul(x, w) + bias), residual) * 2", 2, square,
              tenon::matmul(tenon::relu(tenon::matmul(x, w) + bias), residual) * 2);
  CHECK(table.is_complete());
}
