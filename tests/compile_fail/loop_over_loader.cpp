// expect: tenon: a loop reads an epoch of a loader: for (const auto& [x, y] : batches.epoch(0))
// tests/compile_fail/loop_over_loader.cpp: a loop over a loader in place of an epoch.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/dataset.hpp>
#include <tenon/data/loader.hpp>

void read(const tenon::data::labelled_images& examples) {
  tenon::data::loader batches(examples, {.batch = 4});
#ifdef MISUSE
  for (const auto& batch : batches) (void)batch;
#else
  for (const auto& batch : batches.epoch(0)) (void)batch;
#endif
}
