# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# install.cmake: what `make install` puts where. The static libraries are the
# component "static", which `make install STATIC=1` installs as well.
include(CMakePackageConfigHelpers)
set(mettle_cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Mettle)

install(TARGETS mettle_cli)
install(TARGETS mettle mettle_aoti EXPORT MettleTargets
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS mettle_static mettle_aoti_static EXCLUDE_FROM_ALL
  COMPONENT static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS mettlec DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/mettle)
install(FILES ${CMAKE_BINARY_DIR}/mettlec.pch
  ${CMAKE_BINARY_DIR}/mettlec-metal4.pch ${CMAKE_BINARY_DIR}/mettlec.air
  DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/mettle)
install(DIRECTORY include/mettle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")

# --- find_package(Mettle) -------------------------------------------------------
install(EXPORT MettleTargets NAMESPACE Mettle::
  DESTINATION ${mettle_cmake_folder})
configure_package_config_file(cmake/MettleConfig.cmake.in
  ${CMAKE_BINARY_DIR}/MettleConfig.cmake
  INSTALL_DESTINATION ${mettle_cmake_folder}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(
  ${CMAKE_BINARY_DIR}/MettleConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/MettleConfig.cmake
  ${CMAKE_BINARY_DIR}/MettleConfigVersion.cmake
  DESTINATION ${mettle_cmake_folder})

# --- pkg-config -----------------------------------------------------------------
file(RELATIVE_PATH mettle_pc_prefix
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" mettle_pc_prefix ${mettle_pc_prefix})
set(mettle_pc_names mettle mettle-aoti)
if(METTLE_OBJC)
  list(APPEND mettle_pc_names mettle-objc)
endif()
foreach(name ${mettle_pc_names})
  configure_file(cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# --- what is read ---------------------------------------------------------------
file(GLOB man_pages CONFIGURE_DEPENDS docs/man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
# The C API's, from its headers.
file(GLOB api_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/mettle/*.h)
set(api_manual ${CMAKE_BINARY_DIR}/man3)
add_custom_command(OUTPUT ${api_manual}/libmettle.3
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${api_manual}
  COMMAND python3 -B ${CMAKE_SOURCE_DIR}/tools/api_reference.py man
    ${api_manual}
  DEPENDS tools/api_reference.py ${api_headers})
add_custom_target(api_manual ALL DEPENDS ${api_manual}/libmettle.3)
install(DIRECTORY ${api_manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3
  FILES_MATCHING PATTERN "*.3")
install(FILES completions/mettle.bash RENAME mettle
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES completions/_mettle
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES completions/mettle.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
file(GLOB documents CONFIGURE_DEPENDS docs/*.md)
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.[ch]" PATTERN "*.metal")
install(FILES tools/mettle-gdb.py
  DESTINATION ${CMAKE_INSTALL_DATADIR}/mettle)
# Where gdb looks for what belongs to a library: under the whole path of that.
# The prefix is known when it is installed, and is expanded then.
install(FILES tools/mettle-gdb.py
  DESTINATION
    "${CMAKE_INSTALL_DATADIR}/gdb/auto-load/\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}"
  RENAME libmettle.so.${PROJECT_VERSION}-gdb.py)
install(PROGRAMS python/mettle/export_mps.py
  DESTINATION ${CMAKE_INSTALL_DATADIR}/mettle)
# ExecuTorch's backend is built for the ExecuTorch that its user has.
install(DIRECTORY plugins/executorch/mettle_executorch
  DESTINATION ${CMAKE_INSTALL_DATADIR}/mettle/python
  FILES_MATCHING PATTERN "*.py")
install(FILES plugins/executorch/metal_backend.cpp
  plugins/executorch/run_program.cpp plugins/executorch/requirements.txt
  DESTINATION ${CMAKE_INSTALL_DATADIR}/mettle/python/mettle_executorch)

# --- where libraries are found --------------------------------------------------
# The command finds the library of its own folder, wherever that is.
file(RELATIVE_PATH library_from_bin /prefix/${CMAKE_INSTALL_BINDIR}
  /prefix/${CMAKE_INSTALL_LIBDIR})
set_target_properties(mettle_cli PROPERTIES
  INSTALL_RPATH "$ORIGIN/${library_from_bin}")
set_target_properties(mettle_aoti PROPERTIES INSTALL_RPATH "$ORIGIN")
# Programs find it through the linker's cache.
install(CODE "execute_process(COMMAND
  ${CMAKE_SOURCE_DIR}/tools/after_install.sh
  \"\${CMAKE_INSTALL_PREFIX}\" \"${CMAKE_INSTALL_LIBDIR}\"
  \"${CMAKE_INSTALL_BINDIR}\")")
