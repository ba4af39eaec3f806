// benchmarks/cuda/cudnn_recurrent.hpp: recurrent layers of cuDNN with the parameters of Tenon's, and their gradients.
// Sums as floats, on tensor cores where elements have 16 bits; sequences are [time, batch, features], all equally long.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cudnn.hpp"
#include "timing.hpp"

/// Extents of recurrent layers whose inputs have as many features as their states.
struct recurrent_case {
  tenon::index time, batch, hidden, layers = 1;
  bool bidirectional = false;

  tenon::index rows() const { return time * batch; }
  tenon::index directions() const { return bidirectional ? 2 : 1; }
  tenon::index parts() const { return layers * directions(); }
  tenon::index outputs() const { return directions() * hidden; }
  /// Features that the layer of part `part` takes.
  tenon::index inputs_of(tenon::index part) const { return part < directions() ? hidden : outputs(); }
  /// Of the products of a forward pass, with so many gates.
  double operations(tenon::index gates) const {
    double found = 0;
    for (tenon::index part = 0; part < parts(); ++part) {
      found += 2.0 * static_cast<double>(rows() * gates * hidden) * static_cast<double>(inputs_of(part) + hidden);
    }
    return found;
  }
};

#if defined(BENCHMARKS_CUDNN)
namespace cudnn {

/// Makes the calls up to the first that fails; its status, or success.
template <class... Calls>
cudnnStatus_t in_turn(const Calls&... calls) {
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  static_cast<void>(((status = calls(), status == CUDNN_STATUS_SUCCESS) && ...));
  return status;
}

struct no_dropout : owned<cudnnDropoutDescriptor_t, cudnnCreateDropoutDescriptor, cudnnDestroyDropoutDescriptor> {
  explicit no_dropout(cudnnHandle_t handle) { check(cudnnSetDropoutDescriptor(*this, handle, 0, nullptr, 0, 0)); }
};

template <class T>
struct sequences : owned<cudnnRNNDataDescriptor_t, cudnnCreateRNNDataDescriptor, cudnnDestroyRNNDataDescriptor> {
  sequences(const recurrent_case& of, tn::index features) {
    const std::vector<int> lengths(static_cast<std::size_t>(of.batch), static_cast<int>(of.time));
    check(cudnnSetRNNDataDescriptor(*this, type_of<T>(), CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED,
                                    static_cast<int>(of.time), static_cast<int>(of.batch), static_cast<int>(features),
                                    lengths.data(), nullptr));
  }
};

/// The states of all layers and directions.
template <class T>
struct states : owned<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor> {
  explicit states(const recurrent_case& of) {
    const int batch = static_cast<int>(of.batch), hidden = static_cast<int>(of.hidden);
    const int extents[] = {static_cast<int>(of.parts()), batch, hidden}, strides[] = {batch * hidden, hidden, 1};
    check(cudnnSetTensorNdDescriptor(*this, type_of<T>(), 3, extents, strides));
  }
};

/// Floats are multiplied as floats, as Tenon does.
template <class Gates, class T>
class recurrent_layers {
 public:
  recurrent_layers(const recurrent_case& of, cudnnRNNAlgo_t algorithm)
      : of_(of),
        dropout_(handle_),
        input_(of, of.hidden),
        output_(of, of.outputs()),
        states_(of),
        hidden_(tn::rank<1>(of.parts() * of.batch * of.hidden)),
        cell_(tn::rank<1>(Gates::states == 2 ? hidden_.size() : 0)) {
    std::size_t weights = 0, of_inference = 0, of_training = 0, reserve = 0;
    status_ = in_turn(
        [&] {
          return cudnnSetRNNDescriptor_v8(
              layers_, algorithm, mode(), CUDNN_RNN_DOUBLE_BIAS,
              of.bidirectional ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, type_of<T>(),
              CUDNN_DATA_FLOAT, std::is_same_v<T, float> ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH,
              static_cast<int>(of.hidden), static_cast<int>(of.hidden), static_cast<int>(of.hidden),
              static_cast<int>(of.layers), dropout_, CUDNN_RNN_PADDED_IO_ENABLED);
        },
        [&] { return cudnnGetRNNWeightSpaceSize(handle_, layers_, &weights); },
        [&] { return temporary_sizes(CUDNN_FWD_MODE_INFERENCE, of_inference, reserve); },
        [&] { return temporary_sizes(CUDNN_FWD_MODE_TRAINING, of_training, reserve); });
    const auto bytes = [](std::size_t count) { return workspace(tn::rank<1>(static_cast<tn::index>(count))); };
    weights_ = bytes(weights), gradients_ = bytes(weights), reserve_ = bytes(reserve);
    workspace_ = bytes(std::max(of_inference, of_training));
  }

