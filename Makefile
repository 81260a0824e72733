# Everything a person needs is here; Meson and Ninja do the work.
#
#   make            build the library and build/pawl
#   make demo       install what is missing, build, tell the story in five lines, measure all locks, write a report
#   make check      the same, then all tests
#   make count      instructions of an uncontended lock and unlock, compared with the checked-in table
#   make soak       the long tests: hours, but they may be stopped and go on where they were (scripts/check.sh)
#   make mutate     break src/ and preload/ in one place at a time, and list what no test notices (hours)
#   make bench-apps throughput of programs with pawl_mutex under them, against glibc's mutex
#   make install    PREFIX=/usr/local, DESTDIR=

PREFIX ?= /usr/local
BUILD  ?= build

BUILD_PACKAGES = gcc libc6-dev meson ninja-build python3 pkg-config libjansson-dev libdw-dev libhwloc-dev git
# Other libraries' locks and a database, for comparison; built in where they are installed.
PEER_PACKAGES  = g++ libck-dev libnsync-dev libabsl-dev libleveldb-dev
# For pawl profile -p and pawl hint; built in where they are installed.
ATTACH_PACKAGES = clang bpftool libbpf-dev
TEST_PACKAGES  = $(BUILD_PACKAGES) $(PEER_PACKAGES) $(ATTACH_PACKAGES) valgrind python3-jsonschema mandoc abigail-tools cmake \
                 cargo rustc librust-lock-api-dev librust-parking-lot-dev \
                 chromium chromium-driver gnuplot-nox fonts-dejavu-core \
                 gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross \
                 gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross \
                 musl-tools gnulib parallel openssh-client dropbear-bin qemu-user debhelper dpkg-dev lintian $(APP_PACKAGES)
# The programs that the interposer is tried under.
APP_PACKAGES   = g++ python3 git libsqlite3-dev libleveldb-dev liblmdb-dev libjemalloc2 memcached redis-server unbound \
                 pigz xz-utils zstd lbzip2 perl binutils
# What the tests compile from source: with debugging symbols, which Debian's own builds have elsewhere, or for musl.
SOURCE_PACKAGES = leveldb jansson

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@meson setup $(BUILD) --prefix='$(PREFIX)' -Dtests=false >/dev/null

demo:
	@scripts/deps.sh $(BUILD_PACKAGES) $(PEER_PACKAGES)
	@$(MAKE) --no-print-directory all
	@$(BUILD)/pawl demo --report $(BUILD)/demo

check:
	@scripts/deps.sh $(TEST_PACKAGES)
	@scripts/sources.sh build-check/sources $(SOURCE_PACKAGES)
	@scripts/check.sh

count:
	@scripts/deps.sh $(BUILD_PACKAGES) valgrind
	@$(MAKE) --no-print-directory all
	@scripts/count.sh $(BUILD)

soak:
	@scripts/deps.sh $(TEST_PACKAGES)
	@scripts/sources.sh build-check/sources $(SOURCE_PACKAGES)
	@scripts/check.sh soak

bench-apps:
	@scripts/deps.sh $(BUILD_PACKAGES) $(APP_PACKAGES)
	@scripts/bench_apps.sh

mutate:
	@scripts/deps.sh $(TEST_PACKAGES) python3-clang
	@/usr/bin/python3 -B scripts/mutate $(MUTATE)

install: $(BUILD)/build.ninja
	@meson configure $(BUILD) -Dprefix='$(PREFIX)'
	@$(MAKE) --no-print-directory all
	@meson install -C $(BUILD) --no-rebuild --quiet

clean:
	rm -rf build build-*

.PHONY: all demo check count soak mutate bench-apps install clean
