# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tarball.cmake: `make tarball`, an archive of what `make install` installs that
# runs from whatever folder it is unpacked in. tools/fill_tarball.cmake puts the
# wheel's compiler, libraries and command into it, which need nothing of the
# system's but the C library.
set(CPACK_GENERATOR TXZ)
set(CPACK_PACKAGE_FILE_NAME
  mettle-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_SET_DESTDIR ON)  # this system's linker is told nothing
set(CPACK_INSTALL_PREFIX /)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/tools/fill_tarball.cmake)
# For the script.
set(CPACK_METTLE_WHEEL ${wheel_folder})
set(CPACK_METTLE_VERSION ${PROJECT_VERSION})
set(CPACK_METTLE_BINDIR ${CMAKE_INSTALL_BINDIR})
set(CPACK_METTLE_LIBDIR ${CMAKE_INSTALL_LIBDIR})
set(CPACK_METTLE_LIBEXECDIR ${CMAKE_INSTALL_LIBEXECDIR})
include(CPack)