  /// Of each layer and direction four tensors: the weights of input and state, and their biases.
  void take_parameters(const std::vector<T*>& tensors) {
    if (status_ != CUDNN_STATUS_SUCCESS) return;
    tn::cuda::set_zero(weights_.data(), size_of(weights_));
    visit_gates(weights_, tensors, [](T* ours, void* theirs, std::size_t size) { tn::cuda::copy(theirs, ours, size); });
  }
  void give_gradients(const std::vector<T*>& tensors) {
    visit_gates(gradients_, tensors,
                [](T* ours, void* theirs, std::size_t size) { tn::cuda::copy(ours, theirs, size); });
  }

  cudnnStatus_t infer(const T* x, T* y) {
    return in_turn([&] { return status_; }, [&] { return forward(CUDNN_FWD_MODE_INFERENCE, x, y); });
  }
  /// Forward and backward; `of_y` and `of_x` are gradients.
  cudnnStatus_t train(const T* x, T* y, const T* of_y, T* of_x) {
    return in_turn([&] { return status_; }, [&] { return forward(CUDNN_FWD_MODE_TRAINING, x, y); },
                   [&] {
                     return cudnnRNNBackwardData_v8(
                         handle_, layers_, nullptr, output_, y, of_y, input_, of_x, states_, nullptr, nullptr,
                         hidden_.data(), states_, nullptr, nullptr, cell_.data(), size_of(weights_), weights_.data(),
                         size_of(workspace_), workspace_.data(), size_of(reserve_), reserve_.data());
                   },
                   [&] {
                     tn::cuda::set_zero(gradients_.data(), size_of(gradients_));  // cuDNN adds to them
                     return cudnnRNNBackwardWeights_v8(handle_, layers_, CUDNN_WGRAD_MODE_ADD, nullptr, input_, x,
                                                       states_, nullptr, output_, y, size_of(gradients_),
                                                       gradients_.data(), size_of(workspace_), workspace_.data(),
                                                       size_of(reserve_), reserve_.data());
                   });
  }

 private:
  static constexpr cudnnRNNMode_t mode() {
    if constexpr (std::is_same_v<Gates, tn::nn::lstm_gates>) return CUDNN_LSTM;
    else return std::is_same_v<Gates, tn::nn::gru_gates> ? CUDNN_GRU : CUDNN_RNN_TANH;
  }
  static std::size_t size_of(const workspace& bytes) { return static_cast<std::size_t>(bytes.size()); }

  cudnnStatus_t temporary_sizes(cudnnForwardMode_t mode, std::size_t& work, std::size_t& reserve) const {
    return cudnnGetRNNTempSpaceSizes(handle_, layers_, mode, input_, &work, &reserve);
  }
  cudnnStatus_t forward(cudnnForwardMode_t mode, const T* x, T* y) {
    const bool trains = mode == CUDNN_FWD_MODE_TRAINING;
    return cudnnRNNForward(handle_, layers_, mode, nullptr, input_, x, output_, y, states_, nullptr, hidden_.data(),
                           states_, nullptr, cell_.data(), size_of(weights_), weights_.data(), size_of(workspace_),
                           workspace_.data(), trains ? size_of(reserve_) : 0, trains ? reserve_.data() : nullptr);
  }
  /// Calls `copy(ours, theirs, bytes)` for the weights and the bias of every gate, of the input and of the state: both
  /// libraries have gates in the same order, Tenon as blocks of rows of one tensor.
  template <class Copy>
  void visit_gates(workspace& all, const std::vector<T*>& tensors, const Copy& copy) {
    const owned<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor> of_weight, of_bias;
    for (int part = 0; part < static_cast<int>(of_.parts()); ++part) {
      T* const* const own = tensors.data() + 4 * part;
      for (int number = 0; number < 2 * static_cast<int>(Gates::count); ++number) {
        const tn::index gate = number % Gates::count, operand = number / Gates::count;
        const tn::index size = of_.hidden * (operand == 0 ? of_.inputs_of(part) : of_.hidden);
        void *weight = nullptr, *bias = nullptr;
        check(cudnnGetRNNWeightParams(handle_, layers_, part, size_of(all), all.data(), number, of_weight, &weight,
                                      of_bias, &bias));
        copy(own[operand] + gate * size, weight, static_cast<std::size_t>(size) * sizeof(T));
        copy(own[2 + operand] + gate * of_.hidden, bias, static_cast<std::size_t>(of_.hidden) * sizeof(T));
      }
    }
  }

  recurrent_case of_;
  handle handle_;
  no_dropout dropout_;
  sequences<T> input_, output_;
  states<T> states_;
  owned<cudnnRNNDescriptor_t, cudnnCreateRNNDescriptor, cudnnDestroyRNNDescriptor> layers_;
  cudnnStatus_t status_;
  tn::tensor<T, tn::rank<1>, tn::cuda> hidden_, cell_;  // after a forward pass; after a backward one the gradients
  workspace weights_, gradients_, workspace_, reserve_;
};

}  // namespace cudnn
#endif
