#!/bin/sh
# Install the Debian packages named as arguments, but only those that are missing.
# COMMAND=PACKAGE is missing only if no such command is there: it may have come another
# way, with which Debian's package would not get along.
set -eu

if ! command -v apt-get >/dev/null; then
	echo "deps: no apt-get here; please install the equivalents of: $*"
	exit 0
fi

missing=
for wanted in "$@"; do
	pkg=${wanted#*=}
	if [ "$pkg" != "$wanted" ] && command -v "${wanted%%=*}" >/dev/null; then
		continue
	fi
	case $(dpkg-query -W -f '${Status}' "$pkg" 2>/dev/null || :) in
	*" installed") ;;
	*) missing="$missing $pkg" ;;
	esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null; then
	as_root=sudo
else
	echo "deps: please install as root:$missing" >&2
	echo "deps: (this is neither root, nor is there sudo)" >&2
	exit 1
fi

# A fresh machine may be installing something by itself: apt-get waits for that.
# $as_root and $missing are lists of words on purpose.
# shellcheck disable=SC2086
{
	echo "deps: installing$missing"
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
	$as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -o DPkg::Lock::Timeout=300 -y -qq --no-install-recommends \
		$missing >/dev/null
}
