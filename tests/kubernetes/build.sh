# shellcheck shell=bash
# build_kubernetes: builds the real Kubernetes of this folder's Go module, once; KUBERNETES is the binary. Without Go or
# network the test is skipped. KUBERNETES_VERSION chooses: 1.37 (go.mod, the default) or 1.36 (kubernetes-1.36.mod).
# MUSTER_GOPATH is where modules, Go's build cache and the binaries are kept.
build_kubernetes() {
  local here modules=go.mod
  here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
  export KUBERNETES_VERSION=${KUBERNETES_VERSION:-1.37}
  [ "$KUBERNETES_VERSION" = 1.37 ] || modules=kubernetes-$KUBERNETES_VERSION.mod
  [ -f "$here/$modules" ] || { echo "there is no Kubernetes $KUBERNETES_VERSION here: write 1.36 or 1.37"; exit 1; }
  PATH=$PATH:/usr/local/go/bin
  command -v go >/dev/null || { echo "skipped: no Go"; exit 77; }
  export GOFLAGS="-mod=readonly -modfile=$modules" GOTOOLCHAIN=local
  export GOPATH=${MUSTER_GOPATH:-$here/../../build/kubernetes}
  mkdir -p "$GOPATH"
  GOPATH=$(cd "$GOPATH" && pwd)
  export GOCACHE=$GOPATH/cache
  export KUBERNETES=$GOPATH/kubernetes-$KUBERNETES_VERSION
  if ! (cd "$here" && go mod download) >"$GOPATH/download.log" 2>&1; then
    echo "skipped: the modules could not be fetched: $(tail -n 1 "$GOPATH/download.log")"
    exit 77
  fi
  (cd "$here" && nice go build -ldflags '-s -w' -o "$KUBERNETES" .) || exit 1
}
