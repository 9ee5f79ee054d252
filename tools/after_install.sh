#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# after_install.sh PREFIX LIBDIR BINDIR: tells the dynamic linker of the
# libraries that were just installed: by ldconfig, as root, or by naming what
# to type. Does nothing for a staged installation (DESTDIR), whose packager
# knows.
set -u
[ -z "${DESTDIR:-}" ] || exit 0
prefix=$1
case $2 in
  /*) libraries=$2 ;;
  *) libraries=$1/$2 ;;
esac
PATH=$PATH:/usr/sbin:/sbin

known() {
  ldconfig -p 2>/dev/null | grep -qF " => $libraries/libmettle.so"
}

# Under fakeroot it cannot write its cache.
[ "$(id -u)" -ne 0 ] || ldconfig 2>/dev/null || :
known && exit 0

echo
echo "The linker does not know $libraries yet. As root:"
echo "  echo $libraries >/etc/ld.so.conf.d/mettle.conf && ldconfig"
echo "or, for this shell alone:"
echo "  export LD_LIBRARY_PATH=$libraries\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
[ "$prefix" = /usr ] || [ "$prefix" = /usr/local ] || {
  echo "  export PATH=$prefix/$3:\$PATH"
  echo "  export PKG_CONFIG_PATH=$libraries/pkgconfig"
}
exit 0
