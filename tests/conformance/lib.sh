# Shared by the conformance tests: starts a Muster on a free port, drives it, compares.
# Needs MUSTER (the binary) in the environment; KUBECTL names the kubectl to use (default: kubectl).
set -uo pipefail

KUBECTL=${KUBECTL:-kubectl}
WORK=$(mktemp -d "${TMPDIR:-/tmp}/muster-conformance.XXXXXX")
export HOME=$WORK/home KUBECONFIG=$WORK/kubeconfig # kubectl's caches and config stay in the work folder
mkdir -p "$HOME"
MUSTER_PID=
checks=0
failures=0

skip() {
  echo "skipped: $1"
  exit 77
}

command -v "$KUBECTL" >/dev/null || skip "no kubectl on PATH"

# start_muster [flags…]: runs `muster up` in the background and waits until it has said where it serves.
start_muster() {
  : >"$WORK/muster.out"
  "$MUSTER" up --listen 127.0.0.1:0 --write-kubeconfig "$KUBECONFIG" "$@" >"$WORK/muster.out" 2>"$WORK/muster.err" &
  MUSTER_PID=$!
  for _ in $(seq 300); do
    grep -q '^Muster .* serves on' "$WORK/muster.out" && return 0
    kill -0 "$MUSTER_PID" 2>/dev/null || break
    sleep 0.1
  done
  echo "muster up did not start:"
  cat "$WORK/muster.out" "$WORK/muster.err"
  exit 1
}

stop_muster() { # [signal]
  [ -n "$MUSTER_PID" ] || return 0
  kill "${1:--TERM}" "$MUSTER_PID" 2>/dev/null
  wait "$MUSTER_PID"
  local code=$?
  MUSTER_PID=
  return $code
}

finish() {
  local code=$?
  stop_muster -TERM >/dev/null 2>&1
  if [ $code -eq 0 ] && [ "$failures" -eq 0 ]; then
    rm -rf "$WORK"
    echo "$checks checks passed"
    exit 0
  fi
  [ $code -eq 77 ] && { rm -rf "$WORK"; exit 77; }
  echo "--- standard error of muster"
  tail -n 40 "$WORK/muster.err" 2>/dev/null
  echo "$failures of $checks checks failed"
  rm -rf "$WORK"
  exit 1
}
trap finish EXIT

k() { timeout 60 "$KUBECTL" "$@" 2>&1; }

pass_or_fail() { # ok? what detail
  checks=$((checks + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok: $2"
  else
    failures=$((failures + 1))
    echo "FAILED: $2"
    printf '%s\n' "$3" | sed 's/^/    /'
  fi
}

# expect WHAT TEXT COMMAND…: the command's output contains TEXT.
expect() {
  local what=$1 text=$2
  shift 2
  local out
  out=$("$@" 2>&1)
  case $out in
    *"$text"*) pass_or_fail 0 "$what" "" ;;
    *) pass_or_fail 1 "$what" "expected: $text"$'\n'"got:      $out" ;;
  esac
}

# expect_not WHAT TEXT COMMAND…: the command's output does not contain TEXT.
expect_not() {
  local what=$1 text=$2
  shift 2
  local out
  out=$("$@" 2>&1)
  case $out in
    *"$text"*) pass_or_fail 1 "$what" "did not expect: $text"$'\n'"got: $out" ;;
    *) pass_or_fail 0 "$what" "" ;;
  esac
}

# eventually WHAT TEXT COMMAND…: within 30 seconds the output contains TEXT.
eventually() {
  local what=$1 text=$2
  shift 2
  local out=""
  for _ in $(seq 150); do
    out=$("$@" 2>&1)
    case $out in *"$text"*)
      pass_or_fail 0 "$what" ""
      return
      ;;
    esac
    sleep 0.2
  done
  pass_or_fail 1 "$what" "expected within 30 s: $text"$'\n'"got: $out"
}
