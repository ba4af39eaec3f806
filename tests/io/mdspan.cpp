// tests/io/mdspan.cpp: views and mdspans, of a small mdspan of this file and of those of libraries that are found.
// The standard's (C++23), Kokkos' and cuda::std's are tested where their headers are; else their case says so.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/mdspan.hpp>

#include <array>
#include <string>
#include <tenon/expressions.hpp>
#include <type_traits>

#include "support/text_of.hpp"
#if __has_include(<mdspan/mdspan.hpp>)
#include <mdspan/mdspan.hpp>
#define TENON_TEST_KOKKOS 1
#endif
#if __has_include(<cuda/std/mdspan>)
#include <cuda/std/mdspan>
#define TENON_TEST_CUDA_STD 1
#endif

namespace tn = tenon;
namespace io = tenon::io;
using tenon_test::text_of;

namespace {

/// What an mdspan of two axes is: the interface of the standard's, as far as from_mdspan and to_mdspan need it.
namespace plain {

inline constexpr auto dynamic = static_cast<std::size_t>(-1);

template <std::size_t First, std::size_t Second>
struct extents {
  std::array<short, 2> all{};
  extents() = default;
  extents(short first, short second) : all{first, second} {}
  short extent(std::size_t axis) const { return all[axis]; }
};

struct layout_right {
  template <class Extents>
  struct mapping {
    using rank_type = std::size_t;
    Extents all;
    explicit mapping(const Extents& given) : all(given) {}
    short stride(std::size_t axis) const { return axis == 0 ? all.extent(1) : short{1}; }
  };
};

struct layout_stride {
  template <class Extents>
  struct mapping {
    using rank_type = std::size_t;
    Extents all;
    std::array<short, 2> steps;
    mapping(const Extents& given, const std::array<short, 2>& strides) : all(given), steps(strides) {}
    short stride(std::size_t axis) const { return steps[axis]; }
    const std::array<short, 2>& strides() const { return steps; }
  };
};

template <class T, class Layout, std::size_t First = dynamic, std::size_t Second = dynamic>
struct span {
  using element_type = T;
  using data_handle_type = T*;
  using reference = T&;
  using index_type = short;
  using rank_type = std::size_t;
  using accessor_type = void;
  using layout_type = Layout;
  using extents_type = plain::extents<First, Second>;
  using mapping_type = typename Layout::template mapping<extents_type>;
  static constexpr std::size_t rank() { return 2; }
  static constexpr bool is_always_strided() { return true; }
  static constexpr std::size_t static_extent(std::size_t axis) { return axis == 0 ? First : Second; }

  span(T* first, const mapping_type& map) : first_(first), map_(map) {}
  T* data_handle() const { return first_; }
  const mapping_type& mapping() const { return map_; }
  const extents_type& extents() const { return map_.all; }

 private:
  T* first_;
  mapping_type map_;
};

using rows = span<float, layout_right, dynamic, 3>;
using strided = span<float, layout_stride>;

}  // namespace plain

/// Both ways by way of a library's mdspan: static extents, strides, elements that are read only.
template <class Rows, class Strided, class ReadOnly>
void check_library() {
  tn::tensor<float, tn::shape<tn::dyn, 3>> x = {{0, 1, 2}, {3, 4, 5}};
  const Rows span = io::to_mdspan<Rows>(x.view());
  CHECK(span.data_handle() == x.data());
  const auto back = io::from_mdspan(span);
  static_assert(std::is_same_v<decltype(back), const tn::view<float, tn::shape<tn::dyn, 3>>>);
  CHECK(back.data() == x.data());
  CHECK(back(1, 2) == 5.0f);

  const tn::view<float, tn::rank<2>> transposed(x.data(), tn::rank<2>(3, 2), {{1, 3}});
  const auto turned = io::from_mdspan(io::to_mdspan<Strided>(transposed));
  CHECK(turned.strides() == transposed.strides());
  turned = turned * 2.0f;
  CHECK(x(1, 2) == 10.0f);

  const auto& constant = x;
  const auto reading = io::from_mdspan(io::to_mdspan<ReadOnly>(constant.view()));
  static_assert(std::is_same_v<decltype(reading), const tn::view<const float, tn::rank<2>>>);
  CHECK(reading(0, 1) == 2.0f);

  const tn::view<float, tn::rank<2>> narrow(x.data(), tn::rank<2>(2, 2), {{3, 1}});
  CHECK_THROWS_AS(io::to_mdspan<Rows>(narrow), tn::shape_error);
}

}  // namespace

