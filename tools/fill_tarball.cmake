# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# fill_tarball.cmake: run by cpack between installing into a folder and packing
# that: puts what build/wheel has over what links with this system's LLVM.
set(from ${CPACK_METTLE_WHEEL})
set(to ${CPACK_TEMPORARY_DIRECTORY})
file(COPY_FILE ${from}/mettle ${to}/${CPACK_METTLE_BINDIR}/mettle)
foreach(name libmettle libmettle-aoti)
  file(COPY_FILE ${from}/${name}.so.0
    ${to}/${CPACK_METTLE_LIBDIR}/${name}.so.${CPACK_METTLE_VERSION})
endforeach()
foreach(name mettlec mettlec.pch mettlec-metal4.pch mettlec.air)
  file(COPY_FILE ${from}/${name}
    ${to}/${CPACK_METTLE_LIBEXECDIR}/mettle/${name})
endforeach()
