// examples/onnx/check/operator_models.cpp: models of single operators that are easily taken for similar ones.
// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

namespace {

using texts = std::vector<std::string>;

/// Operators of opset 18; operators.cpp has each of them as a loop.
model operators18() {
  model made(18);
  made.input("x", {2, 4, 5}).input("z", {-1, 4}).numbers("none", {});
  made.table("few", {1, 6, 3}, {3, 0, -1, 2, 1, 1, 0, 0, 0, 1, 2, 3, -4, 3, 2, 1, 0, -2});
  made.table("rows", {2, 3}, {0, 3, 1, 2, -1, 0});
  made.node("GatherElements", "few_of", {"x", "few"}, {"few_of"}).with("axis", 1);
  made.node("GatherElements", "rows_of", {"z", "rows"}, {"rows_of"}).with("axis", 1);
  made.node("LpPool", "pool", {"x"}, {"pool"}).with("kernel_shape", lengths{3}).with("strides", lengths{3});
  made.with("ceil_mode", 1).with("p", 3);
  for (const std::string norm : {"ReduceL1", "ReduceL2"})
    made.node(norm, norm, {"x", "none"}, {norm}).with("noop_with_empty_axes", 1);
  made.node("LRN", "response", {"x"}, {"response"}).with("size", 2);
  made.weight("scale", {2}, 63).weight("shift", {2}, 64);
  made.node("GroupNormalization", "groups", {"x", "scale", "shift"}, {"groups"}).with("num_groups", 2);
  made.with("epsilon", 0.5f).node("Unique", "unique", {"x"}, {"", "", "places"});
  for (const char* each : {"few_of", "rows_of", "pool", "ReduceL1", "ReduceL2", "response", "places", "groups"})
    made.output(each);
  return made;
}

/// Operators whose bounds, sizes and places hang on extents that are known at run time.
model open_extents() {
  model made(18);
  const std::string time = "time";
  made.input("x", std::vector<std::string>{"batch", "time"}).input("image", {-1, 2, 3, 4}).weight("table", {6, 2}, 65);
  made.numbers("least", {0}).numbers("one", {1}).numbers("sides", {5, 3}).numbers("crop", {0, -1, 0, 2});
  made.numbers("big", {INT64_MAX})
      .numbers("back", {-1})
      .numbers("end", {INT64_MIN})
      .reals("zero", {0})
      .reals("unit", {1});
  made.table("places", {3, 2}, {0, -1, 1, 0, 0, 1});
  made.node("Shape", "length", {"x"}, {time}).with("start", 1);
  made.node("Slice", "rows", {"table", "least", time, "least"}, {"rows"});
  made.node("Sub", "before", {time, "one"}, {"last"}).node("Slice", "ends", {"x", "last", "big", "one"}, {"ends"});
  made.node("Slice", "flip", {"x", "back", "end", "one", "back"}, {"flip"});
  made.node("Squeeze", "count", {time}, {"count"}).node("Cast", "real", {"count"}, {"limit"}).with("to", 1);
  made.node("Squeeze", "first", {"zero"}, {"start"}).node("Squeeze", "by", {"unit"}, {"delta"});
  made.node("Range", "steps", {"start", "limit", "delta"}, {"steps"});
  made.node("Shape", "all", {"x"}, {"extents"}).node("ConstantOfShape", "nothing", {"extents"}, {"nothing"});
  made.node("Add", "spread", {"ends", "nothing"}, {"spread"});
  made.numbers("two", {2}).node("Concat", "box", {time, "sides"}, {"box"}).with("axis", 0);
  made.node("ConstantOfShape", "zeros_of", {"box"}, {"empty"});
  made.node("Slice", "every_second", {"empty", "least", "big", "one", "two"}, {"stepped"});
  made.numbers("three", {3}, true).numbers("seven", {7}, true).numbers("zeros", {0, 0, 0}).numbers("four", {4});
  made.node("Sub", "less", {"least", time}, {"negative"}).node("Mod", "rest", {"negative", "four"}, {"rest"});
  made.node("Concat", "wider", {"zeros", "rest"}, {"wider"}).with("axis", 0);
  made.node("Pad", "whole_blocks", {"x", "wider"}, {"blocks"}).node("Min", "fewest", {time, "four"}, {"fewest"});
  made.node("Slice", "rows_of_four", {"table", "least", "fewest", "least"}, {"some"});
  made.node("Add", "far", {"count", "seven"}, {"far"}).node("Range", "spaced", {"count", "far", "three"}, {"spaced"});
  made.node("Shape", "batches", {"image"}, {"front"}).with("end", 2);
  made.node("Concat", "join", {"front", "sides"}, {"sizes"}).with("axis", 0);
  made.node("Resize", "fixed", {"image", "", "", "sizes"}, {"fixed"}).with("mode", std::string("linear"));
  made.node("Concat", "squares", {"front", time, time}, {"square"}).with("axis", 0);
  made.node("Resize", "open", {"image", "", "", "square"}, {"open"}).with("mode", std::string("linear"));
  made.with("coordinate_transformation_mode", std::string("align_corners"));
  made.node("Transpose", "turn", {"x"}, {"columns"});
  made.node("GatherND", "at", {"columns", "places"}, {"at"}).node("Pad", "crop_of", {"x", "crop"}, {"cropped"});
  made.node("Einsum", "squares_of", {"x", "x"}, {"squares"}).with("equation", std::string("...i, ...i"));
  made.node("Trilu", "triangle", {"x", "count"}, {"triangle"}).with("upper", 0);
  made.node("Cast", "whole", {"x"}, {"numbers"}).with("to", 7).node("Add", "more", {"numbers", time}, {"more"});
  for (const char* each : {"rows", "ends", "flip", "steps", "fixed", "open", "at", "cropped", "squares", "more",
                           "triangle", "spaced", "blocks", "some", "spread", "stepped"})
    made.output(each);
  return made;
}

/// The graph that a condition chooses: one node.
void add_branch(onnx::NodeProto& node, const std::string& attribute, const std::string& operation,
                const std::string& input = "image") {
  onnx::AttributeProto& made = *node.add_attribute();
  made.set_name(attribute), made.set_type(onnx::AttributeProto::GRAPH);
  onnx::NodeProto& only = *made.mutable_g()->add_node();
  only.set_op_type(operation), only.set_name(attribute), only.add_input(input), only.add_output(attribute + "_of");
  made.mutable_g()->add_output()->set_name(attribute + "_of"), made.mutable_g()->set_name(attribute);
}

/// Images at places of grids and between their elements, boxes, and what hangs on extents of images.
model sampled() {
  model made(20);
  made.input("image", std::vector<std::string>{"batch", "channels", "rows", "columns"}).input("grid", {-1, 3, 2, 2});
  made.input("theta", {-1, 2, 3}).input("squares", {-1, 3, 3}).input("boxes", {1, 5, 4}).input("marks", {1, 2, 5});
  made.weight("table", {1, 2, 2}, 71)
      .weight("row", {1, 1, 3}, 72)
      .numbers("three", {3}, true)
      .numbers("two", {2}, true);
  made.numbers("twice", {2, 1}).numbers("once", {3, 1}).numbers("extents", {1, 2, 3}).numbers("most", {2}, true);
  made.reals("larger", {1, 1, 2, 2}).reals("other", {1, 1, 0.5f, 1.5f}).reals("half", {0.5f}).reals("low", {0.1f});
  made.numbers("begin", {0}).numbers("end", {3}).numbers("last", {3});
  const auto text = [](const char* each) { return std::string(each); };
  made.node("GridSample", "sample", {"image", "grid"}, {"sample"}).with("mode", text("cubic"));
  made.with("padding_mode", text("reflection"));
  made.node("Resize", "larger_of", {"image", "", "larger"}, {"larger_of"}).with("mode", text("cubic"));
  made.node("Resize", "other_of", {"image", "", "other"}, {"other_of"}).with("mode", text("linear"));
  made.node("Shape", "count", {"image"}, {"batch"}).with("end", 1).node("Shape", "all", {"image"}, {"shape"});
  made.node("Concat", "repeats", {"batch", "twice"}, {"repeats"}).with("axis", 0);
  made.node("Tile", "tiled", {"table", "repeats"}, {"tiled"});
  made.node("Concat", "single", {"batch", "once"}, {"stretch"}).with("axis", 0);
  made.node("Tile", "stretched", {"row", "stretch"}, {"stretched"});
  made.node("Concat", "size", {"batch", "extents"}, {"size"}).with("axis", 0);
  made.node("AffineGrid", "affine", {"theta", "size"}, {"affine"}).node("Det", "det", {"squares"}, {"det"});
  made.node("NonMaxSuppression", "kept", {"boxes", "marks", "most", "half", "low"}, {"kept"});
  made.node("Shape", "of_grid", {"grid"}, {"of_grid"}).node("Gather", "sides", {"of_grid", "three"}, {"sides"});
  made.node("Equal", "is_two", {"sides", "two"}, {"is_two"}).node("If", "branch", {"is_two"}, {"chosen"});
  add_branch(made.last(), "then_branch", "Relu"), add_branch(made.last(), "else_branch", "Foo");
  made.node("Gather", "rows", {"shape", "two"}, {"rows"}).node("Cast", "real", {"rows"}, {"real"}).with("to", 1);
  made.node("Sqrt", "root", {"real"}, {"root"}).node("Div", "scaled", {"image", "root"}, {"scaled"});
  made.node("Slice", "first", {"image", "begin", "end", "last"}, {"first"});
  for (const char* each :
       {"sample", "larger_of", "other_of", "tiled", "stretched", "affine", "det", "kept", "chosen", "scaled", "first"})
    made.output(each);
  return made;
}

/// Images in other extents, before operators had attributes that say where elements lie.
model old_images(std::int64_t opset, const std::string& operation, const std::vector<float>& down) {
  model made(opset);
  made.input("x", {1, 2, 5, 3}).reals("twice", {1, 1, 2, 2}).reals("more", {1, 1, 1.5f, 2.4f}).reals("down", down);
  made.node(operation, "line", {"x", "twice"}, {"line"}).with("mode", std::string("linear"));
  for (const std::string each : {"more", "down"})
    made.node(operation, each, {"x", each}, {each + "_of"}).with("mode", std::string("nearest"));
  return made.output("line"), made.output("more_of"), made.output("down_of"), made;
}

/// Operators of opset 14 and, in `operators.cpp`, their loops.
model operators14() {
  model made(14);
  made.input("x", {1, 1, 1, 20}).input("h", {1, 1, 2, 3}, onnx::TensorProto::FLOAT16).input("s", {3, -1, 2});
  made.input("a", {2, 3}, onnx::TensorProto::UINT8).input("b", {3, 4}, onnx::TensorProto::UINT8);
  made.input("point", lengths{4}, onnx::TensorProto::UINT8);
  made.reals("down", {1, 1, 1, 0.7f})
      .reals("twice", {1, 1, 2, 2})
      .weight("W", {2, 2, 2}, 61)
      .weight("R", {2, 2, 2}, 62);
  made.node("Resize", "less", {"x", "", "down"}, {"less"}).with("mode", std::string("nearest"));
  made.with("coordinate_transformation_mode", std::string("asymmetric")).with("nearest_mode", std::string("floor"));
  made.node("Resize", "half", {"h", "", "twice"}, {"half"}).with("mode", std::string("linear"));
  made.node("RNN", "steps", {"s", "W", "R"}, {"steps"}).with("direction", std::string("bidirectional"));
  made.with("hidden_size", 2).with("activations", texts{"Relu", "Relu"});
  made.node("MatMulInteger", "product", {"a", "b", "", "point"}, {"product"});
  made.typed<std::int32_t>("counts", onnx::TensorProto::INT32, {2}, {2, 3});
  made.node("RNN", "fewer", {"s", "W", "R", "", "counts"}, {"fewer", "last"});
  made.with("direction", std::string("bidirectional"))
      .with("hidden_size", 2)
      .with("activations", texts{"Relu", "Relu"});
  made.numbers("one", {1}).node("Shape", "all", {"s"}, {"shape"}).node("Gather", "batch", {"shape", "one"}, {"batch"});
  made.node("TopK", "sort", {"s", "batch"}, {"sorted", ""}).with("axis", 1);
  made.node("DynamicQuantizeLinear", "measure", {"x"}, {"bytes", "step", "zero"});
  made.typed<std::uint8_t>("taps", onnx::TensorProto::UINT8, {2, 1, 1, 3}, {1, 2, 3, 9, 0, 4});
  made.typed<std::uint8_t>("middle", onnx::TensorProto::UINT8, {}, {3});
  made.node("ConvInteger", "bytes_of", {"bytes", "taps", "zero", "middle"}, {"sums"});
  made.with("pads", lengths{0, 2, 0, 1}).with("strides", lengths{1, 2});
  made.typed<std::int8_t>("small", onnx::TensorProto::INT8, {2, 3}, {1, -2, 3, -128, 127, 0});
  made.typed<std::int8_t>("zeros", onnx::TensorProto::INT8, {3}, {0, 1, -1}).reals("steps_of", {0.5f, 2, 0.25f});
  made.node("DequantizeLinear", "restore", {"small", "steps_of", "zeros"}, {"restored"});
  for (const char* each : {"less", "half", "steps", "product", "sums", "restored", "fewer", "last", "sorted"})
    made.output(each);
  return made;
}

/// A model of one node, whose inputs are x, of these extents, and initialisers.
struct single {
  model made;
  single(const std::string& operation, const lengths& extents, const texts& others = {}, std::int64_t opset = 18,
         int type = onnx::TensorProto::FLOAT)
      : made(opset) {
    texts inputs{"x"};
    inputs.insert(inputs.end(), others.begin(), others.end());
    made.input("x", extents, type).output("y").node(operation, "only", inputs, {"y"});
  }
};

void write_refused(const std::string& folder) {
  single branch("If", {1}, {}, 18, onnx::TensorProto::BOOL), volume("GridSample", {1, 1, 2, 2, 2}, {"w"}, 20);
  const auto save = [&](single& each, const std::string& name) { each.made.save(folder + "/bad_" + name + ".onnx"); };
  single aligned("Add", {3, 3}, {"row"}, 6), wrapped("Pad", {2, 3}, {"pads"}), reflected("Pad", {2, 3}, {"pads"});
  aligned.made.weight("row", {3}, 1).with("broadcast", 1).with("axis", 0), save(aligned, "aligned");
  wrapped.made.numbers("pads", {0, 4, 0, 1}).with("mode", std::string("wrap")), save(wrapped, "wrap");
  reflected.made.numbers("pads", {0, 0, 0, 3}).with("mode", std::string("reflect")), save(reflected, "reflect");
  single spatial("BatchNormalization", {2, 3, 4}, {"w", "w", "w", "w"}, 7), many("GatherElements", {2, 3}, {"many"});
  spatial.made.weight("w", {3, 4}, 1).with("spatial", 0), save(spatial, "spatial");
  many.made.table("many", {3, 1}, {0, 1, 1}).with("axis", 1), save(many, "many");
  model shadow;
  shadow.input("x", {1}).output("y").typed<std::uint8_t>("test", onnx::TensorProto::BOOL, {}, {1}).weight("w", {1}, 1);
  shadow.node("If", "only", {"test"}, {"y"}), add_branch(shadow.last(), "then_branch", "Relu", "w");
  *shadow.last().mutable_attribute(0)->mutable_g()->add_initializer() = shadow.graph().initializer(1);
  shadow.save(folder + "/bad_shadow.onnx");
  save(branch, "branch"), volume.made.weight("w", {1, 2, 2, 2, 3}, 1), save(volume, "volume");
  single open("LpPool", {1, 2, -1}), channels("Resize", {1, 2, -1, 3}, {"", "scales"});
  open.made.with("kernel_shape", lengths{2}).with("strides", lengths{3}).with("ceil_mode", 1), save(open, "open");
  channels.made.reals("scales", {1, 2, 2, 2}), save(channels, "channels");
  single wide("Resize", {1, 2, 3, 3}, {"", "scales"}, 18, onnx::TensorProto::DOUBLE);
  wide.made.reals("scales", {1, 1, 2, 1.5f}).with("mode", std::string("linear")), save(wide, "wide");
  single scales("GroupNormalization", {1, 4, 3}, {"w", "w"}, 21);
  scales.made.weight("w", {2}, 1).with("num_groups", 2), save(scales, "scales");
  single mixed("RNN", {3, 2, 2}, {"W", "R"}, 14);
  mixed.made.weight("W", {2, 2, 2}, 1).weight("R", {2, 2, 2}, 2).with("direction", std::string("bidirectional"));
  mixed.made.with("activations", texts{"Relu", "Tanh"}), save(mixed, "mixed");
}

}  // namespace

void write_operators(const std::string& folder) {
  operators18().save(folder + "/operators18.onnx"), operators14().save(folder + "/operators14.onnx");
  open_extents().save(folder + "/open_extents.onnx"), sampled().save(folder + "/sampled.onnx");
  old_images(9, "Upsample", {1, 1, 1, 1.75f}).save(folder + "/operators9.onnx");
  old_images(10, "Resize", {1, 1, 0.8f, 1}).save(folder + "/operators10.onnx");
  write_refused(folder);
}
