# shellcheck shell=bash
# build_kubernetes: builds the real Kubernetes of this folder's Go module, once; KUBERNETES is the binary. Without Go or
# network the test is skipped. MUSTER_GOPATH is where modules, Go's build cache and the binary are kept.
build_kubernetes() {
  local here
  here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
  PATH=$PATH:/usr/local/go/bin
  command -v go >/dev/null || { echo "skipped: no Go"; exit 77; }
  export GOFLAGS=-mod=readonly GOTOOLCHAIN=local
  export GOPATH=${MUSTER_GOPATH:-$here/../../build/kubernetes}
  mkdir -p "$GOPATH"
  GOPATH=$(cd "$GOPATH" && pwd)
  export GOCACHE=$GOPATH/cache
  export KUBERNETES=$GOPATH/kubernetes
  if ! (cd "$here" && go mod download) >"$GOPATH/download.log" 2>&1; then
    echo "skipped: the modules could not be fetched: $(tail -n 1 "$GOPATH/download.log")"
    exit 77
  fi
  (cd "$here" && nice go build -ldflags '-s -w' -o "$KUBERNETES" .) || exit 1
}
