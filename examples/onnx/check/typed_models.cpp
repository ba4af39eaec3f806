// examples/onnx/check/typed_models.cpp: ONNX models of many types and odd names: of extents, and of files.
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "model.hpp"

namespace {

constexpr int int64 = onnx::TensorProto::INT64, uint64 = onnx::TensorProto::UINT64;
constexpr int float64 = onnx::TensorProto::DOUBLE, float16 = onnx::TensorProto::FLOAT16;
using words = std::vector<std::uint64_t>;

/// Extents whose names differ in signs alone, or mean something in C++ or in the network.
model names() {
  model made;
  made.input("x", std::vector<std::string>{"N+1", "auto"}).input("z", std::vector<std::string>{"N-1", "h1"});
  made.output("a").output("b").output("c").numbers("column", {-1, 1});
  made.node("Shape", "shape_x", {"x"}, {"a"}).node("Shape", "shape_z", {"z"}, {"b"});
  made.node("Relu", "relu", {"x"}, {"r"}).node("Reshape", "turn", {"r", "column"}, {"c"});
  return made;
}

/// Whole numbers that double does not hold, in expressions and in what the converter computes.
model integers() {
  constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1, least = std::numeric_limits<std::int64_t>::min();
  const words bounds{(std::uint64_t{1} << 63) + 5, ~std::uint64_t{0}};
  model made;
  made.input("x", lengths{3}, int64).input("u", lengths{3}, uint64);
  for (const char* each : {"sum", "same", "clipped", "wrapped", "clipped_u", "folded", "filled"}) made.output(each);
  made.numbers("odd", {odd}, true).numbers("least", {least}, true);
  made.typed("low", uint64, {}, words{bounds[0]}).typed("high", uint64, {}, words{bounds[1]});
  made.numbers("a", {odd, 7, least}).numbers("b", {3, -2, -1}).numbers("three", {3});
  made.node("Add", "add", {"x", "odd"}, {"sum"}).node("Equal", "equal", {"x", "odd"}, {"same"});
  made.node("Clip", "clip", {"x", "least", "odd"}, {"clipped"}).node("Add", "wrap", {"u", "high"}, {"wrapped"});
  made.node("Clip", "clip_u", {"u", "low", "high"}, {"clipped_u"});
  made.node("Mul", "mul", {"a", "b"}, {"products"}).node("Div", "div", {"a", "b"}, {"quotients"});
  made.node("Sub", "sub", {"products", "quotients"}, {"known"}).node("Add", "last", {"known", "x"}, {"folded"});
  made.node("Expand", "expand", {"odd", "three"}, {"odds"}).node("Add", "fill", {"odds", "x"}, {"filled"});
  return made;
}

/// Norms of doubles and halves.
model norms() {
  const std::vector<double> scale{0.5, 2, -1}, shift{0.1, 0.2, 0.3}, spread{0.25, 1, 4};
  const std::vector<std::uint16_t> halves{0x3c00, 0x4000, 0x3800, 0xbc00};  // 1, 2, 0.5, -1
  model made;
  made.input("x", lengths{2, 3, 4}, float64).input("h", lengths{2, 3, 4}, float16);
  made.output("batch").output("layer").output("instance").output("halves").output("squares");
  made.typed("scale", float64, {3}, scale).typed("shift", float64, {3}, shift).typed("spread", float64, {3}, spread);
  made.typed("rows", float64, {3, 1}, scale).typed("half_scale", float16, {4}, halves);
  made.node("BatchNormalization", "bn", {"x", "scale", "shift", "shift", "spread"}, {"batch"});
  made.node("LayerNormalization", "ln", {"x", "rows"}, {"layer"}).with("axis", 1);
  made.node("InstanceNormalization", "in", {"x", "scale", "shift"}, {"instance"});
  made.node("LayerNormalization", "half", {"h", "half_scale"}, {"halves"});
  made.node("RMSNormalization", "rms", {"h", "half_scale"}, {"squares"});
  return made;
}

/// Images of which there are none, and twice their extents.
model none() {
  model made;
  const std::vector<float> scales{1, 1, 2, 2};
  made.input("x", lengths{0, 2, 3, 5}).output("y");
  made.typed("scales", onnx::TensorProto::FLOAT, {4}, scales).node("Resize", "larger", {"x", "", "scales"}, {"y"});
  made.with("mode", std::string("nearest"));
  return made;
}

/// The same recurrence twice: with one of its two states, and with the other one as a number of zeros.
model states() {
  model made;
  made.input("x", {-1, 2, 3}).input("h", {1, 2, 2}).input("c", {1, 2, 2}).output("one").output("two");
  made.weight("W", {1, 8, 3}, 51).weight("R", {1, 8, 2}, 52);
  made.node("LSTM", "one", {"x", "W", "R", "", "", "", "c"}, {"one"}).with("hidden_size", 2);
  made.node("LSTM", "two", {"x", "W", "R", "", "", "h", "c"}, {"two"}).with("hidden_size", 2);
  return made;
}

void write_all(const std::string& folder) {
  names().save(folder + "/cos.onnx"), integers().save(folder + "/NULL.onnx"), norms().save(folder + "/assert.onnx");
  none().save(folder + "/_index.onnx"), states().save(folder + "/time.onnx");
  model sizes, divisor, scale, extents;
  sizes.input("x", lengths{1, 1, 2, 3}).output("y").numbers("sizes", {1, 1, std::int64_t{1} << 47, 3});
  sizes.node("Resize", "larger", {"x", "", "", "sizes"}, {"y"}).save(folder + "/bad_sizes.onnx");
  divisor.input("x", lengths{2}, int64).output("y").numbers("a", {1, 2}).numbers("b", {1, 0});
  divisor.node("Div", "div", {"a", "b"}, {"c"}).node("Add", "add", {"x", "c"}, {"y"});
  divisor.save(folder + "/bad_divisor.onnx");
  scale.input("x", lengths{2, 3, 4}).output("y").weight("scale", {3}, 1);
  scale.node("LayerNormalization", "norm", {"x", "scale"}, {"y"}).save(folder + "/bad_scale.onnx");
  extents.input("x", {std::int64_t{1} << 30, std::int64_t{1} << 30}).output("y").node("Relu", "relu", {"x"}, {"y"});
  extents.save(folder + "/bad_size.onnx");
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
