// tests/linalg/shapes.cpp: extents of results as types know them, and of operands that do not fit.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/shapes.hpp>

#include "linalg/matrices.hpp"

namespace {

using tenon::dyn;
using tenon::shape;
namespace detail = tenon::detail;

template <class Left, class Right>
using solution = decltype(tenon::solve(std::declval<const tenon::tensor<float, Left>&>(),
                                       std::declval<const tenon::tensor<float, Right>&>()))::shape_type;

static_assert(std::is_same_v<solution<shape<3, 3>, shape<3>>, shape<3>>);
static_assert(std::is_same_v<solution<shape<3, 3>, shape<3, 2>>, shape<3, 2>>);
static_assert(std::is_same_v<solution<shape<3, 3>, shape<7, 3, 2>>, shape<7, 3, 2>>);
static_assert(std::is_same_v<solution<shape<7, 3, 3>, shape<7, 3>>, shape<7, 3>>);
static_assert(std::is_same_v<solution<shape<7, 3, 3>, shape<1, 3, dyn>>, shape<7, 3, dyn>>);
static_assert(std::is_same_v<decltype(detail::leading_extents<2>(shape<4, 5, 6>())), shape<4>>);
static_assert(std::is_same_v<decltype(detail::smaller_extent(shape<4, 5, 6>())), shape<5>>);
static_assert(std::is_same_v<decltype(detail::batch_with(shape<4>(), shape<5, 6>())), shape<4, 5, 6>>);

}  // namespace

TEST_CASE("extents of results of run-time operands", "[shapes]") {
  const tenon::rank<3> extents(4, 7, 6);
  CHECK(detail::smaller_extent(extents).extent(0) == 6);
  CHECK(detail::leading_extents<1>(extents).to_array() == tenon::array<tenon::index, 2>{{4, 7}});
  CHECK(detail::axes_of_shape<1, 2>(extents).to_array() == tenon::array<tenon::index, 2>{{7, 6}});
  const tenon::tensor<double, tenon::rank<3>> a({2, 3, 3});
  const tenon::tensor<double, tenon::rank<3>> b({5, 3, 1});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)tenon::solve(a, b); }) ==
        "solve: axis 0: extents 2 and 5 differ, expected equal or one of them 1 (operands [2, 3, 3] and [5, 3, 1])");
}
