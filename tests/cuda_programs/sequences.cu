// tests/cuda_programs/sequences.cu: layers over rows and sequences as a user writes them.
// SPDX-License-Identifier: Apache-2.0
#include "cuda_programs/space.hpp"

namespace tn = tenon;
namespace nn = tenon::nn;
using tn::dyn;

/// Linear layers, norms, activations, and layers that leave elements out.
void check_rows(expectations& expect) {
  auto rows = nn::sequential(
                  nn::linear<12, 12, nn::linear_options{.bias = false}>{}, nn::layer_norm<tn::shape<12>>{}, nn::relu{},
                  nn::relu6{}, nn::leaky_relu{0.1}, nn::threshold(0.1, 0.2), nn::elu{}, nn::celu{}, nn::selu{},
                  nn::sigmoid{}, nn::log_sigmoid{}, nn::silu{}, nn::gelu{}, nn::gelu_tanh{}, nn::softplus{}, nn::mish{},
                  nn::softsign{}, nn::tanh{}, nn::rms_norm<tn::shape<12>>{}, nn::hardsigmoid{}, nn::hardswish{},
                  nn::hardtanh{}, nn::hardshrink{}, nn::softshrink{}, nn::tanhshrink{}, nn::dropout(0.1),
                  nn::alpha_dropout(0.1), nn::unflatten<1, 3, 4>{}, nn::group_norm<3>(3), nn::instance_norm<3>{},
                  nn::local_response_norm(3), nn::flatten{}, nn::prelu<12>{}, nn::glu<>{}, nn::identity{},
                  nn::linear<6, 6>{}, nn::softmax<>{}, nn::log_softmax<>{}, nn::softmin<>{})
                  .to<space>();
  const auto x = tn::evaluated_tensor<space>(tn::normal<float>(tn::shape<dyn, 12>(4, 12), 1));
  nn::pass<decltype(rows), tn::shape<dyn, 12>, space> through_rows(rows);
  const auto shares = through_rows.forward(x.view());
  const float total = tn::sum(shares);
  expect(std::fabs(total - 4) < 1e-4f, "rows end as shares of 1");
  through_rows.backward(x.view(), shares);
  auto two = nn::bilinear<12, 12, 3>{}.to<space>();
  two.initialise(1);
  expect(tn::evaluated_tensor(two.forward(x, x)).extent(1) == 3, "a bilinear layer makes 3 features");
}

/// Words: embeddings, bags of them, recurrent layers and their cells.
void check_words(expectations& expect) {
  const tn::tensor<std::int64_t, tn::rank<2>, space> words = {{1, 2, 0}, {4, 3, 3}};
  auto embedding = nn::embedding<5, 6>{}.to<space>();
  auto bag = nn::embedding_bag<5, 6>{}.to<space>();
  embedding.initialise(2), bag.initialise(3);
  const auto seen = tn::evaluated_tensor(embedding.forward(words));  // [time, batch, features]
  const tn::tensor<std::int64_t, tn::rank<1>, space> listed = {1, 2, 0, 4}, starts = {0, 3};
  expect(bag.forward(listed, starts).extent(0) == 2, "a bag for each start");
  auto long_memory = nn::lstm<6, 8>(6, 8, {.layers = 2, .bidirectional = true}).to<space>();
  auto gated = nn::gru<16, 8>(16, 8).to<space>();
  auto plain = nn::rnn<8, 4>(8, 4).to<space>();
  long_memory.initialise(4), gated.initialise(5), plain.initialise(6);
  const auto [sequence, hidden, cell] = long_memory.forward(seen);
  const auto shorter = gated.forward(sequence);
  const auto shortest = plain.forward(shorter.sequence);
  expect(shortest.sequence.shape() == tn::rank<3>(2, 3, 4), "recurrent layers keep time and batch");
  const auto of_plain = plain.backward(shortest.sequence);
  const auto of_gated = gated.backward(of_plain.sequence);
  long_memory.backward(of_gated.sequence);
  auto step = nn::lstm_cell<6, 8>(6, 8).to<space>();
  auto gru_step = nn::gru_cell<6, 8>(6, 8).to<space>();
  auto rnn_step = nn::rnn_cell<6, 8>(6, 8).to<space>();
  step.initialise(7), gru_step.initialise(8), rnn_step.initialise(9);
  const auto one = tn::evaluated_tensor(tn::reshape(seen, tn::rank<2>(6, 6)));
  expect(step.forward(one).hidden.extent(1) == 8, "a cell makes a state");
  expect(gru_step.forward(one).hidden.extent(1) == rnn_step.forward(one).hidden.extent(1), "as do the others");
}

/// Attention, and the layer of encoders made of it.
void check_attention(expectations& expect) {
  const auto seen = tn::evaluated_tensor<space>(tn::normal<float>(tn::shape<dyn, dyn, 6>(2, 3, 6), 11));
  auto attention = nn::multihead_attention<6, 2, nn::multihead_attention_options{.dropout = 0.1}>{}.to<space>();
  attention.initialise(10);
  expect(tn::evaluated_tensor(attention.forward(seen)).shape().to_array() == seen.shape().to_array(),
         "attention keeps extents");
  auto encoder =
      nn::sequential(nn::transformer_encoder_layer<6, 2, 12>{},
                     nn::transformer_encoder_layer<6, 2, 12, nn::gelu, nn::transformer_options{.norm_first = true}>{})
          .to<space>();
  nn::pass<decltype(encoder), tn::shape<dyn, dyn, 6>, space> through_encoder(encoder);
  const auto encoded = through_encoder.forward(seen.view());
  through_encoder.backward(seen.view(), encoded);
  expect(encoded.extent(2) == 6, "encoders keep features");
}

int main() {
  expectations expect;
  check_rows(expect);
  check_words(expect);
  check_attention(expect);
  return expect.failures;
}
