#!/bin/sh
# build.sh CARGO REGISTRY SOURCE FOLDER OUTPUT - builds the crate in FOLDER, so that nothing is written beside its source or at home
#
# The crates that it needs come from REGISTRY, where Debian's librust-*-dev puts them; nothing is downloaded.
set -eu
cargo=$1 registry=$2 source=$3 folder=$4 output=$5
mkdir -p "$folder"
cp "$source/Cargo.toml" "$source/lib.rs" "$folder"
CARGO_HOME=$(cd "$folder" && pwd)/home
export CARGO_HOME
"$cargo" build --quiet --release --offline --manifest-path "$folder/Cargo.toml" --target-dir "$folder/target" \
    --config 'source.crates-io.replace-with="debian"' --config "source.debian.directory=\"$registry\""
cp "$folder/target/release/libpawl_bench_rust.a" "$output"
