// benchmarks/compile_time/xtensor/table.cpp: tenon/table.cpp in the words of xtensor and the standard library.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>
#include <xtensor/xadapt.hpp>
#include <xtensor/xhistogram.hpp>
#include <xtensor/xindex_view.hpp>
#include <xtensor/xio.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnpy.hpp>
#include <xtensor/xsort.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

int main(int count, char** arguments) {
  const std::filesystem::path folder = count > 1 ? arguments[1] : ".";
  std::ifstream file(folder / "flowers.csv");
  std::vector<double> values;
  std::map<std::string, int> species;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string field;
    for (int column = 0; column < 4 && std::getline(fields, field, ','); ++column) values.push_back(std::stod(field));
    std::getline(fields, field);
    ++species[field];
  }
  const xt::xtensor<double, 2> x = xt::adapt(values, std::array<std::size_t, 2>{values.size() / 4, 4});
  std::cout << x.shape(0) << " flowers\n";

  const xt::xtensor<double, 1> mean = xt::mean(x, {0});
  const xt::xtensor<double, 1> deviation = xt::stddev(x, {0});
  const xt::xtensor<double, 2> z = (x - mean) / deviation;
  std::cout << "means " << mean << "\ndeviations " << deviation << '\n';

  const auto left = xt::view(z, xt::all(), xt::all(), xt::newaxis());
  const auto right = xt::view(z, xt::all(), xt::newaxis(), xt::all());
  const xt::xtensor<double, 2> correlation = xt::mean(left * right, {0});
  std::cout << "correlation\n" << correlation << '\n';

  const xt::xtensor<double, 1> length = xt::view(x, xt::all(), 2);
  const xt::xtensor<std::size_t, 1> order = xt::argsort(length);
  const xt::xtensor<double, 2> sorted = xt::view(x, xt::keep(order), xt::all());
  std::cout << "the three shortest\n" << xt::view(sorted, xt::range(0, 3)) << '\n';

  const xt::xtensor<double, 1> histogram = xt::histogram(length, std::size_t{10});
  std::cout << "histogram " << histogram << "\nof each species";
  for (const auto& [name, number] : species) std::cout << ' ' << number;
  std::cout << '\n';

  xt::dump_npy(folder / "standard.npy", z);
  xt::dump_npy(folder / "correlation.npy", correlation);
  xt::dump_npy(folder / "order.npy", order);
  xt::dump_npy(folder / "histogram.npy", histogram);
  return 0;
}
