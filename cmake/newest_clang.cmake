# Toolchain: the newest clang++ that is installed.
# SPDX-License-Identifier: Apache-2.0
find_program(CMAKE_CXX_COMPILER REQUIRED
  NAMES clang++-22 clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++-16 clang++)
