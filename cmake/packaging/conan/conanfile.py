# cmake/packaging/conan/conanfile.py: the recipe of Conan 2: headers alone.
# conan create cmake/packaging/conan
# SPDX-License-Identifier: Apache-2.0
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class TenonConan(ConanFile):
    name = "tenon"
    license = "Apache-2.0"
    description = "Expression-template tensors for CPU and CUDA"
    topics = ("tensor", "neural-network", "cuda", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._root, "include", "tenon", "base", "config.hpp"))
        number = int(re.search(r"^#define TENON_VERSION (\d+)", text, re.MULTILINE)[1])
        self.version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "cmake/*"):
            copy(self, pattern, self._root, self.export_sources_folder)

    def package_id(self):
        self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["TENON_BUILD_EXAMPLES"] = False
        toolchain.generate()

    def package(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # find_package reads the package's own files, which look for OpenMP and the others on the user's machine.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append(os.path.join("share", "cmake", "tenon"))
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
