// expect: tenon: argmax keeps its axis, so each position would be compared with each label
// lines: 8: g++ names the node whose elements these are
// tests/compile_fail/positions_beside_labels.cpp: an accuracy whose positions keep the axis of classes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

float accuracy(const tenon::tensor<float, tenon::rank<2>>& scores,
               const tenon::tensor<std::int64_t, tenon::rank<1>>& labels) {
#ifdef MISUSE
  return tenon::mean(tenon::cast<float>(tenon::argmax(scores, tenon::axis<1>) == labels));
#else
  return tenon::mean(tenon::cast<float>(tenon::argmax(scores, tenon::drop<1>) == labels));
#endif
}
