// tests/plan/reads.cpp: what statements read, and who reads it, as visitors are shown it.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/plan/reads.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"

namespace {

using tenon::axis;
using tenon::rank;

/// Keeps what it is shown, as `reader start [extents] step`.
class read_listener final : public tenon::read_visitor {
 public:
  explicit read_listener(const tenon::address_range& within = {}) : read_visitor(within) {}
  std::vector<std::string> shown;

 private:
  void visit(const tenon::element_read& read) override {
    const auto& elements = read.elements;
    const auto first = reinterpret_cast<const float*>(elements.start);
    shown.push_back(tenon::compose_text(read.reader, " ", static_cast<int>(*first), " ", elements.extents,
                                        read.in_step ? " in step" : ""));
  }
};

template <class E>
std::vector<std::string> reads_of(const E& expression, read_listener to = read_listener()) {
  const auto& node = tenon::as_node(expression);
  const tenon::any_node any{&node, &tenon::statement_type_of<std::remove_cvref_t<decltype(node)>>};
  any.visit_reads(to, "copy");
  return to.shown;
}

using texts = std::vector<std::string>;

tenon::tensor<float, rank<2>> numbered(float number) {
  tenon::tensor<float, rank<2>> result({2, 3});
  result = number;
  return result;
}
const auto x = numbered(1), y = numbered(2);

}  // namespace

TEST_CASE("the nearest operation above reads, views are none", "[reads]") {
  CHECK(reads_of(x) == texts{"copy 1 [2, 3] in step"});
  CHECK(reads_of(x * 2 + tenon::exp(y)) == texts{"multiply 1 [2, 3] in step", "exp 2 [2, 3] in step"});
  CHECK(reads_of(tenon::transpose(x)) == texts{"copy 1 [3, 2] in step"});
  CHECK(reads_of(tenon::exp(tenon::roll(x, 1, axis<0>))) == texts{"exp 1 [2, 3]"});
  CHECK(reads_of(tenon::iota<float>(rank<1>(3)) + 1).empty());
}

TEST_CASE("reductions are in step where rows are kept", "[reads]") {
  CHECK(reads_of(tenon::sum(x, axis<1>)) == texts{"sum 1 [2, 3]"});
  CHECK(reads_of(x - tenon::max(y, axis<1>)) == texts{"subtract 1 [2, 3] in step", "max 2 [2, 3] in step"});
  CHECK(reads_of(tenon::matmul(x, tenon::transpose(y))) == texts{"contract 1 [2, 3]", "contract 2 [3, 2]"});
}

TEST_CASE("of a range of addresses, only what overlaps it is shown", "[reads]") {
  CHECK(reads_of(x + y, read_listener(tenon::addresses(tenon::block_of(y.view())))) == texts{"add 2 [2, 3] in step"});
  CHECK(reads_of(tenon::max(x, axis<0>), read_listener(tenon::addresses(tenon::block_of(y.view())))).empty());
}

TEST_CASE("the type of a statement says what it is called", "[reads]") {
  const auto& type = tenon::statement_type_of<std::remove_cvref_t<decltype(tenon::sum(x + 1, axis<0>))>>;
  CHECK(std::string(type.name) == "sum");
  CHECK(std::string(type.dtype) == "float32");
  CHECK(!type.in_rows);
  CHECK(std::string(type.words->operands[0]->name) == "add");
  CHECK(std::string(tenon::statement_type_of<tenon::node_of<decltype(x)>>.name) == "assign");
}
