#!/usr/bin/env bash
# client-go against a running server. Modules come from the Go module proxy once and stay in Go's cache.
. "$(dirname "$0")/lib.sh"

here=$(cd "$(dirname "$0")/go" && pwd)
PATH=$PATH:/usr/local/go/bin
command -v go >/dev/null || skip "no Go"
[ -n "${MUSTER_TEST_LONG:-}" ] || skip "compiling client-go takes minutes; ./dev test --long does it"
export GOFLAGS=-mod=readonly GOTOOLCHAIN=local
export GOPATH=${MUSTER_GOPATH:-$WORK/go}
export GOCACHE=$GOPATH/cache
(cd "$here" && timeout 200 go mod download >"$WORK/go.log" 2>&1) || skip "client-go could not be fetched"
(cd "$here" && timeout 400 go test -c -o "$WORK/client.test" . >"$WORK/go.log" 2>&1) || {
  cat "$WORK/go.log"
  pass_or_fail 1 "the test compiles" "see above"
  exit 1
}

start_muster --in-memory --nodes-per-rack 1
out=$("$WORK/client.test" -test.v -test.timeout 200s 2>&1)
for test in TestTypedClientsSpeakProtobuf TestServerSideApply TestInformersSeeEverythingOnce TestOneLeaderAtATime; do
  grep -q -- "--- PASS: $test" <<<"$out"
  pass_or_fail $? "$test" "$(grep -A12 -- "=== RUN   $test" <<<"$out")"
done
chmod -R u+w "$WORK" # modules are read-only
