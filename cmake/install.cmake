# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# install.cmake: what `make install` puts where.
install(TARGETS mettle mettle_aoti mettle_cli)
install(TARGETS mettlec DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/mettle)
install(FILES ${CMAKE_BINARY_DIR}/mettlec.pch
  DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/mettle)
install(DIRECTORY include/mettle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")

file(RELATIVE_PATH mettle_pc_prefix
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" mettle_pc_prefix ${mettle_pc_prefix})
configure_file(cmake/mettle.pc.in ${CMAKE_BINARY_DIR}/mettle.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/mettle.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

file(GLOB man_pages CONFIGURE_DEPENDS docs/man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES completions/mettle.bash RENAME mettle
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)

# The command finds the library of its own folder, wherever that is.
file(RELATIVE_PATH library_from_bin /prefix/${CMAKE_INSTALL_BINDIR}
  /prefix/${CMAKE_INSTALL_LIBDIR})
set_target_properties(mettle_cli PROPERTIES
  INSTALL_RPATH "$ORIGIN/${library_from_bin}")
set_target_properties(mettle_aoti PROPERTIES INSTALL_RPATH "$ORIGIN")
