// What @kubernetes/client-node does with an API server: CRUD, patches, a watch, an informer.
import * as k8s from '@kubernetes/client-node';

const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const scheduling = config.makeApiClient(k8s.CustomObjectsApi);
const namespace = 'default';

function check(what, held, detail = '') {
  console.log(`${held ? 'ok' : 'FAILED'}: ${what}${held ? '' : ` (${detail})`}`);
  if (!held) process.exitCode = 1;
}
const configMap = (name, data) => ({metadata: {name, labels: {made: 'node'}}, data});
const until = async (held) => {
  for (let i = 0; i < 200 && !held(); ++i) await new Promise((done) => setTimeout(done, 50));
};

// An informer sees everything below happen.
const seen = [];
const list = () => core.listNamespacedConfigMap({namespace, labelSelector: 'made=node'});
const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list, 'made=node');
for (const verb of ['add', 'update', 'delete'])
  informer.on(verb, (object) => seen.push(`${verb} ${object.metadata.name} ${object.data?.a ?? ''}`));
informer.on('error', (error) => seen.push(`error ${error}`));
await informer.start();

const created = await core.createNamespacedConfigMap({namespace, body: configMap('first', {a: '1'})});
check('create', created.metadata.uid !== undefined);
const read = await core.readNamespacedConfigMap({name: 'first', namespace});
check('read', read.data.a === '1');
const replaced = await core.replaceNamespacedConfigMap({name: 'first', namespace, body: {...read, data: {a: '2'}}});
check('replace', replaced.metadata.resourceVersion !== read.metadata.resourceVersion);
const stale = await core.replaceNamespacedConfigMap({name: 'first', namespace, body: read}).catch((error) => error);
check('a stale replace is a conflict', stale.code === 409, JSON.stringify(stale));
const patched = await core.patchNamespacedConfigMap(
    {name: 'first', namespace, body: [{op: 'replace', path: '/data/a', value: '3'}]},
    k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.JsonPatch));
check('JSON patch', patched.data.a === '3');
const applied = await core.patchNamespacedConfigMap(
    {name: 'second', namespace, fieldManager: 'node', force: true,
     body: {apiVersion: 'v1', kind: 'ConfigMap', ...configMap('second', {a: '4'})}},
    k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.ServerSideApply));
check('server-side apply creates', applied.data.a === '4');
const listed = await list();
check('list by label', listed.items.length === 2);
const missing = await core.readNamespacedConfigMap({name: 'nobody', namespace}).catch((error) => error);
check('what is missing is 404', missing.code === 404);
const group = await scheduling.createNamespacedCustomObject({
  group: 'scheduling.k8s.io', version: 'v1beta1', namespace, plural: 'podgroups',
  body: {apiVersion: 'scheduling.k8s.io/v1beta1', kind: 'PodGroup', metadata: {name: 'gang'},
         spec: {schedulingPolicy: {gang: {minCount: 2}}}},
});
check('a PodGroup as a custom object', group.spec.schedulingPolicy.gang.minCount === 2);

// A bare watch, from a revision on.
const told = [];
const watch = new k8s.Watch(config);
const request = await watch.watch(`/api/v1/namespaces/${namespace}/configmaps`,
    {resourceVersion: listed.metadata.resourceVersion},
    (type, object) => told.push(`${type} ${object.metadata.name}`), () => {});
await core.deleteNamespacedConfigMap({name: 'first', namespace});
await until(() => told.length >= 1);
check('the watch tells the deletion', told[0] === 'DELETED first', told.join('; '));
request.abort();

await until(() => seen.length >= 5);
check('the informer saw all, in order',
    JSON.stringify(seen) === JSON.stringify(['add first 1', 'update first 2', 'update first 3', 'add second 4', 'delete first 3']),
    seen.join('; '));
await informer.stop();
await core.deleteNamespacedConfigMap({name: 'second', namespace});
process.exit();
