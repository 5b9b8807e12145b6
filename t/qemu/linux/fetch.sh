#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Debian's arm64 kernels, out of its packages:
#   fetch.sh VERSION [FOLDER]     VERSION is 6.12, 6.12-16k (pages of 16 KiB) or 6.1
# prints the path of the kernel, FOLDER/vmlinuz-VERSION, which is fetched only
# where it is not there yet. apt works in a root of its own below FOLDER, with
# the mirror that the system's apt is configured with; the system's own lists,
# caches and architectures stay as they are.
#
# Exit status: 0; 1 for what trying again doesn't help; 75 where the network
# does not give it, after three tries.
set -eu
LC_ALL=C
export LC_ALL
tries=3
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

fail() {
	echo "fetch.sh: $*" >&2
	exit 1
}
give_up() {
	echo "fetch.sh: Linux $version: the download failed $tries times" >&2
	exit 75
}

version=${1-}
folder=${2:-.}
case $version in
6.12 | 6.12-16k) suites='bookworm-backports trixie' ;;
6.1) suites='bookworm' ;;
*) fail "usage: fetch.sh 6.12|6.12-16k|6.1 [FOLDER]" ;;
esac
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
kernel=$folder/vmlinuz-$version
if test -s "$kernel"; then
	echo "$kernel"
	exit
fi
for tool in apt-get apt-cache dpkg-deb tar; do
	command -v $tool >/dev/null || fail "there is no $tool; put an arm64 kernel at $kernel"
done

# Where the system's apt gets this Debian's main packages from.
mirror() {
	code=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
	apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(SITE)' 'Created-By: Packages' |
		awk -v code="$code" '$1 == code && $2 == "main" { print $3; exit }'
}

# A second run of this script waits for the first, then finds the kernel there.
exec 9>"$folder/.lock"
! command -v flock >/dev/null || flock 9
if test -s "$kernel"; then
	echo "$kernel"
	exit
fi

work=$folder/apt-$version
rm -rf "$work"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
site=$(mirror)
test -n "$site" || fail "apt is configured with no mirror of Debian"

# apt ARGUMENT...: apt-get or apt-cache in the root of suite $root.
apt_tool() {
	tool=$1
	shift
	"$tool" -c="$root/apt.conf" "$@"
}

# Three times, with a pause: mirrors and proxies have bad moments.
often() {
	try=1
	until "$@" >>"$work/log" 2>&1; do
		test $try -lt $tries || return 1
		try=$((try + 1))
		sleep 2
	done
}

# The options come after the system's, so that its proxies hold here too.
make_root() {
	root=$work/$1
	mkdir -p "$root/lists/partial" "$root/cache/archives/partial"
	: >"$root/status"
	signed=
	test ! -e $keyring || signed=" signed-by=$keyring"
	echo "deb [arch=arm64 target=Packages$signed] $site $1 main" >"$root/sources.list"
	cat >"$root/apt.conf" <<-END
		#clear APT::Architectures;
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		APT::Architecture "arm64";
		APT::Architectures { "arm64"; };
		APT::Sandbox::User "$(id -un)";
		Acquire::Languages { "none"; };
		Acquire::PDiffs "false";
		APT::Update::Error-Mode "any";
		Dir::State "$root";
		Dir::State::lists "$root/lists";
		Dir::State::status "$root/status";
		Dir::Cache "$root/cache";
		Dir::Etc::sourcelist "$root/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
	END
}

# The package with the kernel that the metapackage stands for: the one for
# virtual machines, which is small, where there is one.
resolve() {
	case $version in
	*-16k) meta=linux-image-arm64-16k ;;
	*) meta=linux-image-cloud-arm64 ;;
	esac
	apt_tool apt-cache show --no-all-versions $meta 2>>"$work/log" |
		awk '/^Depends:/ { sub(",.*", "", $2); print $2; exit }'
}

get() {
	make_root "$1"
	often apt_tool apt-get -q update || return 1
	package=$(resolve)
	case $package in
	linux-image-"${version%-16k}"[.-]*) ;;
	*)
		echo "$1 has ${package:-no such kernel}" >>"$work/log"
		return 2
		;;
	esac
	(cd "$root" && often apt_tool apt-get -q download "$package") || return 1
	dpkg-deb --fsys-tarfile "$root/$package"_*.deb |
		tar -x -O --wildcards -f - './boot/vmlinuz-*' >"$root/vmlinuz" || return 2
	test -s "$root/vmlinuz" || return 2
	mv "$root/vmlinuz" "$kernel"
	echo "$package" >"$kernel.package"
}

reached=no
for suite in $suites; do
	status=0
	get "$suite" || status=$?
	case $status in
	0)
		echo "$kernel"
		exit
		;;
	1) ;;
	*) reached=yes ;;
	esac
done
test $reached = yes || give_up
tail -n 12 "$work/log" >&2
fail "Linux $version: no such kernel in $suites"
