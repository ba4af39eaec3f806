# benchmarks/compile_time/statements.py: the include of each library, and one or fifty statements behind it.
# SPDX-License-Identifier: Apache-2.0
import itertools

programs = {"include": 0, "one_statement": 1, "fifty_statements": 50}

# Of each library: what is included, and the type of an array of floats.
libraries = {
    "tenon": ("tenon/expressions.hpp", "tenon::tensor<float, tenon::rank<1>{space}>"),
    "whole/tenon": ("tenon/tenon.hpp", "tenon::tensor<float, tenon::rank<1>{space}>"),
    "eigen": ("Eigen/Core", "Eigen::ArrayXf"),
    "eigen_tensor": ("unsupported/Eigen/CXX11/Tensor", "Eigen::Tensor<float, 1>"),
    "xtensor": ("xtensor/xtensor.hpp", "xt::xtensor<float, 1>"),
}

# All ways to put three operators between four leaves: each statement below has a type of its own.
shapes = ["(a {} b) {} (c {} d)", "a {} (b {} (c {} d))", "(a {} (b {} c)) {} d", "a {} ((b {} c) {} d)"]
expressions = [shape.format(*operators) for operators in itertools.product("+-*", repeat=3) for shape in shapes]


def source(program, library, for_gpu):
    header, array = libraries[library]
    lines = [f"#include <{header}>", f"using array = {array.format(space=', tenon::cuda' if for_gpu else '')};"]
    for number, expression in enumerate(expressions[: programs[program]]):
        parameters = ", ".join([*(f"const array& {operand}" for operand in "abcd"), "array& out"])
        lines.append(f"void statement_{number}({parameters}) {{")
        lines.append(f"  out = {expression};")
        lines.append("}")
    return "\n".join(lines) + "\n"
