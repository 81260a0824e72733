#!/bin/sh
# deps.sh PACKAGE... - makes sure that Debian packages are installed: installs what is missing as root or
# through sudo, or says exactly what to install.
set -eu

missing=
for package in "$@"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root=sudo
else
    echo "deps: these packages are missing, and installing them takes root:" >&2
    echo "    apt-get install$missing" >&2
    exit 1
fi

echo "installing$missing" >&2

# Some are servers, which Debian would start at once. The tests start their own.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
    trap '$as_root rm -f $policy' EXIT
    printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null
    $as_root chmod 755 $policy
fi

# An empty or old package list is the usual reason for a first failure.
install() {
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
install 2>/dev/null || { $as_root apt-get update -qq && install; }
