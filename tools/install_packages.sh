#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# install_packages.sh [--apt] KIND...: sees to it that the Debian packages of
# these kinds (see packages.txt) are there. With --apt and as root it installs
# what is missing; otherwise it names the command and fails. Without dpkg it
# only warns.
set -eu
apt=
if [ "${1:-}" = --apt ]; then
  apt=1
  shift
fi
list=$(dirname "$0")/packages.txt

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "No dpkg here: see $list for what Mettle needs." >&2
  exit 0
fi

# names KIND: the packages of one kind.
names() {
  awk -v kind="$1" '
    /^[a-z0-9]/ {
      why = $0
      line_kind = "build"
      if (sub(/^[^#]*#[ ]*/, "", why) && match(why, /^[a-z]+(:|$)/))
        line_kind = substr(why, 1, RLENGTH)
      sub(/:$/, "", line_kind)
      if (line_kind !~ /^(build|demo|test|cross|pages|bench|check|fresh)$/) line_kind = "build"
      if (line_kind == kind) print $1
    }' "$list"
}

missing=
for kind in "$@"; do
  for name in $(names "$kind"); do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null || :)
    [ "$state" = installed ] || missing="$missing $name"
  done
done
[ -n "$missing" ] || exit 0

if [ -z "$apt" ] || [ "$(id -u)" -ne 0 ]; then
  echo "Missing packages. Install them as root, then run make again:" >&2
  echo "  apt-get install$missing" >&2
  exit 1
fi
echo "Installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
# The lists may be old or, on a fresh system, not there at all.
apt-get -q update >&2
# shellcheck disable=SC2086
apt-get -q -y install --no-install-recommends $missing >&2
