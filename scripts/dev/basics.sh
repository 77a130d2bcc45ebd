# shellcheck shell=bash
# Sourced by ./dev: how it speaks to people, and how it stops.

say() { printf '==> %s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }

# complain SENTENCE [LINE ...]: what is wrong, then what to do about it.
complain() {
  printf 'error: %s\n' "$1" >&2
  shift
  if (($# > 0)); then printf '%s\n' "$@" >&2; fi
}
die() {
  complain "$@"
  exit 1
}

# need_space FOLDER MB WHY: stops if the disk under FOLDER has less left.
need_space() {
  local free_mb
  free_mb=$(df -Pm "$1" | awk 'NR == 2 {print $4}')
  ((free_mb >= $2)) ||
    die "$1 has $free_mb MB left and $2 MB are wanted $3." "Free some space (./dev clean, apt-get clean), then try again."
}
