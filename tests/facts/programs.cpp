// tests/facts/programs.cpp: what must be true of types before anything runs.
// Programs travel to devices byte by byte, so they are trivially copyable and small; static extents weigh nothing.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace tenon_test {

using tenon::rank;
using tenon::shape;
using matrix = tenon::tensor<float, rank<2>>;

template <class Node>
using program_of =
    decltype(std::declval<const Node&>().template lower<0>(tenon::identity_map<Node::shape_type::rank>()));

template <class Node>
constexpr bool travels = std::is_trivially_copyable_v<program_of<Node>>;

const matrix& x();  // only its type is wanted

using sum_of_products = decltype(x() * x() + tenon::exp(-tenon::abs(x())));
using owned = decltype(std::declval<matrix>() * 2 + 1);
using mixed = decltype(tenon::where(x() > 0, tenon::transpose(x()), tenon::uniform<float>(rank<2>(1, 1), 1)));

static_assert(travels<sum_of_products>);
static_assert(travels<owned>);
static_assert(travels<mixed>);
static_assert(sizeof(program_of<sum_of_products>) <= 3 * (sizeof(float*) + 2 * sizeof(tenon::index)) + 24);
static_assert(std::is_empty_v<shape<3, 224, 224>>);
static_assert(sizeof(shape<tenon::dyn, 3, tenon::dyn>) == 2 * sizeof(tenon::index));
static_assert(sizeof(tenon::view<float, shape<4, 4>>) <= sizeof(float*) + 2 * sizeof(tenon::index) + 8);
static_assert(std::is_trivially_copyable_v<tenon::strided_target<float, 4>>);
static_assert(tenon::kernel_count<decltype(tenon::relu(tenon::matmul(x(), x()) + x()))> == 1);
static_assert(tenon::kernel_count<decltype(tenon::softmax(x(), tenon::axis<-1>))> == 1);

}  // namespace tenon_test
