#!/bin/sh
# libraries.sh FOLDER JANSSON - what the pawl command needs where the C library is musl, in FOLDER
#
# On Alpine these are packages: argp-standalone, jansson-dev, linux-headers. Debian has none of them for musl, so they are
# made of sources: argp's of its package gnulib, jansson's that are in JANSSON. Nothing is done if they are there.
# FOLDER/cross.ini, given to Meson after cross/musl.ini, says where they are.
set -eu

gnulib=/usr/share/gnulib/lib
if [ "$1/cross.ini" -nt "$0" ]; then exit 0; fi
mkdir -p "$1/include" "$1/lib" "$1/argp"
folder=$(cd "$1" && pwd)
jansson=$(cd "$2" && pwd)

# The kernel's headers, which are the same for every C library.
ln -sfn /usr/include/linux "$folder/include/linux"
ln -sfn /usr/include/asm-generic "$folder/include/asm-generic"
ln -sfn "/usr/include/$(cc -print-multiarch)/asm" "$folder/include/asm"

# gnulib wants a config.h, here with what is to be known of musl, and fills in headers.
cat >"$folder/argp/config.h" <<'CONFIG'
#define _GNU_SOURCE 1
#define HAVE_CONFIG_H 1
#define HAVE_FLOCKFILE 1
#define HAVE_FUNLOCKFILE 1
#define HAVE_DECL_PROGRAM_INVOCATION_NAME 1
#define HAVE_DECL_PROGRAM_INVOCATION_SHORT_NAME 1
#define GNULIB_ARGP_DISABLE_DIRNAME 1
#define __GETOPT_PREFIX gnu_
#define _GL_INLINE static inline __attribute__((unused))
#define _GL_EXTERN_INLINE _GL_INLINE
#define _GL_INLINE_HEADER_BEGIN
#define _GL_INLINE_HEADER_END
#define _GL_ATTRIBUTE_FORMAT(what) __attribute__((format what))
#define _GL_ATTRIBUTE_SPEC_PRINTF_SYSTEM __printf__
#define _GL_ATTRIBUTE_DEALLOC(by, which)
#define _GL_ARG_NONNULL(which)
#define _GL_UNUSED __attribute__((unused))
#include <stdalign.h>
#include <stdbool.h>
CONFIG
sed 's/@GUARD_PREFIX@/ARGP/; s/@HAVE_GETOPT_H@/0/; s/^@PRAGMA.*//' $gnulib/getopt.in.h >"$folder/argp/getopt.h"
sed 's/@HAVE_SYS_CDEFS_H@/0/' $gnulib/getopt-cdefs.in.h >"$folder/argp/getopt-cdefs.h"
for name in ba eexst fmtstream help parse pv pvh; do
    echo "$gnulib/argp-$name.c"
done >"$folder/argp/sources"
printf '%s\n' $gnulib/getopt.c $gnulib/getopt1.c >>"$folder/argp/sources"
# -iquote, so that nothing else of gnulib takes the place of musl's headers.
(cd "$folder/argp" && xargs musl-gcc -O1 -w -include config.h -I . -iquote $gnulib -idirafter $gnulib -c <sources && ar rcs ../lib/libargp.a ./*.o)
# The header as its users need it.
{
    sed '/_GL_/!d' "$folder/argp/config.h"
    cat $gnulib/argp.h
} >"$folder/include/argp.h"

# jansson's own for systems without a configure script.
mkdir -p "$folder/jansson"
: >"$folder/jansson/jansson_private_config.h"
(cd "$folder/jansson" && musl-gcc -O1 -w -DHAVE_STDINT_H -DHAVE_STRTOLL -DHAVE_UNISTD_H -DHAVE_SYS_TIME_H -DHAVE_CLOSE -DHAVE_GETPID -DHAVE_GETTIMEOFDAY \
    -I . -I "$jansson/src" -I "$jansson/android" -c "$jansson"/src/*.c && ar rcs ../lib/libjansson.a ./*.o)
cp "$jansson/src/jansson.h" "$jansson/android/jansson_config.h" "$folder/include"
printf 'Name: jansson\nDescription: .\nVersion: 2.14\nLibs: -ljansson\nCflags:\n' >"$folder/lib/jansson.pc"

cat >"$folder/cross.ini" <<INI
[binaries]
pkgconfig = 'pkg-config'
[properties]
pkg_config_libdir = '$folder/lib'
[built-in options]
c_args = ['-isystem', '$folder/include']
c_link_args = ['-L$folder/lib']
INI
