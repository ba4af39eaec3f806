// examples/onnx/check/model.hpp: an ONNX model while a check writes it: inputs, initialisers, nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx.pb.h>

#include <algorithm>
#include <concepts>
#include <fstream>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "weights.hpp"

using lengths = std::vector<std::int64_t>;

/// A model while it is written.
class model {
 public:
  explicit model(std::int64_t opset = 17) {
    all_.set_ir_version(8);
    all_.add_opset_import()->set_version(opset);
    graph_.set_name("check");
  }

  /// An input; an extent of -1 is the batch.
  model& input(const std::string& name, const lengths& extents, int type = onnx::TensorProto::FLOAT) {
    describe(*graph_.add_input(), name, extents, type);
    return *this;
  }
  /// An input whose extents have names.
  model& input(const std::string& name, const std::vector<std::string>& extents, int type = onnx::TensorProto::FLOAT) {
    onnx::ValueInfoProto& made = *graph_.add_input();
    describe(made, name, lengths(extents.size(), -1), type);
    auto& all = *made.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (std::size_t i = 0; i < extents.size(); ++i) all.mutable_dim(static_cast<int>(i))->set_dim_param(extents[i]);
    return *this;
  }
  model& output(const std::string& name) {
    graph_.add_output()->set_name(name);
    return *this;
  }
  model& weight(const std::string& name, const lengths& extents, int seed) {
    onnx::TensorProto& made = *graph_.add_initializer();
    made.set_name(name), made.set_data_type(onnx::TensorProto::FLOAT);
    for (const auto each : extents) made.add_dims(each);
    for (const float each :
         waves(seed, std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>()))) {
      made.add_float_data(each);
    }
    return *this;
  }
  model& numbers(const std::string& name, const lengths& values, bool is_scalar = false) {
    onnx::TensorProto& made = *graph_.add_initializer();
    made.set_name(name), made.set_data_type(onnx::TensorProto::INT64);
    if (!is_scalar) made.add_dims(static_cast<std::int64_t>(values.size()));
    for (const auto each : values) made.add_int64_data(each);
    return *this;
  }
  /// Whole numbers of any extents.
  model& table(const std::string& name, const lengths& extents, const lengths& values) {
    numbers(name, values);
    onnx::TensorProto& made = *graph_.mutable_initializer(graph_.initializer_size() - 1);
    made.clear_dims();
    for (const auto each : extents) made.add_dims(each);
    return *this;
  }
  model& reals(const std::string& name, const std::vector<float>& values) {
    weight(name, {static_cast<std::int64_t>(values.size())}, 0);
    onnx::TensorProto& made = *graph_.mutable_initializer(graph_.initializer_size() - 1);
    std::copy(values.begin(), values.end(), made.mutable_float_data()->begin());
    return *this;
  }
  /// An initialiser of a type; `elements` are in memory as they are in files.
  template <class T>
  model& typed(const std::string& name, int type, const lengths& extents, const std::vector<T>& elements) {
    onnx::TensorProto& made = *graph_.add_initializer();
    made.set_name(name), made.set_data_type(type);
    for (const auto each : extents) made.add_dims(each);
    made.set_raw_data(elements.data(), elements.size() * sizeof(T));
    return *this;
  }
  model& node(const std::string& operation, const std::string& name, const std::vector<std::string>& inputs,
              const std::vector<std::string>& outputs) {
    last_ = graph_.add_node();
    last_->set_op_type(operation), last_->set_name(name);
    for (const auto& each : inputs) last_->add_input(each);
    for (const auto& each : outputs) last_->add_output(each);
    return *this;
  }
  model& with(const std::string& name, std::int64_t number) {
    onnx::AttributeProto& made = attribute(name, onnx::AttributeProto::INT);
    made.set_i(number);
    return *this;
  }
  model& with(const std::string& name, std::same_as<float> auto number) {
    attribute(name, onnx::AttributeProto::FLOAT).set_f(number);
    return *this;
  }
  model& with(const std::string& name, const lengths& all) {
    onnx::AttributeProto& made = attribute(name, onnx::AttributeProto::INTS);
    for (const auto each : all) made.add_ints(each);
    return *this;
  }
  model& with(const std::string& name, const std::string& text) {
    attribute(name, onnx::AttributeProto::STRING).set_s(text);
    return *this;
  }
  model& with(const std::string& name, const std::vector<std::string>& texts) {
    onnx::AttributeProto& made = attribute(name, onnx::AttributeProto::STRINGS);
    for (const auto& each : texts) made.add_strings(each);
    return *this;
  }
  onnx::NodeProto& last() { return *last_; }
  onnx::GraphProto& graph() { return graph_; }

  void save(const std::string& path, std::size_t bytes = SIZE_MAX) {
    *all_.mutable_graph() = graph_;
    std::string text;
    if (!all_.SerializeToString(&text)) throw std::runtime_error(path + " is not complete");
    std::ofstream file(path, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(std::min(bytes, text.size())));
    if (!file) throw std::runtime_error(path + " is not written");
  }

 private:
  static void describe(onnx::ValueInfoProto& made, const std::string& name, const lengths& extents, int type) {
    made.set_name(name);
    made.mutable_type()->mutable_tensor_type()->set_elem_type(type);
    for (const auto each : extents) {
      auto& dimension = *made.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
      if (each < 0) dimension.set_dim_param("batch");
      else dimension.set_dim_value(each);
    }
  }
  onnx::AttributeProto& attribute(const std::string& name, onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto& made = *last_->add_attribute();
    made.set_name(name), made.set_type(type);
    return made;
  }

  onnx::ModelProto all_;
  onnx::GraphProto graph_;
  onnx::NodeProto* last_ = nullptr;
};

/// Models of single operators, in operator_models.cpp.
void write_operators(const std::string& folder);
