#!/usr/bin/env bash
# Stands in for the compiler in the `tidy` build. clang-tidy has parsed the file already and reports whatever clang
# warns of, so compiling it would find nothing more, in as much time again. This writes what the file depends on, so that
# ninja knows when to look at it again, and an empty object.
set -euo pipefail

object=
command=()
while (($# > 0)); do
  case $1 in
    -o)
      object=$2
      shift
      ;;
    -c) ;;
    -MD) command+=(-M) ;;
    *) command+=("$1") ;;
  esac
  shift
done
"${command[@]}"
: >"$object"
