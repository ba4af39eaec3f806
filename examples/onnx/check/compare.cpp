// examples/onnx/check/compare.cpp: a network that tenon-onnx wrote, beside what another library computed.
// Compiled with -D TENON_ONNX_HEADER="<name.hpp>" -D TENON_ONNX_NAME=name; its argument is the folder of the files.
// SPDX-License-Identifier: Apache-2.0
#include TENON_ONNX_HEADER

#include <cstdio>
#include <tenon/io/npy.hpp>
#include <tenon/nn/inference.hpp>

#define TENON_ONNX_TEXT_OF(name) #name
#define TENON_ONNX_TEXT(name) TENON_ONNX_TEXT_OF(name)
#define TENON_ONNX_SPACE_OF(name) name##_network
#define TENON_ONNX_SPACE(name) TENON_ONNX_SPACE_OF(name)

namespace tn = tenon;
namespace nn = tenon::nn;
namespace model = TENON_ONNX_SPACE(TENON_ONNX_NAME);

namespace {

template <class Found, class Expected>
double difference(const Found& found, const Expected& expected) {
  return static_cast<double>(float(tn::max(tn::abs(found - expected))));
}

int run(const std::string& folder) {
  const std::string name = TENON_ONNX_TEXT(TENON_ONNX_NAME);
  model::network<> net;
  tn::train::load_state(net, folder + "/" + name + ".safetensors");
  net.eval();
  const auto x = tn::io::read_npy<model::input::element, model::input::rank>(folder + "/" + name + "_input.npy");
  const model::input input(tn::reshape(x, model::input::shape_type(x.shape())));
  const tn::no_grad testing;
  const auto called = tn::evaluated_tensor(net(input));
  const auto expected = tn::io::read_npy<float, decltype(called)::rank>(folder + "/" + name + "_output.npy");
  const double direct = difference(called, expected);
  nn::inference use(net, input);
  const double planned = difference(use.run(input), expected);
  std::printf("%s: %ld parameters, outputs differ by %.1e, with nn::inference by %.1e\n", name.c_str(),
              static_cast<long>(nn::parameter_count(net)), direct, planned);
  return direct < 1e-5 && planned < 1e-5 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: compare FOLDER\n");
    return 2;
  }
  try {
    return run(arguments[1]);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
