// What client-go does with an API server: typed clients that speak protobuf, shared informers that
// list by watching, leader election.
package conformance

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const patience = 30 * time.Second

func config(t *testing.T) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	config.QPS = -1
	return config
}

func client(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(config(t))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func namespace(t *testing.T, client *kubernetes.Clientset) string {
	t.Helper()
	made, err := client.CoreV1().Namespaces().Create(context.Background(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "go-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Name
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		SchedulerName: "nobody", // so that nobody else writes to it
		Containers: []corev1.Container{{
			Name: "main", Image: "image",
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
			Env: []corev1.EnvVar{{Name: "A", Value: "b"}},
		}},
	}
}

func TestTypedClientsSpeakProtobuf(t *testing.T) {
	ctx := context.Background()
	client := client(t)
	ns := namespace(t, client)

	pod, err := client.CoreV1().Pods(ns).Create(ctx,
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"app": "web"}}, Spec: podSpec()},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if cpu := pod.Spec.Containers[0].Resources.Requests.Cpu().String(); cpu != "100m" {
		t.Errorf("cpu is %s", cpu)
	}
	pod.Labels["tier"] = "front"
	if pod, err = client.CoreV1().Pods(ns).Update(ctx, pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	stale := pod.DeepCopy()
	stale.ResourceVersion = "1"
	if _, err = client.CoreV1().Pods(ns).Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("a stale update gives %v", err)
	}
	patch := []byte(`{"metadata":{"annotations":{"x":"y"}}}`)
	if _, err = client.CoreV1().Pods(ns).Patch(ctx, "web", types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Error(err)
	}
	if err = client.CoreV1().Pods(ns).Delete(ctx, "web", *metav1.NewDeleteOptions(0)); err != nil {
		t.Error(err)
	}
	if _, err = client.CoreV1().Pods(ns).Get(ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a deleted pod gives %v", err)
	}

	completions := int32(3)
	job, err := client.BatchV1().Jobs(ns).Create(ctx, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "job"},
		Spec:       batchv1.JobSpec{Completions: &completions, Template: corev1.PodTemplateSpec{Spec: podSpec()}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if *job.Spec.Completions != 3 || job.Spec.Selector == nil {
		t.Errorf("job is %+v", job.Spec)
	}
	if _, err = client.RbacV1().Roles(ns).Create(ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

func TestServerSideApply(t *testing.T) {
	ctx := context.Background()
	client := client(t)
	ns := namespace(t, client)
	mine := metav1.ApplyOptions{FieldManager: "one"}
	want := applycorev1.ConfigMap("settings", ns).WithData(map[string]string{"a": "1", "b": "2"})
	if _, err := client.CoreV1().ConfigMaps(ns).Apply(ctx, want, mine); err != nil {
		t.Fatal(err)
	}
	less := applycorev1.ConfigMap("settings", ns).WithData(map[string]string{"a": "1"})
	got, err := client.CoreV1().ConfigMaps(ns).Apply(ctx, less, mine)
	if err != nil || len(got.Data) != 1 {
		t.Errorf("after a smaller apply: %v, %v", got, err)
	}
	other := applycorev1.ConfigMap("settings", ns).WithData(map[string]string{"a": "x"})
	if _, err = client.CoreV1().ConfigMaps(ns).Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two"}); !apierrors.IsConflict(err) {
		t.Errorf("another manager gets %v", err)
	}
}

func TestInformersSeeEverythingOnce(t *testing.T) {
	client := client(t)
	ns := namespace(t, client)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	make := func(i int) {
		if _, err := client.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c%d", i)}}, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	}
	const before, after = 20, 30
	for i := 0; i < before; i++ {
		make(i)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(ns))
	informer := factory.Core().V1().ConfigMaps().Informer()
	var mutex sync.Mutex
	added := map[string]int{}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
		mutex.Lock()
		defer mutex.Unlock()
		added[object.(*corev1.ConfigMap).Name]++
	}}); err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("the informer does not sync")
	}
	for i := before; i < after; i++ {
		make(i)
	}
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		mutex.Lock()
		defer mutex.Unlock()
		count := 0
		for name, times := range added {
			if times != 1 {
				return false, fmt.Errorf("%s was added %d times", name, times)
			}
			if name[0] == 'c' {
				count++
			}
		}
		return count >= after, nil
	})
	if err != nil {
		t.Error(err, len(added))
	}
}

func TestOneLeaderAtATime(t *testing.T) {
	client := client(t)
	ns := namespace(t, client)
	lead := func(ctx context.Context, name string, leading chan<- string) {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: ns},
				Client:     client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name},
			},
			ReleaseOnCancel: true, LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leading <- name },
				OnStoppedLeading: func() {},
			},
		})
	}
	leading := make(chan string, 2)
	first, endFirst := context.WithCancel(context.Background())
	go lead(first, "first", leading)
	if who := <-leading; who != "first" {
		t.Fatal(who)
	}
	second, endSecond := context.WithCancel(context.Background())
	defer endSecond()
	go lead(second, "second", leading)
	select {
	case who := <-leading:
		t.Fatal(who, "leads beside the first")
	case <-time.After(time.Second):
	}
	endFirst()
	select {
	case who := <-leading:
		if who != "second" {
			t.Error(who)
		}
	case <-time.After(patience):
		t.Error("nobody follows")
	}
}
