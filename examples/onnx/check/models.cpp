// examples/onnx/check/models.cpp: writes small ONNX models for the checks, good ones and bad ones.
// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

namespace {

/// Uneven padding, a stride, batch norm, a pool and a linear layer behind a reshape.
model cnn() {
  model made;
  made.input("x", {-1, 2, 7, 6}).output("y");
  made.weight("conv1.weight", {3, 2, 3, 2}, 1).weight("conv1.bias", {3}, 2);
  made.weight("bn.weight", {3}, 3).weight("bn.bias", {3}, 4).weight("bn.running_mean", {3}, 5);
  made.weight("deviation", {3}, 6).node("Mul", "square", {"deviation", "deviation"}, {"bn.running_var"});
  made.weight("fc.weight", {4, 12}, 7).weight("fc.bias", {4}, 8).numbers("shape", {0, -1});
  made.node("Conv", "conv1", {"x", "conv1.weight", "conv1.bias"}, {"a"});
  made.with("pads", lengths{1, 0, 2, 1}).with("strides", lengths{2, 1}).with("kernel_shape", lengths{3, 2});
  made.node("BatchNormalization", "bn", {"a", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"}, {"b"});
  made.node("Relu", "relu", {"b"}, {"c"});
  made.node("MaxPool", "pool", {"c"}, {"d"}).with("kernel_shape", lengths{2, 3}).with("strides", lengths{2, 3});
  made.node("Reshape", "flat", {"d", "shape"}, {"e"});
  made.node("Gemm", "fc", {"e", "fc.weight", "fc.bias"}, {"y"}).with("transB", 1);
  return made;
}

/// Both directions, and zeros as first states whose extents hang on the batch.
/// Two recurrences of the same weights: one goes ahead, the other one sees the last step first.
model reverse() {
  model made;
  made.input("x", {-1, 2, 3}).output("ahead").output("back");
  made.weight("W", {1, 15, 3}, 21).weight("R", {1, 15, 5}, 22).weight("B", {1, 30}, 23);
  made.node("GRU", "ahead", {"x", "W", "R", "B"}, {"ahead", ""}).with("hidden_size", 5);
  made.node("GRU", "back", {"x", "W", "R", "B"}, {"back", ""}).with("hidden_size", 5).with("direction", "reverse");
  return made;
}

model lstm() {
  model made;
  made.input("x", {-1, 3}, onnx::TensorProto::INT64).output("y");
  made.weight("table", {5, 2}, 11).weight("W", {2, 8, 2}, 12).weight("R", {2, 8, 2}, 13).weight("B", {2, 16}, 14);
  made.weight("head.weight", {4, 2}, 15);
  made.numbers("two", {2}).numbers("zero", {0}, true).numbers("front", {0}).numbers("open", {0, 0, -1});
  made.node("Gather", "words", {"table", "x"}, {"words"});
  made.node("Shape", "extents", {"words"}, {"extents"}).node("Gather", "first", {"extents", "zero"}, {"count"});
  made.node("Unsqueeze", "listed", {"count", "front"}, {"counts"});
  made.node("Concat", "states", {"two", "counts", "two"}, {"state_extents"}).with("axis", 0);
  made.node("ConstantOfShape", "zeros", {"state_extents"}, {"zeros"});
  made.node("Transpose", "steps", {"words"}, {"steps"}).with("perm", lengths{1, 0, 2});
  made.node("LSTM", "lstm", {"steps", "W", "R", "B", "", "zeros", "zeros"}, {"all", "hidden", ""});
  made.with("hidden_size", 2).with("direction", "bidirectional");
  made.node("Transpose", "joined", {"all"}, {"parts"}).with("perm", lengths{0, 2, 1, 3});
  made.node("Reshape", "sequence", {"parts", "open"}, {"sequence"});
  made.node("MatMul", "head", {"sequence", "head.weight"}, {"y"});
  return made;
}

/// Heads parted and joined by extents that are read from values, a mask that is made of constants.
model attention() {
  model made;
  made.input("x", {-1, 3, 4}).output("y");
  made.weight("norm.weight", {4}, 21).weight("norm.bias", {4}, 22);
  made.weight("qkv", {4, 12}, 23).weight("qkv.bias", {12}, 24).weight("table", {1}, 25);
  made.numbers("heads", {0, 0, 2, 2})
      .numbers("joined", {0, 0, -1})
      .numbers("square", {3, 3})
      .numbers("zero", {0}, true);
  made.node("LayerNormalization", "norm", {"x", "norm.weight", "norm.bias"}, {"n"}).with("axis", -1);
  made.node("MatMul", "qkv", {"n", "qkv"}, {"product"}).node("Add", "bias", {"qkv.bias", "product"}, {"all"});
  made.node("Split", "split", {"all"}, {"q", "k", "v"}).with("axis", 2);
  for (const std::string each : {"q", "k", "v"}) {
    made.node("Reshape", each + "_parted", {each, "heads"}, {each + "_parted"});
    made.node("Transpose", each + "_heads", {each + "_parted"}, {each + "_heads"});
    made.with("perm", each == "k" ? lengths{0, 2, 3, 1} : lengths{0, 2, 1, 3});
  }
  made.node("MatMul", "scores", {"q_heads", "k_heads"}, {"scores"});
  made.node("ConstantOfShape", "ones", {"square"}, {"empty"}).node("Exp", "full", {"empty"}, {"full"});
  made.node("Trilu", "mask", {"full"}, {"mask"})
      .with("upper", 0)
      .node("Cast", "seen", {"mask"}, {"seen"})
      .with("to", 9);
  made.node("Constant", "least", {}, {"least"});
  auto& number = *made.last().add_attribute();
  number.set_name("value_float"), number.set_type(onnx::AttributeProto::FLOAT), number.set_f(-1e9f);
  made.node("Where", "masked", {"seen", "scores", "least"}, {"masked"});
  made.node("Softmax", "softmax", {"masked"}, {"shares"}).node("MatMul", "mixed", {"shares", "v_heads"}, {"mixed"});
  made.node("Transpose", "back", {"mixed"}, {"back"}).with("perm", lengths{0, 2, 1, 3});
  made.node("Reshape", "join", {"back", "joined"}, {"rows"}).node("Add", "sum", {"rows", "x"}, {"y"});
  return made;
}

/// Two inputs, two results; slices, joins, reductions and constants between them.
model shapes() {
  model made;
  made.input("x", {-1, 4}).input("z", {-1, 4}).output("y").output("m");
  made.weight("scale", {4}, 31).numbers("begin", {1}).numbers("end", {INT64_MAX}).numbers("axes", {1});
  made.node("Mul", "scaled", {"x", "scale"}, {"s"});
  made.node("Slice", "rest", {"s", "begin", "end", "axes"}, {"rest"});
  made.node("Concat", "joined", {"rest", "z"}, {"joined"}).with("axis", -1);
  made.node("ReduceMean", "mean", {"joined"}, {"m"}).with("axes", lengths{1}).with("keepdims", 0);
  made.node("Unsqueeze", "column", {"m", "axes"}, {"column"}).node("Sub", "centred", {"joined", "column"}, {"y"});
  return made;
}

model linear(const std::string& operation = "Relu", const std::string& domain = "", std::int64_t inputs = 3) {
  model made;
  made.input("x", {-1, inputs}).output("y").weight("fc.weight", {2, 3}, 1);
  made.node(operation, "conv1", {"x"}, {"a"});
  made.last().set_domain(domain);
  made.node("Gemm", "fc", {"a", "fc.weight"}, {"y"}).with("transB", 1);
  return made;
}

/// Columns at places that the model knows, of which one counts from the back.
model columns(std::int64_t last = -1) {
  model made;
  made.input("x", {-1, 3}).output("y").numbers("places", {last, 0});
  made.node("Gather", "columns", {"x", "places"}, {"a"}).with("axis", 1).node("Relu", "relu", {"a"}, {"y"});
  return made;
}

void write_all(const std::string& folder) {
  cnn().save(folder + "/small_cnn.onnx"), lstm().save(folder + "/small_lstm.onnx");
  reverse().save(folder + "/small_reverse.onnx");
  attention().save(folder + "/small_attention.onnx"), shapes().save(folder + "/small_shapes.onnx");
  columns().save(folder + "/class.onnx");  // a name that no namespace has
  columns(-4).save(folder + "/bad_index.onnx");
  model twice = linear();
  twice.node("Relu", "again", {"x"}, {"a"}).save(folder + "/bad_twice.onnx");
  linear("Foo").save(folder + "/bad_operator.onnx"), linear("Relu", "com.example").save(folder + "/bad_domain.onnx");
  linear("Relu", "", 4).save(folder + "/bad_extents.onnx"), linear().save(folder + "/bad_truncated.onnx", 60);
  model lacking = linear(), short_of_bytes = linear();
  lacking.graph().clear_initializer(), lacking.save(folder + "/bad_initialiser.onnx");
  short_of_bytes.graph().mutable_initializer(0)->mutable_float_data()->RemoveLast();
  short_of_bytes.save(folder + "/bad_bytes.onnx");
  const auto pool = [](const char* operation, const lengths& kernel, const lengths& strides, const lengths& pads) {
    model made;
    made.input("x", {1, 1, 4, 4}).output("y").node(operation, "pool", {"x"}, {"y"}).with("kernel_shape", kernel);
    return made.with("strides", strides).with("pads", pads);
  };
  pool("MaxPool", {2, 2}, {0, 1}, {0, 0, 0, 0}).save(folder + "/bad_stride.onnx");
  pool("AveragePool", {2}, {1}, {0, 0}).save(folder + "/bad_kernel.onnx");
  pool("MaxPool", {2, 2}, {1, 1}, {0, -1, 0, 0}).save(folder + "/bad_padding.onnx");
  model silent = linear(), scalar = linear(), blocks;
  silent.node("Flatten", "nothing", {"x"}, {}).save(folder + "/bad_silent.onnx");
  scalar.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->clear_dim();
  scalar.save(folder + "/bad_scalar.onnx");
  blocks.input("x", {1, 1, 4, 4}).output("y").node("SpaceToDepth", "blocks", {"x"}, {"y"}).with("blocksize", 0);
  blocks.save(folder + "/bad_block.onnx");
  model turned, elsewhere = linear(), negative = linear();
  turned.input("x", {2, 3}).output("y").node("Transpose", "turn", {"x"}, {"y"}).with("perm", lengths{0, 5});
  turned.save(folder + "/bad_order.onnx");
  onnx::TensorProto& outside = *elsewhere.graph().mutable_initializer(0);
  outside.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& location = *outside.add_external_data();
  location.set_key("location"), location.set_value("../weights");
  elsewhere.save(folder + "/bad_elsewhere.onnx");
  negative.graph().mutable_initializer(0)->set_dims(0, -2), negative.save(folder + "/bad_negative.onnx");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  try {
    write_all(arguments[1]);
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
