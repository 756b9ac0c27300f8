# Shared by the scripts; sourced, not run. Changes to the project folder.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
# The interpreter of Debian's python3-* packages, whatever is on the PATH.
# shellcheck disable=SC2034
python=/usr/bin/python3

say() { printf '== %s\n' "$*"; }
die() {
  printf '%s\n' "$*" >&2
  exit 1
}

# first_lines COUNT TEXT: the first COUNT lines of the text, and a note if there are more.
first_lines() {
  sed -n -e "1,$1p" -e "$(($1 + 1))s/.*/[more in the log above]/p" <<<"$2"
}

# doctest_totals FILE: "PASSED FAILED" from the summary that doctest prints.
doctest_totals() {
  sed -nE 's/^\[doctest\] test cases: +[0-9]+ \| +([0-9]+) passed \| +([0-9]+) failed.*/\1 \2/p' "$1" | tail -n 1
}

# has_tool COMMAND: true if it exists; else prints how to get it. A check without its tool must fail.
has_tool() {
  command -v "$1" >/dev/null && return 0
  echo "$1 is missing: scripts/test installs what the checks need (scripts/packages, section test)"
  return 1
}

# packages_of SECTION: the names in that section of scripts/packages. Leaves "NAME unless COMMAND" out if such a command
# exists, from any source.
packages_of() {
  local name word command
  awk -v section="[$1]" '/^\[/ { on = ($0 == section); next } on && NF && !/^#/' scripts/packages |
    while read -r name word command; do
      if [[ $word != unless ]] || ! command -v "$command" >/dev/null; then echo "$name"; fi
    done
}

as_root() {
  if [[ $(id -u) -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

# missing_of SECTION...: the packages of these sections that are not installed.
missing_of() {
  local section package
  for section in "$@"; do
    for package in $(packages_of "$section"); do
      if [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
        echo "$package"
      fi
    done
  done
}

# get_packages PACKAGE...: installs them.
get_packages() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
}

# may_install PACKAGE...: announces the installation, or ends the script if it is not allowed.
may_install() {
  say "installing $*"
  [[ $(id -u) -eq 0 ]] || command -v sudo >/dev/null ||
    die "These packages are missing: $*. Install them as root, or install sudo."
  as_root apt-get update -q
}

# need SECTION...: installs the missing packages; does nothing if there are none.
need() {
  local missing
  mapfile -t missing < <(missing_of "$@")
  [[ ${#missing[@]} -eq 0 ]] && return 0
  may_install "${missing[@]}"
  get_packages "${missing[@]}"
}

# need_stopped SECTION...: like need, but starts no service of these packages and makes no PostgreSQL cluster. Restores
# the system files that it changes for that.
need_stopped() {
  local missing
  mapfile -t missing < <(missing_of "$@")
  [[ ${#missing[@]} -eq 0 ]] && return 0
  may_install "${missing[@]}"
  (
    policy=${policy_rc:-/usr/sbin/policy-rc.d} clusters=${createcluster_conf:-/etc/postgresql-common/createcluster.conf}
    saved=$(mktemp -d)
    # shellcheck disable=SC2317 # the trap calls it
    restore() {
      as_root rm -f "$policy"
      [[ ! -e $saved/policy ]] || as_root cp -p "$saved/policy" "$policy"
      [[ ! -e $saved/clusters ]] || as_root cp -p "$saved/clusters" "$clusters"
      as_root rm -rf "$saved"
    }
    trap restore EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    [[ ! -e $policy ]] || as_root cp -p "$policy" "$saved/policy"
    # 101: the action is forbidden.
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
    # This package contains the file, which is read when a server's package is installed.
    if [[ " ${missing[*]} " == *" postgresql-"* ]]; then
      get_packages postgresql-common
      as_root cp -p "$clusters" "$saved/clusters"
      echo "create_main_cluster = false" | as_root tee -a "$clusters" >/dev/null
    fi
    get_packages "${missing[@]}"
  )
}

# unpack PACKAGE: downloads Debian's package and unpacks it below build/tools/PACKAGE, once. For tools whose package
# would start a service if installed.
unpack() {
  local folder=build/tools/$1 fresh=build/tools/$1.new said
  [[ -d $folder ]] && return 0
  rm -rf "$fresh"
  mkdir -p "$fresh"
  # apt's output is only worth reading if it fails.
  said=$(
    cd "$fresh"
    apt-get download -q "$1" 2>&1 || { as_root apt-get update -q 2>&1 && apt-get download -q "$1" 2>&1; }
  ) || die "$1 cannot be downloaded: $said"
  dpkg -x "$fresh"/*.deb "$fresh"
  rm "$fresh"/*.deb
  mv "$fresh" "$folder"
}

# build PRESET WITH_TESTS [TARGET...]: configures a new folder, or one that gets tests for the first time, then builds.
# A folder configured with tests keeps them.
build() {
  local preset=$1 with_tests=$2 cache=build/$1/CMakeCache.txt
  shift 2
  if [[ -f $cache ]] && ! grep -qFx "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
    rm -rf "build/$preset" # the project was moved; CMake refuses such a folder
  fi
  if [[ ! -f build/$preset/build.ninja ]] || { [[ $with_tests == ON ]] && ! grep -qx 'BATON_TESTS:BOOL=ON' "$cache"; }; then
    cmake --preset "$preset" -DBATON_TESTS="$with_tests"
  fi
  cmake --build "build/$preset" -j "$(nproc)" ${1:+--target "$@"}
}

# install_npm_packages FOLDER: installs the packages of tests/FOLDER if its lock file has changed since the last time.
install_npm_packages() {
  (
    cd "tests/$1"
    # React and CopilotKit are nine tenths of the browser's packages, and only cases of the ring "everything" use them.
    local stamp=node_modules/.baton-lock fewer=()
    if [[ ${BATON_RING:-} == whole ]]; then stamp+=-whole fewer=(--omit=optional); fi
    if cmp -s package-lock.json "$stamp" || cmp -s package-lock.json node_modules/.baton-lock; then exit 0; fi
    npm ci --silent --no-audit --no-fund --ignore-scripts "${fewer[@]}" ||
      die "The packages of tests/$1 could not be installed (npm ci)."
    cp package-lock.json "$stamp"
  )
}
