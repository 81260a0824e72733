#!/bin/sh
# sources.sh FOLDER PACKAGE... - unpacks the sources of Debian packages as FOLDER/PACKAGE, unless they are there
#
# By apt, which checks their signatures, from where the packages themselves come. The machine's own lists are not changed. Without a
# network nothing happens: the tests that need them are skipped, and say so.
set -eu

folder=$1
shift
for package in "$@"; do
    [ -d "$folder/$package" ] || missing="${missing-} $package"
done
[ -n "${missing-}" ] || exit 0

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
# shellcheck disable=SC2016 # apt's own variables
apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) main' 'Created-By: Packages' 'Origin: Debian' 'Component: main' 2>/dev/null |
    sort -u >"$work/sources.list"
mkdir "$work/lists" "$work/cache" "$work/none" "$work/unpacked"

get() {
    apt-get -qq -o Acquire::http::Timeout=20 -o Acquire::Retries=0 -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts="$work/none" -o Dir::State::Lists="$work/lists" \
        -o Dir::Cache="$work/cache" -o APT::Sandbox::User= "$@" >"$work/log" 2>&1
}

cd "$work/unpacked"
if ! get update; then
    echo "sources: no lists of Debian's sources: $(tail -n 1 "$work/log")" >&2
    exit 0
fi
for package in $missing; do
    if get source "$package"; then
        rm -rf "$folder/$package.part" # of a run that was interrupted
        mv "$(find . -mindepth 1 -maxdepth 1 -type d -name "$package-*")" "$folder/$package.part" && mv "$folder/$package.part" "$folder/$package"
    else
        echo "sources: $package: $(tail -n 1 "$work/log")" >&2
    fi
done
