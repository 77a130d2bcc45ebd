#!/usr/bin/env python3
"""Sends the same requests to a real kube-apiserver and to Muster, and prints where their answers differ.

    parity.py --real KUBECONFIG.json --muster KUBECONFIG.json [--only REGEX] [--show]
    parity.py --muster KUBECONFIG.json --show        # one side alone: prints its answers
    parity.py --list                                 # only the names of the cases

Kubeconfigs are JSON, as `kubectl config view --raw -o json` writes them. Cases are Python literals in cases/*.lit, bases.lit has
the objects that they vary, allowed.lit the differences that are intended. cases/00_how_to.lit says how they are written.
"""
import argparse
import ast
import base64
import copy
import datetime
import http.client
import json
import os
import re
import ssl
import sys
import tempfile
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEDULING = "/apis/scheduling.k8s.io/"
RESOURCES = {  # name: (group and version, whether it is in a namespace)
    "podgroups": (SCHEDULING + "v1beta1", True),
    "workloads": (SCHEDULING + "v1beta1", True),
    "compositepodgroups": (SCHEDULING + "v1alpha3", True),
    "priorityclasses": (SCHEDULING + "v1", False),
    "jobs": ("/apis/batch/v1", True),
    "cronjobs": ("/apis/batch/v1", True),
    "leases": ("/apis/coordination.k8s.io/v1", True),
    "poddisruptionbudgets": ("/apis/policy/v1", True),
    "newevents": ("/apis/events.k8s.io/v1", True),
    "deployments": ("/apis/apps/v1", True),
    "replicasets": ("/apis/apps/v1", True),
    "statefulsets": ("/apis/apps/v1", True),
    "resourceclaims": ("/apis/resource.k8s.io/v1", True),
    "nodes": ("/api/v1", False),
    "namespaces": ("/api/v1", False),
}
VERBS = {"JSON": ("PATCH", "application/json-patch+json"), "MERGE": ("PATCH", "application/merge-patch+json"),
         "STRATEGIC": ("PATCH", "application/strategic-merge-patch+json"), "APPLY": ("PATCH", "application/apply-patch+yaml")}
KINDS = {"policies": "Policy", "classes": "Class", "statuses": "Status"}
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


class Server:
    """One side: a connection, and what was learnt from its answers (uids, resource versions, tokens)."""

    def __init__(self, name, kubeconfig):
        self.name = name
        config = json.load(open(kubeconfig))
        context = next(c["context"] for c in config["contexts"] if c["name"] == config["current-context"])
        cluster = next(c["cluster"] for c in config["clusters"] if c["name"] == context["cluster"])
        user = next(u["user"] for u in config["users"] if u["name"] == context["user"])
        self.host = urllib.parse.urlparse(cluster["server"]).netloc
        self.tls = ssl.create_default_context()
        self.tls.check_hostname = False
        self.tls.verify_mode = ssl.CERT_NONE
        self.token = user.get("token")
        if not self.token:
            with tempfile.NamedTemporaryFile() as pem:
                for part in ("client-certificate", "client-key"):
                    data = user.get(part + "-data")
                    pem.write(base64.b64decode(data) if data else open(user[part], "rb").read())
                    pem.write(b"\n")
                pem.flush()
                self.tls.load_cert_chain(pem.name)
        self.connection = None
        self.known = {}

    def send(self, verb, path, body, headers):
        headers = {"User-Agent": "parity/1.0", "Accept": "application/json", **headers}
        if self.token:
            headers.setdefault("Authorization", "Bearer " + self.token)
        headers = {k: v for k, v in headers.items() if v is not None}
        for attempt in (1, 2):
            if self.connection is None:
                self.connection = http.client.HTTPSConnection(self.host, context=self.tls, timeout=30)
            try:
                self.connection.request(verb, path, body=body, headers=headers)
                response = self.connection.getresponse()
                data = response.read()
                return response.status, response.headers, data
            except (http.client.HTTPException, OSError) as error:
                self.connection.close()
                self.connection = None
                if attempt == 2 or isinstance(error, TimeoutError):
                    return 0, http.client.HTTPMessage(), repr(error).encode()


