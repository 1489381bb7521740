#!/bin/sh
# Pack what `make install` put below BUILD/deb/root: tools/deb.sh BUILD (see `make deb`)
#
# The dependencies are those of the program's and its modules' libraries (dpkg-shlibdeps), so the
# package fits the release it was built on.
set -eu
build=$(cd "$1" && pwd)
stage=$build/deb
root=$stage/root

version=$(meson introspect "$build" --projectinfo | sed 's/.*"version": "\([^"]*\)".*/\1/')
arch=$(dpkg --print-architecture)
mkdir -p "$root/DEBIAN" "$stage/debian" "$root/usr/share/doc/assay"
strip --strip-unneeded "$root/usr/bin/assay" "$root"/usr/lib/assay/*.so
cat NOTICE LICENSE >"$root/usr/share/doc/assay/copyright"

# dpkg-shlibdeps reads debian/control of the directory it is run in.
printf 'Source: assay\n\nPackage: assay\nArchitecture: any\n' >"$stage/debian/control"
depends=$(cd "$stage" && dpkg-shlibdeps -O root/usr/bin/assay root/usr/lib/assay/*.so 2>/dev/null |
	sed 's/^[^=]*=//')

cat >"$root/DEBIAN/control" <<END
Package: assay
Version: $version
Architecture: $arch
Maintainer: the assay authors <assay@localhost>
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: $depends
Section: utils
Priority: optional
Description: what a job or a service used, where, why, and what to change
 assay measures a command or a running service from outside, keeps every run,
 judges what it was waiting for and compares runs with each other.
END
(cd "$root" && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)

package=$build/assay_${version}_$arch.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
rm -rf "$stage"
echo "$package"
