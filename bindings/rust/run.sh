#!/bin/sh
# run.sh BUILD COMMAND [ARGUMENT...] - cargo COMMAND for this crate, against the headers here and the library in BUILD
#
# The crate is copied, so that nothing is written beside its source or at home. The crates that it needs come from where
# Debian's librust-*-dev puts them; nothing is downloaded. CARGO names another cargo, REGISTRY
# another place, WORK another folder in BUILD. If BY_PKG_CONFIG is set, pkg-config says where Pawl is.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
cargo=${CARGO:-cargo}
registry=${REGISTRY:-/usr/share/cargo/registry}
work=$build/${WORK:-rust}
mkdir -p "$work/crate"
tar -C "$here" -cf - . | tar -C "$work/crate" -xf -
export CARGO_HOME="$work/home" LD_LIBRARY_PATH="$build/src${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
[ -n "${BY_PKG_CONFIG-}" ] || export PAWL_INCLUDE_DIR="${PAWL_INCLUDE_DIR:-$here/../../include}" PAWL_LIB_DIR="${PAWL_LIB_DIR:-$build/src}"
command=$1
shift
"$cargo" "$command" --offline --manifest-path "$work/crate/Cargo.toml" --target-dir "$work/target" \
    --config 'source.crates-io.replace-with="debian"' --config "source.debian.directory=\"$registry\"" "$@"