# ---------------------------------------------------------------- cases

def load(name):
    with open(os.path.join(HERE, name)) as file:
        return ast.literal_eval(file.read())


def set_path(value, path, new):
    parts = path.split(".")
    for at, part in enumerate(parts):
        last = at == len(parts) - 1
        if isinstance(value, list):
            part = int(part)
            while part >= len(value):
                value.append({})
        if last:
            if new is ...:
                value.pop(part) if isinstance(value, list) else value.pop(part, None)
            else:
                value[part] = new
        else:
            if isinstance(value, dict) and not isinstance(value.get(part), (dict, list)):
                value[part] = {}
            value = value[part]


def expand(value):
    """{"$list": [9, X]} is a list of nine X with # replaced by the index; "{a*9}" in a text is nine times a."""
    if isinstance(value, str):
        return re.sub(r"\{(.)\*(\d+)\}", lambda m: m[1] * int(m[2]), value)
    if isinstance(value, (list, tuple)):
        return [expand(v) for v in value]
    if isinstance(value, dict):
        if "$list" in value:
            count, item = value["$list"]
            return [json.loads(json.dumps(expand(item)).replace("#", str(i))) for i in range(count)]
        return {expand(k): expand(v) for k, v in value.items()}
    return value


BASES = {}


def make_body(spec, url):
    """A literal; or (base, {path: value, ...}): a copy of the base with its parts set, or dropped where the value is ... ."""
    if not isinstance(spec, tuple):
        return expand(spec)
    base, changes = spec
    body = copy.deepcopy(BASES[base])
    match = re.match(r"/apis/([^/]*/[^/]*)/", url)
    body = {"apiVersion": match[1] if match else "v1", **body}
    for path, value in changes.items():
        set_path(body, path, value)
    return expand(body)


def resolve(path, namespace):
    if path.startswith("/"):
        return path.replace("{ns}", namespace)
    path, _, query = path.partition("?")
    resource, slash, rest = path.partition("/")
    resource, _, version = resource.partition("@")
    root, namespaced = RESOURCES.get(resource, ("/api/v1", True))
    if version == "all":
        namespaced = False
    elif version:
        root = root.rsplit("/", 1)[0] + "/" + version
    resource = "events" if resource == "newevents" else resource
    return (root + (f"/namespaces/{namespace}/" if namespaced else "/") + resource + slash + rest.replace("{ns}", namespace) +
            ("?" + query if query else ""))


def quote_query(url):
    path, mark, query = url.partition("?")
    if not mark:
        return path
    pairs = [p.partition("=") for p in query.split("&")]
    return path + "?" + "&".join(k + e + urllib.parse.quote(v, safe="%,:") for k, e, v in pairs)


def all_cases(folder):
    """(theme, name, steps) of all files. An entry is a tuple (name, step, ...) or a table (see cases/00_how_to.lit)."""
    for file in sorted(os.listdir(os.path.join(HERE, folder))):
        if not file.endswith(".lit"):
            continue
        theme = re.sub(r"^\d+_", "", file[:-4])
        for entry in load(f"{folder}/{file}"):
            if isinstance(entry, tuple):
                yield theme, f"{theme}: {entry[0]}", list(entry[1:])
                continue
            for each in entry["each"] if isinstance(entry["each"], list) else [entry["each"]]:
                for name, body in entry["cases"].items():
                    if entry.get("base"):
                        body = (entry["base"], body)
                    word = each + " " if isinstance(entry["each"], list) else ""
                    title = " ".join(f"{entry.get('about', '')} {word}{name}".split())
                    yield (theme, f"{theme}: {title}", list(entry.get("before", ())) + [(each, body, entry.get("options", {}))] +
                           list(entry.get("after", ())))


