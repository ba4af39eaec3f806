# cmake/packaging/conan/test_package/conanfile.py: a user's program, built against the package and run.
# SPDX-License-Identifier: Apache-2.0
import io
import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class TestPackage(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # nothing is left in the sources
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if not can_run(self):
            return
        printed = io.StringIO()
        self.run(os.path.join(self.cpp.build.bindir, "user"), stdout=printed, env="conanrun")
        assert printed.getvalue() == "2 5 10\n", printed.getvalue()
