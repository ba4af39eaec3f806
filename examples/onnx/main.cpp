// examples/onnx/main.cpp: tenon-onnx: an ONNX model becomes a header of C++ and a file of weights.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <tenon/io/write_bytes.hpp>

#include "call.hpp"
#include "header.hpp"

namespace {

constexpr const char* usage =
    "usage: tenon-onnx MODEL.onnx [FOLDER]\n"
    "writes FOLDER/MODEL.hpp and FOLDER/MODEL.safetensors; FOLDER is the current one by default\n"
    "       tenon-onnx --operators\n"
    "lists the operators that are known\n";

void convert(const std::filesystem::path& model, const std::filesystem::path& folder) {
  const onnx_in::graph graph = onnx_in::read_model(model);
  onnx_in::network net(graph);
  const std::string name = onnx_in::file_name(model.stem().string());
  const std::string text = onnx_in::header_text(net, name, model.filename().string());
  const std::span<const std::uint8_t> parts[] = {{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}};
  tenon::io::write_bytes("tenon-onnx", folder / (name + ".hpp"), parts);
  onnx_in::save_weights(net, folder / (name + ".safetensors"));
  std::printf("%s.hpp, %s.safetensors: %zu nodes, %zu members, %zu lines of forward\n", name.c_str(), name.c_str(),
              graph.nodes.size(), net.members().size(), net.lines().size() + 1);
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::string(arguments[1]) == "--operators") {
    for (const std::string& name : onnx_in::known_operators()) std::printf("%s\n", name.c_str());
    return 0;
  }
  if (count < 2 || count > 3 || arguments[1][0] == '-') {
    std::fputs(usage, count == 2 && std::string(arguments[1]) == "--help" ? stdout : stderr);
    return count == 2 && std::string(arguments[1]) == "--help" ? 0 : 2;
  }
  try {
    convert(arguments[1], count == 3 ? arguments[2] : ".");
    return 0;
  } catch (const std::exception& failure) {
    const std::string text = failure.what();  // readers of files name the program themselves
    std::fprintf(stderr, "%s%s\n", text.starts_with("tenon-onnx: ") ? "" : "tenon-onnx: ", text.c_str());
    return 1;
  }
}
