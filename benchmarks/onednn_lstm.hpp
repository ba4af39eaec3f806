// benchmarks/onednn_lstm.hpp: a layer of oneDNN's LSTM, where it is found.
// Its weights are brought into the layout that it prefers beforehand, once; input and output are plain.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

/// Extents of an LSTM of one direction.
struct lstm_case {
  const char* name;
  long time, batch, input, hidden, layers;

  constexpr long input_of(long layer) const { return layer == 0 ? input : hidden; }
  constexpr double operations() const {
    double result = 0;
    for (long layer = 0; layer < layers; ++layer) {
      result += 2.0 * static_cast<double>(time * batch * 4 * hidden * (input_of(layer) + hidden));
    }
    return result;
  }
};

#if defined(BENCHMARKS_ONEDNN)
#include <dnnl.hpp>
#include <unordered_map>

class onednn_lstm {
 public:
  using memory = dnnl::memory;
  /// `weights`: [4 hidden, input] and [4 hidden, hidden] in the order i, f, g, o, which is oneDNN's, and two biases.
  onednn_lstm(const lstm_case& of, long layer, float* input, float* const* weights)
      : engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_),
        output_(static_cast<std::size_t>(of.time * of.batch * of.hidden)) {
    using tag = memory::format_tag;
    const long features = of.input_of(layer), hidden = of.hidden;
    const auto described = [](const memory::dims& extents, tag layout) {
      return memory::desc(extents, memory::data_type::f32, layout);
    };
    for (long i = 0; i < 4 * hidden; ++i) bias_.push_back(weights[2][i] + weights[3][i]);
    const auto sequence = described({of.time, of.batch, features}, tag::tnc);
    const auto results = described({of.time, of.batch, hidden}, tag::tnc);
    const auto bias = described({1, 1, 4, hidden}, tag::ldgo);
    const dnnl::lstm_forward::primitive_desc found(
        engine_, dnnl::prop_kind::forward_inference, dnnl::rnn_direction::unidirectional_left2right, sequence,
        memory::desc(), memory::desc(), described({1, 1, features, 4, hidden}, tag::any),
        described({1, 1, hidden, 4, hidden}, tag::any), bias, results, memory::desc(), memory::desc());
    lstm_ = dnnl::lstm_forward(found);
    const auto weight = [&](long depth, float* elements, const memory::desc& wanted) {  // plain: rows of gates
      memory plain(described({1, 1, depth, 4, hidden}, tag::ldgoi), engine_, elements), result(wanted, engine_);
      dnnl::reorder(plain, result).execute(stream_, plain, result);
      stream_.wait();
      return result;
    };
    arguments_ = {{DNNL_ARG_SRC_LAYER, memory(sequence, engine_, input)},
                  {DNNL_ARG_WEIGHTS_LAYER, weight(features, weights[0], found.weights_layer_desc())},
                  {DNNL_ARG_WEIGHTS_ITER, weight(hidden, weights[1], found.weights_iter_desc())},
                  {DNNL_ARG_BIAS, memory(bias, engine_, bias_.data())},
                  {DNNL_ARG_DST_LAYER, memory(results, engine_, output_.data())}};
  }
  void run() {
    lstm_.execute(stream_, arguments_);
    stream_.wait();
  }
  float* output() { return output_.data(); }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::lstm_forward lstm_;
  std::vector<float> output_, bias_;
  std::unordered_map<int, memory> arguments_;
};
#endif
