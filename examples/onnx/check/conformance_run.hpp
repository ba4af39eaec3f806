// examples/onnx/check/conformance_run.hpp: a case of a single operator that runs as a network and is compared.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <tenon/device/emulated.hpp>
#include <tenon/io/npy.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train/checkpoint.hpp>
#include <vector>
#if defined(__CUDACC__)
#include <tenon/algorithms/cuda.hpp>
#endif

/// Where networks live.
#if defined(TENON_CONFORMANCE_SPACE)
using space = TENON_CONFORMANCE_SPACE;
#else
using space = tenon::host;
#endif

/// Where a case lies.
struct conformance_case {
  std::string weights, folder;

  template <class Net>
  void load(Net& net) const {
    tenon::train::load_state(net, weights);
    net.eval();
  }
  template <class Input>
  auto read(const char* file) const {
    const auto x = tenon::io::read_npy<typename Input::element, Input::rank>(folder + file);
    Input made{typename Input::shape_type(x.shape())};
    if (x.size() != 0) made.copy_from(x);
    return made.template to<space>();
  }
  /// throws    error where types, extents or elements differ
  template <class T, int Rank, class Found>
  void compare(const Found& found, const char* file, double absolute, double relative) const {
    const auto all = tenon::evaluated_tensor<tenon::host>(found);
    using made = std::remove_cvref_t<decltype(all)>;
    if constexpr (!std::is_same_v<typename made::element, T> || made::rank != Rank) {
      throw tenon::error("another element type or rank");
    } else {
      const auto expected = tenon::io::read_npy<T, Rank>(folder + file);
      if (all.shape().to_array() != expected.shape().to_array()) throw tenon::error("other extents");
      for (tenon::index i = 0; i < expected.size(); ++i) {
        const auto a = static_cast<double>(all.data()[i]), e = static_cast<double>(expected.data()[i]);
        const bool fits =
            std::isnan(e) ? std::isnan(a) : a == e || std::fabs(a - e) <= absolute + relative * std::fabs(e);
        if (!fits) throw tenon::error(tenon::compose_text("element ", i, " is ", a, ", expected ", e));
      }
    }
  }
  /// Each element is 0 or the input's, scaled; and that as the mask tells, where there is one.
  /// throws    error where that is not so
  template <class Input, class Found, class... Mask>
  void check_dropout(const Input& x, const Found& found, double scale, const Mask&... mask) const {
    const auto given = x.template to<tenon::host>();
    const auto all = tenon::evaluated_tensor<tenon::host>(found);
    const auto stay = std::tuple{tenon::evaluated_tensor<tenon::host>(mask)...};
    for (tenon::index i = 0; i < given.size(); ++i) {
      const double y = all.data()[i], kept = scale * static_cast<double>(given.data()[i]);
      const bool is_kept = std::fabs(y - kept) <= 1e-5;
      bool stays = is_kept;
      if constexpr (sizeof...(Mask) == 1) stays = std::get<0>(stay).data()[i];
      if (stays ? !is_kept : y != 0)
        throw tenon::error(tenon::compose_text("element ", i, " is ", y, ", expected 0 or ", kept));
    }
  }
};

/// A row in the list of all cases.
struct conformance_entry {
  const char *family, *name;
  void (*run)(const conformance_case&);

  conformance_entry(const char* group, const char* title, void (*body)(const conformance_case&))
      : family(group), name(title), run(body) {
    all().push_back(*this);
  }
  static std::vector<conformance_entry>& all() {
    static std::vector<conformance_entry> entries;
    return entries;
  }
};
