// expect: tenon: batches are read later than this loader lives; give the loader a name that outlives them
// tests/compile_fail/epoch_of_temporary.cpp: batches of a loader that is gone before they are read.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/dataset.hpp>
#include <tenon/data/loader.hpp>

void read(const tenon::data::labelled_images& examples) {
#ifdef MISUSE
  for (const auto& batch : tenon::data::loader(examples, {.batch = 4}).epoch(0)) (void)batch;
#else
  tenon::data::loader batches(examples, {.batch = 4});
  for (const auto& batch : batches.epoch(0)) (void)batch;
#endif
}
