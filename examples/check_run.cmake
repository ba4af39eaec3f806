# Runs a program and checks its exit code and what it prints.
# Variables: program, arguments (a list), code, text (a regular expression).
# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/expect.cmake")
expect_run("${code}" "${text}" ${arguments})