TEST_CASE("views become mdspans and come back", "[io][mdspan]") {
  check_library<plain::rows, plain::strided, plain::span<const float, plain::layout_right>>();
}

TEST_CASE("misfits of mdspans are refused", "[io][mdspan]") {
  float memory[12] = {};
  using matrix = tn::view<float, tn::rank<2>>;
  CHECK(text_of<tn::shape_error>([&] { io::to_mdspan<plain::rows>(matrix(memory, tn::rank<2>(2, 4))); }) ==
        "to_mdspan: axis 1: extent 4, expected 3 (extents [2, 4])");
  CHECK(text_of<tn::shape_error>([&] { io::to_mdspan<plain::rows>(matrix(memory, tn::rank<2>(2, 3), {{4, 1}})); }) ==
        "to_mdspan: axis 0: stride 4, expected 3 of the mdspan's layout; layout_stride takes any");
  CHECK(text_of<tn::shape_error>([&] { io::to_mdspan<plain::strided>(matrix(memory, tn::rank<2>(2, 3), {{0, 1}})); }) ==
        "to_mdspan: axis 0: stride 0, expected at least 3 in an mdspan; copy the view");
  const auto is_refused = [&]<class Span>(std::type_identity<Span>, const matrix& elements, const std::string& why) {
    CHECK(text_of<tn::shape_error>([&] { io::to_mdspan<Span>(elements); }) ==
          "to_mdspan: axis " + why + " in an mdspan; copy the view");
  };
  const matrix flipped(memory + 2, tn::rank<2>(2, 3), {{3, -1}});
  is_refused(std::type_identity<plain::rows>(), flipped, "1: stride -1, expected at least 1");
  is_refused(std::type_identity<plain::strided>(), flipped, "1: stride -1, expected at least 1");
  const matrix windows(memory, tn::rank<2>(4, 3), {{2, 1}});
  is_refused(std::type_identity<plain::strided>(), windows, "0: stride 2, expected at least 3");
  CHECK(text_of<tn::shape_error>([&] {
          io::to_mdspan<plain::strided>(matrix(memory, tn::rank<2>(1, 40000), {{1, 1}}));
        }) == "to_mdspan: axis 1: extent 40000, expected one that the index type of the mdspan holds");
}

TEST_CASE("spans that the index type of an mdspan cannot count are refused", "[io][mdspan]") {
  float memory[2] = {};
  using matrix = tn::view<float, tn::rank<2>>;
  const std::string beyond = " elements, expected one that the index type of the mdspan holds";
  const auto text = [&]<class Span>(std::type_identity<Span>, const matrix& elements) {
    return text_of<tn::shape_error>([&] { io::to_mdspan<Span>(elements); });
  };
  const matrix square(memory, tn::rank<2>(300, 300)), steps(memory, tn::rank<2>(2, 1), {{40000, 1}});
  CHECK(text(std::type_identity<plain::strided>(), square) ==
        "to_mdspan: extents [300, 300], strides [300, 1]: a span of 90000" + beyond);
  CHECK(text(std::type_identity<plain::span<float, plain::layout_right>>(), square) ==
        "to_mdspan: extents [300, 300], strides [300, 1]: a span of 90000" + beyond);
  CHECK(text(std::type_identity<plain::strided>(), steps) ==
        "to_mdspan: extents [2, 1], strides [40000, 1]: a span of 40001" + beyond);

  CHECK(io::to_mdspan<plain::strided>(matrix(memory, tn::rank<2>(1, 32767))).mapping().stride(0) == 32767);
  CHECK_THROWS_AS(io::to_mdspan<plain::strided>(matrix(memory, tn::rank<2>(1, 32768))), tn::shape_error);
}

