// benchmarks/compile_time/tenon/table.cpp: a table of numbers made standard, correlated, sorted, counted and saved.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <iostream>
#include <tenon/train.hpp>

namespace tn = tenon;

int main(int count, char** arguments) {
  const std::filesystem::path folder = count > 1 ? arguments[1] : ".";
  const tn::io::csv_table table(folder / "flowers.csv");
  const auto x = table.columns<double>({"sepal_length", "sepal_width", "petal_length", "petal_width"});
  std::cout << x.extent(0) << " flowers\n";

  // Every column with mean 0 and deviation 1.
  const tn::tensor<double, tn::rank<2>> mean = tn::mean(x, tn::axis<0>);
  const tn::tensor<double, tn::rank<2>> deviation = tn::stddev(x, tn::axis<0>);
  const tn::tensor<double, tn::rank<2>> z = (x - mean) / deviation;
  std::cout << "means " << mean << "\ndeviations " << deviation << '\n';

  // How the columns hang together.
  const auto rows = static_cast<double>(z.extent(0));
  const tn::tensor<double, tn::rank<2>> correlation = tn::matmul(tn::transpose(z), z) / rows;
  std::cout << "correlation\n" << correlation << '\n';

  // The flowers by the length of their petals.
  const auto length = table.column<double>("petal_length");
  const auto order = tn::argsort(length, tn::axis<0>);
  const tn::tensor<double, tn::rank<2>> sorted = tn::take(x, order, tn::axis<0>);
  std::cout << "the three shortest\n" << tn::slice(sorted, tn::range(0, 3)) << '\n';

  // How many have which length, and the flowers of each species.
  const double low = tn::min(length), high = tn::max(length);
  const auto lengths = tn::histogram(length, 10, low, high);
  const auto species = table.classes("species");
  std::cout << "histogram " << lengths << "\nof each species " << tn::bincount(species.labels) << '\n';

  tn::io::write_npy(folder / "standard.npy", z);
  tn::io::write_npy(folder / "correlation.npy", correlation);
  tn::io::write_npy(folder / "order.npy", order);
  tn::io::write_npy(folder / "histogram.npy", lengths);
  return 0;
}
