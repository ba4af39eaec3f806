// tests/algorithms/onnx.cpp: scans, selections and scatters against the cases of the ONNX project.
// A case is a folder of NPY files: input_0 and on, output_0 and on; its name says what is asked.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/npy.hpp>

#include "algorithms/distant.hpp"
#include "support/elements.hpp"
#include "support/shared_dir.hpp"

namespace {

using tenon::axis;
using tenon_test::difference;
using tenon_test::extents_of;
using tenon_test::numbers_of;

/// One case: `onnx_case conv("test_cumsum_1d"); if (!conv) return;`
struct onnx_case {
  std::optional<std::filesystem::path> folder;

  explicit onnx_case(const std::string& name) : folder(tenon_test::shared_path("conformance/test_" + name)) {}
  explicit operator bool() const { return folder.has_value(); }

  template <class T, int Rank, class Space>
  auto read(const std::string& file) const {
    return tenon::io::read_npy<T, Rank>(*folder / (file + ".npy")).template to<Space>();
  }
};

/// Checks extents and elements of an output.
template <class T, int Rank, class Result>
void check_output(const onnx_case& each, const std::string& file, const Result& result) {
  const auto expected = each.read<T, Rank, tenon::host>(file);
  CHECK(extents_of(result) == extents_of(expected));
  CHECK(difference(numbers_of(result), numbers_of(expected), 1e-6) == "");
}

/// A case of one input and one output.
template <class T, int Rank, class Space, class Compute>
void check_case(const std::string& name, const Compute& compute) {
  CAPTURE(name);
  const onnx_case each(name);
  if (!each) return;
  check_output<T, Rank>(each, "output_0", compute(each.read<T, Rank, Space>("input_0"), each));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("ONNX: CumSum and CumProd", "[onnx]", tenon_test::algorithm_spaces) {
  using space = TestType;
  check_case<double, 1, space>("cumsum_1d", [](auto x, auto&) { return tenon::cumsum(x, axis<0>); });
  check_case<double, 1, space>("cumsum_1d_exclusive",
                               [](auto x, auto&) { return tenon::cumsum(x, axis<0>, {.exclusive = true}); });
  check_case<int, 2, space>("cumsum_2d_int32", [](auto x, auto&) { return tenon::cumsum(x, axis<0>); });
  check_case<double, 2, space>("cumsum_2d_negative_axis", [](auto x, auto&) { return tenon::cumsum(x, axis<-1>); });
  check_case<double, 1, space>("cumprod_1d_exclusive",
                               [](auto x, auto&) { return tenon::cumprod(x, axis<0>, {.exclusive = true}); });
  check_case<int, 1, space>("cumprod_1d_int32_exclusive",
                            [](auto x, auto&) { return tenon::cumprod(x, axis<0>, {.exclusive = true}); });
  check_case<double, 1, space>("cumprod_1d_reverse_exclusive", [](auto x, auto&) {
    return tenon::cumprod(x, axis<0>, {.exclusive = true, .reverse = true});
  });
  check_case<double, 2, space>("cumprod_2d_axis_0", [](auto x, auto&) { return tenon::cumprod(x, axis<0>); });
  check_case<double, 2, space>("cumprod_2d_negative_axis", [](auto x, auto&) { return tenon::cumprod(x, axis<-1>); });
}

TEMPLATE_LIST_TEST_CASE("ONNX: Compress and NonZero", "[onnx]", tenon_test::algorithm_spaces) {
  using space = TestType;
  const auto condition = [](const onnx_case& each) { return each.read<bool, 1, space>("input_1"); };
  check_case<float, 2, space>("compress_0",
                              [&](auto x, auto& each) { return tenon::compress(x, condition(each), axis<0>); });
  check_case<float, 2, space>("compress_1",
                              [&](auto x, auto& each) { return tenon::compress(x, condition(each), axis<1>); });
  check_case<float, 2, space>("compress_negative_axis",
                              [&](auto x, auto& each) { return tenon::compress(x, condition(each), axis<-1>); });
  if (const onnx_case each("compress_default_axis"); each) {
    check_output<float, 1>(each, "output_0", tenon::compress(each.read<float, 2, space>("input_0"), condition(each)));
  }
  if (const onnx_case each("nonzero_example"); each) {
    check_output<std::int64_t, 2>(each, "output_0", tenon::nonzero(each.read<bool, 2, space>("input_0")));
  }
}

TEMPLATE_LIST_TEST_CASE("ONNX: ScatterElements and ScatterND", "[onnx]", tenon_test::algorithm_spaces) {
  using space = TestType;
  const auto scattered = [](auto y, const onnx_case& each, auto axes, auto operation) {
    tenon::scatter(y, axes, each.read<std::int64_t, 2, space>("input_1"), each.read<float, 2, space>("input_2"),
                   operation);
    return y;
  };
  check_case<float, 2, space>("scatter_elements_with_duplicate_indices",
                              [&](auto y, auto& each) { return scattered(y, each, axis<1>, tenon::add); });
  check_case<float, 2, space>("scatter_elements_with_reduction_mul",
                              [&](auto y, auto& each) { return scattered(y, each, axis<1>, tenon::multiply); });
  check_case<float, 2, space>("scatter_elements_without_axis",
                              [&](auto y, auto& each) { return scattered(y, each, axis<0>, tenon::overwrite); });
  const auto written = [](auto y, const onnx_case& each, auto operation) {
    tenon::scatter_nd(y, each.read<std::int64_t, 2, space>("input_1"), each.read<float, 3, space>("input_2"),
                      operation);
    return y;
  };
  check_case<float, 3, space>("scatternd", [&](auto y, auto& each) { return written(y, each, tenon::overwrite); });
  check_case<float, 3, space>("scatternd_max", [&](auto y, auto& each) { return written(y, each, tenon::maximum); });
  check_case<float, 3, space>("scatternd_min", [&](auto y, auto& each) { return written(y, each, tenon::minimum); });
}

TEMPLATE_LIST_TEST_CASE("ONNX: TopK and Unique", "[onnx]", tenon_test::algorithm_spaces) {
  using space = TestType;
  if (const onnx_case each("top_k_same_values_largest"); each) {
    const auto found = tenon::topk(each.read<std::int64_t, 1, space>("input_0"), 3, axis<0>);
    check_output<std::int64_t, 1>(each, "output_0", found.values);
    check_output<std::int64_t, 1>(each, "output_1", found.indices);
  }
  if (const onnx_case each("top_k_same_values_2d"); each) {
    const auto found = tenon::topk(each.read<std::int64_t, 2, space>("input_0"), 3, axis<1>);
    check_output<std::int64_t, 2>(each, "output_0", found.values);
    check_output<std::int64_t, 2>(each, "output_1", found.indices);
  }
  if (const onnx_case each("top_k_uint64"); each) {
    const auto found = tenon::topk(each.read<std::uint64_t, 2, space>("input_0"), 3, axis<1>);
    check_output<std::uint64_t, 2>(each, "output_0", found.values);
    check_output<std::int64_t, 2>(each, "output_1", found.indices);
  }
  if (const onnx_case each("unique_sorted_with_axis_3d"); each) {
    const auto found = tenon::unique(each.read<float, 3, space>("input_0"), axis<1>);
    check_output<float, 3>(each, "output_0", found.values);
    check_output<std::int64_t, 1>(each, "output_1", found.indices);
    check_output<std::int64_t, 1>(each, "output_2", found.inverse);
    check_output<std::int64_t, 1>(each, "output_3", found.counts);
  }
}