TEST_CASE("strides that nothing walks over are taken", "[io][mdspan]") {
  float memory[12] = {};
  using matrix = tn::view<float, tn::rank<2>>;
  const auto one_row = io::to_mdspan<plain::strided>(matrix(memory, tn::rank<2>(1, 3), {{0, 2}}));
  CHECK(one_row.mapping().stride(0) == 6);  // behind the last element
  CHECK(one_row.mapping().stride(1) == 2);
  const auto none = io::to_mdspan<plain::strided>(matrix(memory, tn::rank<2>(3, 0)));
  CHECK(none.mapping().stride(0) == 1);
  const auto within = io::to_mdspan<plain::strided>(matrix(memory, tn::rank<2>(1, 3), {{5, 2}}));
  CHECK(within.mapping().stride(0) == 6);
  const auto short_of = io::to_mdspan<plain::strided>(matrix(memory, tn::rank<2>(1, 16384), {{0, 2}}));
  CHECK(short_of.mapping().stride(0) == 1);
  const auto far = io::to_mdspan<plain::strided>(matrix(memory, tn::rank<2>(1, 3), {{40000, 1}}));
  CHECK(far.mapping().stride(0) == 3);
  CHECK(io::to_mdspan<plain::strided>(matrix(memory, tn::rank<2>(0, 3), {{40000, 1}})).mapping().stride(0) == 1);
  CHECK(io::to_mdspan<plain::rows>(matrix(memory, tn::rank<2>(1, 3), {{7, 1}})).extents().extent(0) == 1);
}

#if defined(__cpp_lib_mdspan)
TEST_CASE("std::mdspan", "[io][mdspan]") {
  using rows = std::mdspan<float, std::extents<int, std::dynamic_extent, 3>>;
  check_library<rows, std::mdspan<float, std::dextents<int, 2>, std::layout_stride>,
                std::mdspan<const float, std::dextents<int, 2>>>();
  tn::tensor<float, tn::shape<tn::dyn, 3>> x = {{0, 1, 2}, {3, 4, 5}};
  const auto span = io::to_mdspan(x.view());
  static_assert(span.rank() == 2 && span.static_extent(1) == 3);
  CHECK(span.data_handle() == x.data());
  float one = 7;
  const auto scalar = io::from_mdspan(std::mdspan<float, std::extents<int>>(&one));
  CHECK(scalar() == 7.0f);
  CHECK(io::to_mdspan(scalar).data_handle() == &one);
  const auto columns = io::from_mdspan(std::mdspan<float, std::dextents<int, 2>, std::layout_left>(x.data(), 3, 2));
  CHECK(columns(2, 1) == 5.0f);
}
#else
TEST_CASE("std::mdspan is absent from this standard library", "[io][mdspan]") { WARN("no __cpp_lib_mdspan: skipped"); }
#endif

#if defined(TENON_TEST_KOKKOS)
TEST_CASE("Kokkos' mdspan", "[io][mdspan]") {
  using rows = Kokkos::mdspan<float, Kokkos::extents<int, Kokkos::dynamic_extent, 3>>;
  check_library<rows, Kokkos::mdspan<float, Kokkos::dextents<int, 2>, Kokkos::layout_stride>,
                Kokkos::mdspan<const float, Kokkos::dextents<int, 2>>>();
}
#else
TEST_CASE("Kokkos' mdspan is absent", "[io][mdspan]") { WARN("no header <mdspan/mdspan.hpp>: skipped"); }
#endif

#if defined(TENON_TEST_CUDA_STD)
TEST_CASE("cuda::std::mdspan", "[io][mdspan]") {
  using rows = cuda::std::mdspan<float, cuda::std::extents<int, cuda::std::dynamic_extent, 3>>;
  check_library<rows, cuda::std::mdspan<float, cuda::std::dextents<int, 2>, cuda::std::layout_stride>,
                cuda::std::mdspan<const float, cuda::std::dextents<int, 2>>>();
}
#else
TEST_CASE("cuda::std::mdspan is absent", "[io][mdspan]") { WARN("no header <cuda/std/mdspan>: skipped"); }
#endif
