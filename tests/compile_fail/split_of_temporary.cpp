// expect: tenon: parts read their data set later; give the data set a name that outlives them
// tests/compile_fail/split_of_temporary.cpp: parts of a data set that is gone after the line.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/combinators.hpp>

tenon::data::labelled_images made();

void statement() {
#ifdef MISUSE
  const auto parts = tenon::data::random_split(made(), {0.5, 0.5});
#else
  const auto examples = made();
  const auto parts = tenon::data::random_split(examples, {0.5, 0.5});
#endif
  (void)parts;
}
