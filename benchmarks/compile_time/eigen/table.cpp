// benchmarks/compile_time/eigen/table.cpp: tenon/table.cpp in the words of Eigen and the standard library.
// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Dense>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

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
  using table = Eigen::Array<double, Eigen::Dynamic, 4, Eigen::RowMajor>;
  const table x = Eigen::Map<const table>(values.data(), static_cast<Eigen::Index>(values.size() / 4), 4);
  std::cout << x.rows() << " flowers\n";

  const Eigen::Array<double, 1, 4> mean = x.colwise().mean();
  const table centred = x.rowwise() - mean;
  const Eigen::Array<double, 1, 4> deviation = centred.square().colwise().mean().sqrt();
  const table z = centred.rowwise() / deviation;
  std::cout << "means " << mean << "\ndeviations " << deviation << '\n';

  const auto rows = static_cast<double>(z.rows());
  const Eigen::Matrix4d correlation = z.matrix().transpose() * z.matrix() / rows;
  std::cout << "correlation\n" << correlation << '\n';

  const Eigen::ArrayXd length = x.col(2);
  std::vector<int> order(static_cast<std::size_t>(x.rows()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return length(a) < length(b); });
  const table sorted = x(order, Eigen::all);
  std::cout << "the three shortest\n" << sorted.topRows(3) << '\n';

  const double low = length.minCoeff(), high = length.maxCoeff();
  Eigen::ArrayXi histogram = Eigen::ArrayXi::Zero(10);
  for (const double each : length) ++histogram(std::min(9, static_cast<int>(10 * (each - low) / (high - low))));
  std::cout << "histogram " << histogram.transpose() << "\nof each species";
  for (const auto& [name, number] : species) std::cout << ' ' << number;
  std::cout << '\n';

  const Eigen::IOFormat commas(Eigen::FullPrecision, Eigen::DontAlignCols, ",", "\n");
  std::ofstream(folder / "standard.csv") << z.format(commas);
  std::ofstream(folder / "correlation.csv") << correlation.format(commas);
  std::ofstream(folder / "order.csv") << Eigen::Map<const Eigen::VectorXi>(order.data(), x.rows()).format(commas);
  std::ofstream(folder / "histogram.csv") << histogram.format(commas);
  return 0;
}
