#!/bin/bash
# run.sh BUILD [OPTION] - the Debian packages: they build (with that one of DEB_BUILD_OPTIONS), lintian finds nothing, and in a bare root they install, serve projects
# by pkg-config, CMake, Meson and cargo, and go away without a trace
#
# The root has the files of the packages that ours depend on, and of compilers, and dpkg's record of them; they are
# linked from this machine, so it takes no network. The packages are built again only if a file has changed.
set -u
# shellcheck source=tests/promise.sh
. "$(dirname "$0")/../promise.sh"

build=$(cd "$1" && pwd)
option=${2-}
root=$(cd "$(dirname "$0")/../.." && pwd)
kept=$build/debian${option:+-$option}
bare=$kept/root
mkdir -p "$kept"

# What a package is made of.
sources() {
    (cd "$root" && find LICENSE Makefile bench bindings check cli cmake debian examples hint include lab man meson.build \
        meson_options.txt preload profile report scripts sim src tests/lab -type f | LC_ALL=C sort)
}

packages_build() {
    local key
    key=${CC-}$(sources | (cd "$root" && xargs -d '\n' sha256sum) | sha256sum)
    [ "$(cat "$kept/key" 2>/dev/null)" != "$key" ] || return 0
    rm -rf "$kept/packages"
    mkdir -p "$kept/packages/pawl"
    sources | tar -C "$root" -cf - -T - | tar -C "$kept/packages/pawl" -xf -
    cd "$kept/packages/pawl"
    # Debugging symbols would be thrown away. Warnings are errors, but not with the flags of a release, which bring others.
    DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=2 $option" DEB_CFLAGS_STRIP=-g DEB_CFLAGS_APPEND=${option:+-Werror} dpkg-buildpackage -b -us -uc
    echo "$key" >"$kept/key"
}

lintian_finds_nothing() {
    lintian --allow-root "$kept"/packages/*.changes >"$kept/lintian" 2>&1 || true
    cat "$kept/lintian"
    test ! -s "$kept/lintian"
}

# dependencies PACKAGE... - and all that they depend on, as far as it is installed here
dependencies() {
    apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
        --no-enhances "$@" | sed -n 's/^\([a-z0-9][^ :]*\).*/\1/p' | LC_ALL=C sort -u |
        xargs dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p'
}

# A root of these packages: their files, linked, and what dpkg knows of them.
root_is_made() {
    rm -rf "$bare"
    mkdir -p "$bare/var/lib/dpkg/info" "$bare/var/lib/dpkg/updates" "$bare/tmp" "$bare/dev" "$bare/proc" "$bare/etc"
    for name in bin lib lib64 sbin; do
        mkdir -p "$bare/usr/$name"
        [ ! -L "/$name" ] || ln -s "usr/$name" "$bare/$name"
    done
    # shellcheck disable=SC2046 # one word each
    dependencies dpkg dash libc-bin bash coreutils sed grep gcc g++ libc6-dev make pkg-config cmake meson python3 ninja-build cargo librust-lock-api-dev librust-scopeguard-dev librust-autocfg-dev \
        libjansson4 libdw1 libhwloc15 libbpf1 >"$kept/packages.list"
    # As they are where /bin, /lib and their kin are links into /usr.
    xargs dpkg-query -L <"$kept/packages.list" | grep '^/' | sed 's#^/\(s\?bin\|lib[0-9x]*\)/#/usr/\1/#' | LC_ALL=C sort -u |
        grep -v -e '^/usr/share/doc/' -e '^/usr/share/man/' -e '^/usr/share/locale/' -e '^/etc/' |
        while IFS= read -r file; do
            [ -d "$file" ] && [ ! -L "$file" ] || [ ! -e "$file" ] || printf '%s\0' "$file"
        done >"$kept/files"
    # Linked if this is one file system, and copied otherwise. (cp looks for the folders of absolute names here.)
    cd /
    how=-al
    [ "$(stat -c %d /usr)" = "$(stat -c %d "$bare")" ] || how=-a
    xargs -0 cp $how --parents -t "$bare" <"$kept/files"
    cp -a /etc/alternatives /etc/passwd /etc/group /etc/ld.so.conf /etc/ld.so.conf.d "$bare/etc/"
    find /usr/bin /usr/lib -maxdepth 1 -type l -lname '/etc/alternatives/*' -print0 | xargs -0 cp -a --parents -n -t "$bare" || true
    # shellcheck disable=SC2046
    dpkg-query -s $(cat "$kept/packages.list") >"$bare/var/lib/dpkg/status"
    while read -r name; do
        for list in "/var/lib/dpkg/info/$name".* /var/lib/dpkg/info/"$name":*; do
            case $list in
            *.list | *.triggers | *.md5sums) [ ! -f "$list" ] || cp "$list" "$bare/var/lib/dpkg/info/" ;;
            esac
        done
    done <"$kept/packages.list"
    mknod -m 666 "$bare/dev/null" c 1 3
    chroot "$bare" /sbin/ldconfig
    chroot "$bare" /usr/bin/gcc --version
}

