// expect: tenon: a loader reads its data set later; give the data set a name that outlives it
// tests/compile_fail/sampled_temporary.cpp: a loader with a sampler of a data set that is gone after the line.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/dataset.hpp>
#include <tenon/data/loader.hpp>

tenon::data::labelled_images made();

void statement() {
#ifdef MISUSE
  tenon::data::loader batches(made(), tenon::data::random_sampler{10}, {.batch = 4});
#else
  const auto examples = made();
  tenon::data::loader batches(examples, tenon::data::random_sampler{10}, {.batch = 4});
#endif
  for (const auto& batch : batches.epoch(0)) (void)batch;
}
