// benchmarks/cuda/predict/networks.cu: attention, G7 and G8: recurrent steps and an optimizer's step.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/adam.hpp>
#include <tenon/train/optimizer.hpp>

#include "model.hpp"

namespace {

namespace tn = tenon;
using element = tn::bfloat16;

/// Scores and results are products of `length` x `length` x `width` for each head; a gradient has five of them.
void attention_rows(predict::session& session, tn::index heads, tn::index length, tn::index width) {
  const tn::rank<3> extents(heads, length, width);
  const auto query = predict::random_tensor<element>(extents, 1), key = predict::random_tensor<element>(extents, 2),
             value = predict::random_tensor<element>(extents, 3),
             gradient = predict::random_tensor<element>(extents, 4);
  tn::tensor<element, tn::rank<3>, tn::cuda> result(extents), of_query(extents), of_key(extents), of_value(extents);
  const double product = 2.0 * static_cast<double>(heads * length * length * width);
  const double bytes = 2.0 * static_cast<double>(extents.count());
  const std::string name = tn::compose_text(heads, "x", length, "x", width);
  session.row("attention/forward_" + name, {.bytes = 4 * bytes, .operations = 2 * product},
              [&] { result = tn::scaled_dot_product_attention(query, key, value); });
  const auto attended = tn::scaled_dot_product_attention(query, key, value);
  session.row("attention/gradients_" + name, {.bytes = 7 * bytes, .operations = 5 * product}, [&] {
    tn::write_attention_gradients(attended, tn::as_node(gradient), of_query.write_view(), of_key.write_view(),
                                  of_value.write_view());
  });
}

/// Of all gates: products of states with weights that stay where they are; those of the input come before. What blocks
/// do while they wait for each other counts as well.
void recurrent_row(predict::session& session, tn::index steps, tn::index batch, tn::index hidden) {
  tn::nn::lstm<tn::dyn, tn::dyn, tn::cuda, element> layer(hidden, hidden);
  layer.initialise(1);
  const auto x = predict::random_tensor<element>(tn::rank<3>(steps, batch, hidden), 1);
  const tn::no_grad unrecorded;
  const double product = 2.0 * 4.0 * static_cast<double>(batch * hidden * hidden);
  session.row(tn::compose_text("G7d/lstm_", steps, "_steps_", batch, "x", hidden),
              {.bytes = 4.0 * static_cast<double>(x.size()), .operations = 2 * product * static_cast<double>(steps)},
              [&] { layer(x); });
}

/// Values, gradients and both averages are read; values and averages are written.
void optimizer_row(predict::session& session, tn::index inputs, tn::index outputs) {
  tn::nn::linear<tn::dyn, tn::dyn> made(inputs, outputs);
  made.initialise(1);
  auto layer = made.to<tn::cuda>();
  tn::train::adamw<tn::cuda> optimizer;
  optimizer.step(layer);  // so that there are averages
  session.row("G8b/adamw", {.bytes = 7.0 * sizeof(float) * static_cast<double>((inputs + 1) * outputs)},
              [&] { optimizer.step(layer); });
}

}  // namespace

void predict::network_rows(session& session) {
  attention_rows(session, 4, 512, 64);
  recurrent_row(session, 4, 32, 128);
  optimizer_row(session, 1024, 1024);
}