# ---------------------------------------------------------------- one request

def remember(server, body):
    if not isinstance(body, dict) or not isinstance(body.get("metadata"), dict):
        return
    meta = body["metadata"]
    for short, key in (("uid", "uid"), ("rv", "resourceVersion")):
        if meta.get(key):
            server.known[f"{short} {meta.get('name', 'list')}"] = meta[key]
    if meta.get("continue"):
        server.known["continue"] = meta["continue"]
    if meta.get("generateName"):
        server.known["generated"] = meta["name"]


def known_parts(server, value, namespace):
    if isinstance(value, str):
        value = value.replace("{ns}", namespace)
        return re.sub(r"<((?:uid|rv) [^>]+|continue|generated)>", lambda m: server.known.get(m[1], m[0]), value)
    if isinstance(value, list):
        return [known_parts(server, v, namespace) for v in value]
    if isinstance(value, dict):
        return {known_parts(server, k, namespace): known_parts(server, v, namespace) for k, v in value.items()}
    return value


def ask(server, step, namespace):
    """Sends a step; the answer as it is compared: {"code", "warnings", "body", ...}."""
    if isinstance(step, str):
        step = (step,)
    verb, _, path = step[0].partition(" ")
    body = step[1] if len(step) > 1 else None
    options = step[2] if len(step) > 2 else {}
    if verb == "WAIT":
        time.sleep(float(path))
        return None
    url = resolve(path, namespace)
    headers = dict(options.get("headers", {}))
    if verb == "TABLE":
        verb = "GET"
        headers["Accept"] = TABLE
    if verb in VERBS:
        verb, headers["Content-Type"] = VERBS[verb]
    data = None
    if body is not None:
        body = known_parts(server, make_body(body, url), namespace)
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        headers.setdefault("Content-Type", "application/json")
    if options.get("content-type"):
        headers["Content-Type"] = options["content-type"]
    url = quote_query(known_parts(server, expand(url), namespace))
    code, answer_headers, data = server.send(verb, url, data, headers)
    text = data.decode("utf-8", "replace")
    kind = (answer_headers.get("Content-Type") or "").split(";")[0]
    if "watch=" in url and code == 200:
        parsed = [json.loads(line) for line in text.splitlines() if line.strip()]
    else:
        try:
            parsed = json.loads(text)
            remember(server, parsed)
        except ValueError:
            parsed = text
    if options.get("pick"):  # [list, name]: of a list only what has this name
        where, wanted = options["pick"]
        parsed = [i for i in parsed.get(where, []) if (i.get("metadata") or i).get("name") == wanted] if isinstance(parsed, dict) else parsed
    warnings = []
    for line in answer_headers.get_all("Warning") or []:
        warnings += re.findall(r'299 \S+ "((?:[^"\\]|\\.)*)"', line)
    answer = {"code": code, "warnings": sorted(warnings), "body": parsed, "content-type": kind}
    for header in ("Retry-After", "Allow"):
        if answer_headers.get(header):
            answer[header.lower()] = answer_headers[header]
    return {"request": f"{verb} {url}", "sent": body, "answer": answer, "ignore": options.get("ignore", [])}


# ---------------------------------------------------------------- what is compared

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
NOW = datetime.datetime.now(datetime.timezone.utc)


def plain_text(text):
    def when(match):
        moment = datetime.datetime.fromisoformat(match[0][:19] + "+00:00")
        return "<now>" if abs((moment - NOW).total_seconds()) < 86400 else match[0]
    text = TIME.sub(when, UID.sub("<uid>", text))
    text = re.sub(r"kube-api-access-[a-z0-9]{5}", "kube-api-access-<generated>", text)
    return re.sub(r"ResourceVersion: \d+|resource version: \d+( \(\d+\))?|, current: \d+|at the \d+", "<rv>", text)


