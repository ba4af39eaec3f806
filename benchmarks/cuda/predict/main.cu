// benchmarks/cuda/predict/main.cu: predicts every row: `predict [RESULT.json [PART OF A NAME]]`.
// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

int main(int argument_count, char** arguments) {
  predict::session session(argument_count, arguments);
  predict::memory_rows(session);
  predict::product_rows(session);
  predict::window_rows(session);
  predict::network_rows(session);
  return session.write() ? 0 : 1;
}
