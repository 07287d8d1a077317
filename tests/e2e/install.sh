# e2e/install.sh - what `make install` leaves is enough to build against, by pkg-config and by CMake
#
# run: check-all
# SPDX-License-Identifier: MIT OR Apache-2.0
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
prefix=$dir/prefix

check()
{
    name=$1
    shift
    if "$@" >"$dir/out" 2>&1; then
        echo "ok $name"
    else
        cat "$dir/out"
        echo "FAIL $name"
    fi
}

cat >"$dir/main.c" <<'C'
#include <cuzk.h>
#include <stdio.h>

int main(void)
{
    return puts(cuzk_version()) < 0 || cuzk_status_name(CUZK_EDATA) == NULL;
}
C
cat >"$dir/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES C)
find_package(cuzk 0.1 REQUIRED)
add_executable(consumer main.c)
target_link_libraries(consumer PRIVATE cuzk::cuzk)
CMAKE

by_pkg_config()
{
    pc=$(dirname "$(find "$prefix" -name cuzk.pc)")
    libdir=$(PKG_CONFIG_PATH=$pc pkg-config --variable=libdir cuzk)
    # shellcheck disable=SC2046 # flags
    cc -std=c17 -Wall -Werror "$dir/main.c" -o "$dir/by-pc" $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs cuzk) &&
        LD_LIBRARY_PATH=$libdir "$dir/by-pc"
}

by_cmake()
{
    cmake -S "$dir" -B "$dir/consumer" -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$dir/consumer" &&
        "$dir/consumer/consumer"
}

same_version() { [ "$(LD_LIBRARY_PATH=$libdir "$dir/by-pc")" = "$("$dir/consumer/consumer")" ]; }

check "install" cmake --install "$CUZK_BUILD" --prefix "$prefix"
check "pkg-config" by_pkg_config
check "find_package" by_cmake
check "version" same_version
check "program is installed" test -x "$prefix/bin/cuzk"
check "man page is installed" test -s "$prefix/share/man/man1/cuzk.1"
check "completion is installed" bash -n "$prefix/share/bash-completion/completions/cuzk"

unit=$prefix/lib/systemd/system/cuzk.service
if [ -e "$unit" ]; then
    check "unit starts the installed program" grep -q "^ExecStart=$prefix/bin/cuzk serve" "$unit"
    check "user is installed" grep -q "^u cuzk " "$prefix/lib/sysusers.d/cuzk.conf"
    check "example configuration is accepted" "$prefix/bin/cuzk" serve --check --config "$prefix/share/doc/cuzk/cuzk.example.toml"
    check "operations manual is installed" test -s "$prefix/share/doc/cuzk/operations.md"
    if command -v systemd-analyze >/dev/null; then
        check "unit is sound" systemd-analyze --man=no --root=/ verify "$unit"
    fi
elif [ "$("$prefix/bin/cuzk" serve --check 2>&1 | grep -c "without the service")" -eq 0 ]; then
    echo "FAIL unit is installed"
fi