# everything - all files of the root but those that dpkg and the dynamic linker keep for themselves
everything() {
    (cd "$bare" && find . -path ./var/lib/dpkg -prune -o -path ./var/log -prune -o -path ./tmp -prune -o -path ./root -prune -o -path ./var/cache -prune -o -print | LC_ALL=C sort)
}

packages_install() {
    everything >"$kept/before"
    dpkg --root="$bare" -i "$kept"/packages/*.deb
    everything >"$kept/between"
    not cmp -s "$kept/before" "$kept/between"
}

# inside COMMAND - in the root, in /tmp; with a /proc that nobody else sees
inside() {
    # shellcheck disable=SC2016 # for that shell
    unshare --mount sh -ec 'mount -t proc proc "$1/proc"
        exec chroot "$1" env -i PATH=/usr/bin:/bin HOME=/tmp/home PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8 sh -ec "cd /tmp; $2"' - "$bare" "$1"
}

says_two_million() {
    test "$(inside "$1")" = 2000000
}

by_pkg_config() {
    cp "$root/examples/first.c" "$bare/tmp"
    inside 'gcc first.c $(pkg-config --cflags --libs pawl) -o first'
    says_two_million ./first
    inside 'gcc -static first.c $(pkg-config --static --cflags --libs pawl) -o first_static'
    says_two_million ./first_static
}

by_cmake() {
    mkdir -p "$bare/tmp/tests/outside" "$bare/tmp/examples"
    cp -R "$root/tests/outside/cmake" "$bare/tmp/tests/outside"
    cp "$root/examples/first.c" "$bare/tmp/examples"
    # With /bin first, CMake finds it behind the link /lib.
    inside 'PATH=/bin:/usr/bin cmake -S tests/outside/cmake -B cmake && cmake --build cmake'
    says_two_million cmake/first
}

by_meson() {
    cp -R "$root/tests/outside/meson" "$bare/tmp"
    cp "$root/examples/first.c" "$bare/tmp/meson"
    inside 'meson setup meson/build meson && ninja -C meson/build'
    says_two_million meson/build/first
}

by_cargo() {
    mkdir -p "$bare/tmp/cargo/src"
    cp "$root/bindings/rust/examples/first.rs" "$bare/tmp/cargo/src/main.rs"
    printf '[package]\nname = "first"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\npawl = "0.1"\n' >"$bare/tmp/cargo/Cargo.toml"
    inside "cd cargo && cargo build --offline --config 'source.crates-io.replace-with=\"debian\"' --config 'source.debian.directory=\"/usr/share/cargo/registry\"'"
    says_two_million cargo/target/debug/first
}

tools_work() {
    inside 'pawl doctor --json >doctor || [ $? = 1 ]'
    inside 'pawl list ticket; pawl run --list | grep pawl_mutex; pawl check --quick --scenario contend --lock tts'
    inside 'pawl bench mutexbench --lock ticket --threads 1 -d 5ms -r 1 --csv'
    inside 'pawl sim mutexbench --lock ticket --threads 2 -d 1ms'
    says_two_million 'pawl run -- ./first'
    inside 'pawl run --stats=stats.json -- ./first >/dev/null; grep acquisitions stats.json'
    test "$(inside 'pawl --version')" = "pawl 0.1.0"
}

packages_go_without_a_trace() {
    # shellcheck disable=SC2046
    dpkg --root="$bare" -P $(for deb in "$kept"/packages/*.deb; do dpkg-deb -f "$deb" Package; done)
    everything >"$kept/after"
    diff "$kept/before" "$kept/after"
}

promise packages_build packages_build
[ $failed = 0 ] || finish
promise lintian_finds_nothing lintian_finds_nothing
if [ "$(id -u)" != 0 ]; then
    echo "SKIP debian/root: it takes root to enter one"
    finish
fi
promise root_is_made root_is_made
promise packages_install packages_install
promise by_pkg_config by_pkg_config
promise by_cmake by_cmake
promise by_meson by_meson
promise by_cargo by_cargo
promise tools_work tools_work
promise packages_go_without_a_trace packages_go_without_a_trace
rm -rf "$bare"
finish
