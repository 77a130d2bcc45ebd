#!/usr/bin/env bash
# How ./dev mutate reads and applies its texts, tried on a small tree; then: does every mutation of ours still apply?
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=scripts/dev/basics.sh
. "$ROOT/scripts/dev/basics.sh"
# shellcheck source=scripts/dev/mutate.sh
. "$ROOT/scripts/dev/mutate.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p src tests/mutations tests/scenarios

failed=0
# expect WHAT WANT GOT
expect() {
  [[ $2 == "$3" ]] && return
  printf 'FAILED: %s\n  want: %s\n  got:  %s\n' "$1" "$2" "$3"
  failed=1
}
# apply TEXT: what ./dev mutate makes of src/a.cc by the mutation "m" of this text, or what it complains of.
apply() (
  shopt -s extglob
  printf '%s\n' "$1" >tests/mutations/m.txt
  { read_mutations && mutated m src/a.cc; } 2>&1
)
# check TEXT: what ./dev mutate --check finds wrong with it.
check() (
  shopt -s extglob
  printf '%s\n' "$1" >tests/mutations/m.txt
  { read_mutations && check_mutations m; } 2>&1
)
# says SENTENCE GOT: whether GOT is that complaint.
says() { expect "a complaint" "error: $1" "$2"; }

printf '  if (a < b) {\n    one();\n    two();\n  }\n  one();\n' >src/a.cc
printf '\nTEST_F(Suite, Name) {\n' >src/a_test.cc
printf 'muster_module(a SOURCES a.cc)\n' >src/CMakeLists.txt
head='mutation m
  why  For the test.
  file src/a.cc
  test a_test Suite.Name'

expect "a line is replaced, whatever its indentation" \
  $'  if (a < b) {\n    one();\nthree();\n  }\n  one();' "$(apply "$head
  - two();
  + three();")"
expect "a line is dropped, and context stays" \
  $'  if (a < b) {\none();\n  }\n  one();' "$(apply "$head
  | one();
  - two();")"
says "m: its old lines stand more than once in src/a.cc" "$(apply "$head
  - one();
  + two();" || true)"
says "m: its old lines are not in src/a.cc" "$(apply "$head
  - four();
  + two();" || true)"
says "tests/mutations/m.txt: m lacks a file, a why, a test or its lines" "$(apply "$head" || true)"
says "tests/mutations/m.txt:5: cannot read 'wy  Misspelt.'" "$(apply "$head
wy  Misspelt.
  - two();" | head -1)"

expect "nothing is wrong" '' "$(check "$head
  - two();")"
says "m: there is no test Suite.Other" "$(check "${head/Name/Other}
  - two();" || true)"
says "m: there is no program b_test" "$(check "${head/a_test/b_test}
  - two();" || true)"

cd "$ROOT"
./dev mutate --check || failed=1
exit "$failed"
