// tests/expr/dependence.cpp: what types know of the variables of an expression.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/dependence.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"

namespace {

using named = tenon::leaf<float, tenon::rank<1>, tenon::host, tenon::variable_name<3>>;
using unnamed = tenon::leaf<float, tenon::rank<1>, tenon::host>;
template <int Name, class Expression>
constexpr bool changes_with(const Expression&) {
  return tenon::depends_on<Name, Expression>;
}

}  // namespace

TEST_CASE("an expression depends on what it changes with smoothly", "[dependence]") {
  const named v{{nullptr, tenon::rank<1>(3)}, {}};
  const unnamed x{{nullptr, tenon::rank<1>(3)}, {}};
  CHECK(changes_with<3>(tenon::exp(v) * x));
  CHECK(!changes_with<2>(tenon::exp(v) * x));
  CHECK(changes_with<tenon::any_variable>(tenon::sum(tenon::exp(v) * x)));
  CHECK(!changes_with<tenon::any_variable>(tenon::exp(x)));
  CHECK(!changes_with<3>(tenon::argmax(v)));
  CHECK(!changes_with<3>(tenon::stop_gradient(v) + tenon::floor(v) + tenon::cast<float>(v > 0)));
}