def plain(value, key="", parent=None):
    """An answer without what differs between any two servers."""
    if isinstance(value, dict):
        generated = value.get("generateName") if key == "metadata" else None
        out = {}
        for k, v in value.items():
            if generated and k == "name" and isinstance(v, str) and v.startswith(generated):
                v = generated + "<generated>"
            if k in ("resourceVersion", "continue") and isinstance(v, str) and v:
                v = "<set>"
            elif k == "uid" and isinstance(v, str) and UID.fullmatch(v):
                v = "<set>"
            elif k == "selfLink":
                continue
            else:
                v = plain(v, k, value)
            out[k] = v
        if key == "managedFields":
            out.pop("time", None)
        return out
    if isinstance(value, list):
        if key == "cells":
            value = ["<age>" if isinstance(v, str) and re.fullmatch(r"\d+s", v) else v for v in value]
        items = [plain(v, key, parent) for v in value]
        if key == "managedFields":
            items.sort(key=lambda i: json.dumps(i, sort_keys=True))
        return items
    if isinstance(value, str):
        return plain_text(value)
    return value


def words(message):
    """The parts of a message in any order: servers list errors in different orders."""
    return sorted(re.split(r", |\[|\]", message)) if isinstance(message, str) else message


def is_status(body):
    return isinstance(body, dict) and body.get("kind") == "Status"


def differences(real, muster, path=""):
    """(path, real, muster) for each place where they differ."""
    if real == muster:
        return []
    if isinstance(real, dict) and isinstance(muster, dict):
        found = []
        for key in sorted(set(real) | set(muster), key=str):
            here = f"{path}.{key}" if path else str(key)
            if key not in real:
                found.append((here, "<absent>", muster[key]))
            elif key not in muster:
                found.append((here, real[key], "<absent>"))
            else:
                found += differences(real[key], muster[key], here)
        return found
    if isinstance(real, list) and isinstance(muster, list) and len(real) == len(muster):
        found = []
        for at, (r, m) in enumerate(zip(real, muster)):
            found += differences(r, m, f"{path}[{at}]")
        return found
    return [(path, real, muster)]


def compare(real, muster, allowed):
    r, m = copy.deepcopy(real), copy.deepcopy(muster)
    ignored_warnings, rewrites = [w for w, _ in allowed["warnings"]], allowed["rewrites"]
    for answer in (r, m):
        answer["warnings"] = [plain_text(w) for w in answer["warnings"]]
    r["warnings"] = [w for w in r["warnings"] if not any(re.search(i, w) for i, _ in allowed["real warnings"])]
    for pattern, text, _ in rewrites:
        m["warnings"] = [re.sub(pattern, text, w) for w in m["warnings"]]
    m["warnings"] = [w for w in m["warnings"] if w in r["warnings"] or not any(re.search(i, w) for i in ignored_warnings)]
    r["body"], m["body"] = plain(r["body"]), plain(m["body"])
    for answer in (r, m):
        body = answer["body"]
        if is_status(body):
            body.pop("metadata", None)
            causes = (body.get("details") or {}).get("causes")
            if causes:
                causes.sort(key=lambda c: json.dumps(c, sort_keys=True))
                only = {json.dumps(c, sort_keys=True): c for c in causes}
                body["details"]["causes"] = list(only.values())
    if is_status(r["body"]) and is_status(m["body"]) and words(r["body"].get("message")) == words(m["body"].get("message")):
        m["body"]["message"] = r["body"].get("message")
    return differences(r, m)


def short(value, limit=900):
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return text if len(text) <= limit else text[:limit] + f"... ({len(text)} characters)"


# ---------------------------------------------------------------- all of it

SETTLE = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}, "automountServiceAccountToken": False}


