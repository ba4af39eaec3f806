// tests/support/golden.hpp: cases that PyTorch computed, where the shared folder is there.
// A case is a folder of NPY files; results are compared with the tolerances that the cases came with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/io/npy.hpp>

#include "support/elements.hpp"
#include "support/shared_dir.hpp"

namespace tenon_test {

/// One case: `golden_case conv("conv2d"); if (!conv) return;`
class golden_case {
 public:
  explicit golden_case(const std::string& name) : folder_(shared_path("golden/" + name)) {}

  explicit operator bool() const { return folder_.has_value(); }
  const std::filesystem::path& folder() const { return *folder_; }
  /// The tensor in `file`.npy.
  template <class T, int Rank, class Space = tenon::host>
  auto read(const std::string& file) const {
    return tenon::io::read_npy<T, Rank>(*folder_ / (file + ".npy")).template to<Space>();
  }

 private:
  std::optional<std::filesystem::path> folder_;
};

/// Empty when |actual - expected| <= absolute + relative * |expected| everywhere.
template <class Actual, class Expected>
std::string golden_difference(const Actual& actual, const Expected& expected, double relative = 1e-4,
                              double absolute = 2e-5) {
  const auto found = numbers_of(actual), wanted = numbers_of(expected);
  if (found.size() != wanted.size()) return tenon::compose_text(found.size(), " values, expected ", wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!(std::fabs(found[i] - wanted[i]) <= absolute + relative * std::fabs(wanted[i]))) {
      return tenon::compose_text("at ", i, ": ", found[i], ", expected ", wanted[i]);
    }
  }
  return "";
}

}  // namespace tenon_test
