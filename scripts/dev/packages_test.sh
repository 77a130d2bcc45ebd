#!/usr/bin/env bash
# Tests how ./dev finds and installs packages, on a pretend machine: dpkg-query, apt-get, id, sudo and
# df are small scripts that read and write files in a temporary folder. Nothing real is touched.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
failed=0

# A machine where everything works: root, lists at hand, no lock, much space, nothing installed.
new_machine() {
  M="$SCRATCH/$1"
  mkdir -p "$M/bin" "$M/lists"
  touch "$M/installed" "$M/calls" "$M/lists/mirror_Packages"
  fake id 'echo 0'
  fake sudo 'exit 1'
  fake df 'echo header; echo "disk 9 9 50000 9% /"'
  fake dpkg-query 'for p in "$@"; do if grep -qx "$p" "$M/installed"; then echo "$p installed"; fi; done'
  fake apt-get '
    echo "apt-get $*" >>"$M/calls"
    [[ -e "$M/policy-rc.d" ]] && echo "daemons forbidden" >>"$M/calls"
    if [[ -s $M/locked ]]; then sed -i 1d "$M/locked"; echo "E: Could not get lock /var/lib/dpkg/lock-frontend"; exit 100; fi
    if [[ " $* " == *" update "* ]]; then rm -f "$M/stale"; exit 0; fi
    if [[ -e $M/stale ]]; then echo "E: Unable to locate package cmake"; exit 100; fi
    if [[ -e $M/broken ]]; then cat "$M/broken"; exit 100; fi
    for p in "$@"; do echo "$p" >>"$M/installed"; done'
}
fake() {
  printf '#!/bin/bash\n%s\n' "$2" >"$M/bin/$1"
  chmod +x "$M/bin/$1"
}

# Runs ensure_packages on the pretend machine; leaves its words in $M/said and its exit in $status.
ensure() {
  status=0
  env M="$M" ROOT="$ROOT" PATH="$M/bin:/usr/bin:/bin" APT_LISTS="$M/lists" POLICY="$M/policy-rc.d" \
    LOCK_PATIENCE_S="${patience:-5}" LOCK_RETRY_S=0 \
    bash -euc '. "$ROOT/scripts/dev/basics.sh"; . "$ROOT/scripts/dev/packages.sh"; ensure_packages "$@"' _ "$@" \
    </dev/null >"$M/said" 2>&1 || status=$?
}

# Checks with a name; a failed one shows what was said.
expect() {
  local name=$1
  shift
  if "$@"; then return; fi
  echo "FAILED: ${M##*/}: $name: $*"
  sed 's/^/  said: /' "$M/said"
  sed 's/^/  call: /' "$M/calls"
  failed=1
}
said() { grep -qF -- "$1" "$M/said"; }
called() { grep -qF -- "$1" "$M/calls"; }
never_called() { ! called "$1"; }
updates() { [[ $(grep -c ' update' "$M/calls") == "$1" ]]; }
silent() { [[ ! -s $M/said ]]; }
no_apt() { [[ ! -s $M/calls ]]; }
ended() { [[ $status == "$1" ]]; }
policy_gone() { [[ ! -e $M/policy-rc.d ]]; }

new_machine nothing_missing
awk '!/^#/ && NF {print $2}' "$ROOT/scripts/dev/packages.txt" >"$M/installed"
ensure build test bench
expect "ends well" ended 0
expect "without a word" silent
expect "without apt" no_apt

new_machine bare
ensure build
expect "ends well" ended 0
expect "says what it does" said "Installing Debian packages: build-essential cmake"
expect "installs lean" called "--no-install-recommends"
expect "removes nothing" called "--no-remove"
expect "only its tier" never_called libgtest
expect "no lists fetched" updates 0
expect "starts no daemon" called "daemons forbidden"
expect "tidies up" policy_gone

new_machine kubectl_here
fake kubectl 'exit 0'
ensure test
expect "ends well" ended 0
expect "leaves kubectl alone" never_called kubernetes-client

new_machine neither_root_nor_sudo
fake id 'echo 1000'
ensure build
expect "stops" ended 2
expect "says why" said "installing them needs root"
expect "gives the line" said "apt-get install -y --no-install-recommends build-essential cmake"
expect "without apt" no_apt

new_machine sudo_helps
fake id 'echo 1000'
fake sudo 'if [[ $1 == -n ]]; then exit 0; fi; exec "$@"'
ensure build
expect "ends well" ended 0

new_machine no_lists
rm "$M/lists/mirror_Packages"
ensure build
expect "ends well" ended 0
expect "fetches lists once" updates 1

new_machine stale_lists
touch "$M/stale"
ensure build
expect "ends well" ended 0
expect "fetches lists once" updates 1

new_machine unknown_package
echo "E: Unable to locate package cmake" >"$M/broken"
ensure build
expect "stops" ended 2
expect "fetches lists once" updates 1
expect "says so" said "apt-get could not install the packages"
expect "tidies up" policy_gone

new_machine locked_for_a_while
printf '1\n2\n3\n' >"$M/locked"
ensure build
expect "ends well" ended 0
expect "says it waits" said "Another apt or dpkg is at work; waiting"

new_machine locked_for_ever
yes | head -n 100000 >"$M/locked" || true
patience=1 ensure build
expect "stops" ended 2
expect "says why" said "still holds its lock after 1 s"
expect "tidies up" policy_gone

new_machine interrupted_before
echo "E: dpkg was interrupted, you must manually run 'dpkg --configure -a'" >"$M/broken"
ensure build
expect "gives the remedy" said "Run 'dpkg --configure -a' as root"

new_machine conflicting
echo "E: Packages need to be removed but remove is disabled." >"$M/broken"
ensure build
expect "gives the remedy" said "--simulate build-essential"

new_machine owners_policy
echo "exit 0" >"$M/policy-rc.d"
ensure build
expect "is left alone" grep -qx "exit 0" "$M/policy-rc.d"

new_machine left_over_policy
echo "# Written by Muster's ./dev while it installs packages; safe to delete." >"$M/policy-rc.d"
ensure build
expect "is removed" policy_gone

new_machine old_boost
echo "libboost1.74-dev" >"$M/installed"
ensure build
expect "stops" ended 2
expect "says why" said "Debian allows only one"
expect "gives the line" said "apt-get install --no-install-recommends libboost1.81-dev libboost-json1.81-dev"
expect "without apt" no_apt

new_machine little_space
fake df 'echo header; echo "disk 9 9 120 9% /"'
ensure build
expect "stops" ended 1
expect "says how much" said "/usr has 120 MB left and 2000 MB are wanted to install packages."
expect "without apt" no_apt

((failed == 0)) && echo "all machines behaved"
exit "$failed"