def prepare(server, namespace):
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    headers = {"Content-Type": "application/json"}
    server.send("POST", "/api/v1/namespaces", json.dumps(body).encode(), headers)
    accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    code, _, _ = server.send("POST", accounts, json.dumps(SETTLE).encode(), headers)
    if code == 409:
        patch = json.dumps({"automountServiceAccountToken": False}).encode()
        server.send("PATCH", accounts + "/default", patch, {"Content-Type": "application/merge-patch+json"})
    server.known = {}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--real")
    arguments.add_argument("--muster")
    arguments.add_argument("--cases", default="cases", help="the folder of the cases")
    arguments.add_argument("--only", default="", help="only cases whose names match")
    arguments.add_argument("--show", action="store_true", help="print all answers")
    arguments.add_argument("--all", action="store_true", help="print allowed differences too")
    arguments.add_argument("--list", action="store_true", help="print the names of the cases")
    arguments.add_argument("--json", help="write all differences to this file")
    flags = arguments.parse_args()
    BASES.update(load("bases.lit"))
    allowed = load("allowed.lit")
    for entry in allowed["differences"]:
        entry["used"] = 0
    cases = [c for c in all_cases(flags.cases) if re.search(flags.only, c[1])]
    names = [c[1] for c in cases]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        sys.exit("cases of one name: " + ", ".join(twice))
    if flags.list:
        print("\n".join(names))
        return
    sides = [Server(n, f) for n, f in (("real", flags.real), ("muster", flags.muster)) if f]
    agree = differ = by_allowance = 0
    everything = []
    for at, (_, name, steps) in enumerate(cases):
        namespace = f"case-{os.getpid() % 1000}-{at + 1}"
        for server in sides:
            prepare(server, namespace)
        found, passed = [], []
        for number, step in enumerate(steps):
            answers = [ask(server, step, namespace) for server in sides]
            if answers[0] is None:
                continue
            if flags.show:
                print(f"=== {name}, step {number + 1}: {answers[0]['request']}\n    sent {short(answers[0]['sent'], 400)}")
                for server, answer in zip(sides, answers):
                    print(f"  {server.name}: {json.dumps(answer['answer'])[:3000]}")
            if len(sides) < 2:
                continue
            for where, real, muster in compare(answers[0]["answer"], answers[1]["answer"], allowed):
                if any(re.search(i, where) for i in answers[0]["ignore"]):
                    continue
                record = {"case": name, "step": number + 1, "request": answers[0]["request"].replace(namespace, "NS"),
                          "sent": answers[0]["sent"], "where": where, "real": real, "muster": muster}
                why = None
                for entry in allowed["differences"]:
                    if (re.search(entry["case"], name) and re.search(entry.get("where", ""), where) and
                            re.search(entry.get("real", ""), short(real, 99999)) and
                            re.search(entry.get("muster", ""), short(muster, 99999))):
                        entry["used"] += 1
                        why = entry["reason"]
                        break
                (passed if why else found).append({**record, "allowed": why})
        everything += found + passed
        differ += bool(found)
        by_allowance += bool(passed and not found)
        agree += not found and not passed
        last = None
        for record in found + (passed if flags.all else []):
            if last is None:
                print(f"\nDIFFERS: {name}")
            if last != record["step"]:
                print(f"  step {record['step']}: {record['request']}")
                if record["sent"] is not None:
                    print(f"    sent: {short(record['sent'], 600)}")
            last = record["step"]
            print(f"    {record['where']}{' (allowed: ' + record['allowed'] + ')' if record['allowed'] else ''}")
            print(f"      real:   {short(record['real'])}\n      muster: {short(record['muster'])}")
        sys.stdout.flush()
    if len(sides) < 2:
        return
    if flags.json:
        json.dump(everything, open(flags.json, "w"), indent=1)
    if not flags.only and flags.cases == "cases":
        for entry in allowed["differences"]:
            if not entry["used"]:
                print(f"\nallowed.lit: nothing differs so any more: {entry['case']} {entry.get('where', '')}")
    print(f"\n{len(cases)} cases: {agree} agree, {by_allowance} differ as intended, {differ} differ")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
