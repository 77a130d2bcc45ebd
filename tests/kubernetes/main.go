// Command kubernetes is a real control plane in one binary, for tests: kube-apiserver above an etcd of its own,
// kube-controller-manager and kube-scheduler, as their projects wrote them.
package main

import (
	"fmt"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	if len(os.Args) < 2 {
		fail("usage: kubernetes etcd DIR CLIENT_URL PEER_URL | kube-apiserver FLAGS | kube-controller-manager FLAGS | kube-scheduler FLAGS")
	}
	verb := os.Args[1]
	os.Args = os.Args[1:]
	switch verb {
	case "etcd":
		if len(os.Args) != 4 {
			fail("usage: kubernetes etcd DIR CLIENT_URL PEER_URL")
		}
		runEtcd(os.Args[1], os.Args[2], os.Args[3])
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(manager.NewControllerManagerCommand()))
	case "kube-scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	default:
		fail("unknown verb " + verb)
	}
}

// Serves until it is killed. Nothing of a test outlives it, so a sync to disk per write would only cost time.
func runEtcd(dir, client, peer string) {
	config := embed.NewConfig()
	config.Dir = dir
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	config.ListenClientUrls = urls(client)
	config.AdvertiseClientUrls = config.ListenClientUrls
	config.ListenPeerUrls = urls(peer)
	config.AdvertisePeerUrls = config.ListenPeerUrls
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		fail(err.Error())
	}
	select {
	case <-etcd.Server.ReadyNotify():
	case <-time.After(time.Minute):
		fail("etcd was not ready within a minute")
	}
	fail((<-etcd.Err()).Error())
}

func urls(text string) []url.URL {
	parsed, err := url.Parse(text)
	if err != nil {
		fail(err.Error())
	}
	return []url.URL{*parsed}
}

func fail(why string) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(1)
}
