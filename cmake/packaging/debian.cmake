# A package for Debian and its like: libtenon-dev, headers alone, of every architecture.
#   cmake -S . -B build/package -D TENON_BUILD_EXAMPLES=OFF && (cd build/package && cpack)
# SPDX-License-Identifier: Apache-2.0
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libtenon-dev)
set(CPACK_PACKAGE_VENDOR "Tenon")
set(TENON_DEBIAN_MAINTAINER "The authors of Tenon <tenon@example.org>" CACHE STRING "Who makes packages for Debian")
set(CPACK_PACKAGE_CONTACT "${TENON_DEBIAN_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "expression-template tensors for CPU and CUDA (C++20 headers)")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Tensors in which what is written together runs as one loop or one kernel,\n\
with the layers, gradients and loaders that it takes to train networks.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ (>= 4:12) | clang (>= 1:14), libxsimd-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libpng-dev, zlib1g-dev, libomp-dev")

# The two files that Debian asks of each package.
set(documents "${PROJECT_BINARY_DIR}/debian")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(CONFIGURE OUTPUT "${documents}/copyright" @ONLY CONTENT
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2026 The authors of Tenon
License: Apache-2.0
 On Debian systems, the text of the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.
")
find_program(TENON_GZIP gzip)
if(TENON_GZIP)
  file(CONFIGURE OUTPUT "${documents}/changelog" @ONLY CONTENT
"libtenon-dev (@PROJECT_VERSION@) unstable; urgency=low

  * Version @PROJECT_VERSION@; docs/CHANGELOG.md of the sources says what is new.

 -- @TENON_DEBIAN_MAINTAINER@  @date@
")
  execute_process(COMMAND "${TENON_GZIP}" -9nf "${documents}/changelog")
endif()
set(CPACK_INSTALLED_DIRECTORIES "${documents};/usr/share/doc/libtenon-dev")
include(CPack)
