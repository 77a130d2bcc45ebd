#!/usr/bin/env python3
"""Puts every small fault there is into the files of a room, one at a time, and says which of them no test notices.

    small_faults.py [try] ROOM [--most N] [--seed S] [--file TEXT]
                                      try N of the faults of a room (src/scheduler/queue), chosen by the seed (0: all), in
                                      files whose name has TEXT; prepares the room where its files have changed
    small_faults.py retry ROOM [--tests FILTER] [--file TEXT]
                                      build the tests as they are now, and try what was not noticed with those of FILTER
    small_faults.py show ROOM         what was tried and not noticed
    small_faults.py prepare ROOM      rewrite its files, build its tests, see which faults each test comes by

`./dev mutate --every` calls it. Faults are found and put in by a plugin of clang (small_faults.cc): all of a file's at
once, each behind a number, so that thousands cost one build. A fault is tried with those tests of the room that come by
its place. Some change nothing that anybody can see; which those are is for a reader to say.
"""

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import random
import re
import resource
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build/faults"
PLAIN = WORK / "plain"  # configured, to know how each file is compiled
TREE = WORK / "tree"  # a copy of the checkout, with the files of the rooms rewritten
BUILT = TREE / "build/mutate"
PLUGIN = WORK / "small_faults.so"
FILES = WORK / "files.json"  # by rewritten file: its first number, the lines that are left alone, a digest of its text
VERBS = ["try", "retry", "show", "prepare"]
MEMORY = 4 << 30  # likewise
STRIDE = 2048  # numbers kept for one file
SECONDS = 60  # of processor: tests that take longer with a fault hang, and have noticed
JOBS = int(os.environ.get("MUSTER_JOBS", os.cpu_count() or 1))


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **more)


def must(command, what, **more):
    done = run(command, **more)
    if done.returncode != 0:
        sys.exit(f"{what} failed:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(value))
    draft.rename(path)


def load_files():
    return json.loads(FILES.read_text()) if FILES.exists() else {}


def room_path(room):
    return WORK / "rooms" / (room.replace("/", "-") + ".json")


def load(room):
    """What is known of a room: its program, faults, which tests reach each, what became of those that were tried."""
    if not room_path(room).exists():
        sys.exit(f"{room} has not been tried. Try: ./dev mutate --every {room} --most 50")
    return json.loads(room_path(room).read_text())


@contextlib.contextmanager
def building():
    """One at a time changes the tree and builds in it."""
    WORK.mkdir(parents=True, exist_ok=True)
    with open(WORK / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build_plugin():
    source = ROOT / "scripts/mutate/small_faults.cc"
    if PLUGIN.exists() and PLUGIN.stat().st_mtime > source.stat().st_mtime:
        return
    must(["clang++-19", "-std=c++20", "-O1", "-fPIC", "-shared", "-fno-rtti", "-isystem", "/usr/lib/llvm-19/include",
          str(source), "-o", str(PLUGIN)], "building the plugin (it needs libclang-19-dev and llvm-19-dev)")


def configure():
    if not (PLAIN / "build.ninja").exists():
        must(["cmake", "--preset", "mutate", "-B", str(PLAIN)], "cmake", cwd=ROOT)
    must(["ninja", "-C", str(PLAIN), "muster_prelude", "muster_test_prelude"], "the prelude")


def copy_tree(rewritten):
    """Makes TREE equal to the checkout, but for the files in `rewritten`. Writes only what differs."""
    listed = must(["git", "ls-files", "--cached", "--others", "--exclude-standard"], "git", cwd=ROOT).splitlines()
    for name in listed:
        source, copy = ROOT / name, TREE / name
        if name in rewritten or not source.is_file():
            continue
        text = source.read_bytes()
        if not copy.exists() or copy.read_bytes() != text:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(text)
            copy.chmod(source.stat().st_mode)
    wanted = set(listed)
    for copy in (TREE / "src").rglob("*"):
        if copy.is_file() and str(copy.relative_to(TREE)) not in wanted:
            copy.unlink()


def files_of(room):
    """The files of a room whose faults count: no tests, nothing that only tests use."""
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / room).glob("*.cc")
                  if not path.name.endswith("_test.cc") and "testing" not in path.name and "fake" not in path.name)


def headers_of(source):
    header = source[:-3] + ".h"
    return [header] if (ROOT / header).exists() else []


def commands():
    return {entry["file"]: entry for entry in json.loads((PLAIN / "compile_commands.json").read_text())}


def rewrite(source, of, base, skip, command):
    """Rewrites `of` (the source or its header) into the tree; returns its faults."""
    words = shlex.split(command["command"])
    at = words.index("-o")
    words = [word for i, word in enumerate(words) if i not in (at, at + 1) and word != "-c" and word != "-Werror"]
    words = words[next(i for i, word in enumerate(words) if word.endswith("clang++-19")):]
    out = TREE / of
    out.parent.mkdir(parents=True, exist_ok=True)
    draft = str(out) + ".faults"
    arguments = [f"out={draft}", f"base={base}", "skip=" + ",".join(map(str, skip))]
    if of != source:
        arguments.append(f"of={ROOT / of}")
    words += ["-fsyntax-only", "-w", f"-fplugin={PLUGIN}", "-Xclang", "-plugin", "-Xclang", "small-faults"]
    for argument in arguments:
        words += ["-Xclang", "-plugin-arg-small-faults", "-Xclang", argument]
    done = run(words, cwd=command["directory"])
    if done.returncode != 0 or not os.path.exists(draft):
        print(f"cannot rewrite {of}: exit {done.returncode} {done.stderr[-1500:]}")
        out.write_bytes((ROOT / of).read_bytes())
        return []
    text = Path(draft).read_bytes()
    os.unlink(draft)
    if not out.exists() or out.read_bytes() != text:
        out.write_bytes(text)
    faults = []
    for line in done.stdout.splitlines():
        number, at_line, what, of_what = line.split("\t", 3)
        faults.append({"id": int(number), "file": of, "line": int(at_line), "what": what, "text": of_what})
    if len(faults) >= STRIDE:
        sys.exit(f"{of} has {len(faults)} faults; STRIDE is too small")
    return faults


def program_of(room):
    """The program that holds a room's tests, and the room's library."""
    for folder in [ROOT / room, *(ROOT / room).parents]:
        lists = folder / "CMakeLists.txt"
        if lists.exists():
            for name, text in re.findall(r"muster_module\(\s*(\w+)(.*?)\)", lists.read_text(), re.S):
                sub = os.path.relpath(ROOT / room, folder)
                if folder == ROOT / room or f"{sub}/" in text:
                    return name + "_test"
    sys.exit(f"no muster_module for {room}")


def digest(name):
    return hashlib.sha1((ROOT / name).read_bytes()).hexdigest()


def rewritten_now(files):
    """What is rewritten in the tree and has not changed in the checkout since."""
    def is_rewritten(name):
        copy = TREE / name
        return copy.exists() and copy.read_bytes().startswith(b'#include "small_faults.h"')

    return {name for name, entry in files.items()
            if (ROOT / name).exists() and entry.get("of") == digest(name) and is_rewritten(name)}


def is_prepared(name):
    if not room_path(name).exists():
        return False
    rewritten = rewritten_now(load_files())
    changed = [of for source in files_of(name) for of in [source, *headers_of(source)] if of not in rewritten]
    if changed:
        print(f"changed since {name} was prepared: {' '.join(changed)}")
    return not changed


def prepare(name):
    room = {"name": name, "program": program_of(name), "faults": [], "reach": {}, "tried": {}}
    with building():
        build_plugin()
        configure()
        files, by_file = load_files(), commands()
        sources = [source for source in files_of(name) if str(ROOT / source) in by_file]
        jobs = [(source, of) for source in sources for of in [source, *headers_of(source)]]
        copy_tree(rewritten_now(files))
        for _, of in jobs:
            first = max((entry["base"] for entry in files.values()), default=-STRIDE) + STRIDE
            if files.get(of, {}).get("of") != digest(of):
                files[of] = {"base": files.get(of, {}).get("base", first), "skip": [], "of": digest(of)}
        write_json(FILES, files)
        with ThreadPoolExecutor(JOBS) as pool:
            do = lambda job: rewrite(*job, files[job[1]]["base"], files[job[1]]["skip"], by_file[str(ROOT / job[0])])
            for faults in pool.map(do, jobs):
                room["faults"] += faults
        build(room, files, by_file)
    reach(room)
    write_json(room_path(name), room)
    print(f"{name}: {len(room['faults'])} faults, of which the room's tests reach {len(room['reach'])}")


def build(room, files, by_file):
    """Builds the tests of a room; a line whose faults do not compile is left as it was."""
    if not (BUILT / "build.ninja").exists():
        flags = f"-O0 -w -D_GLIBCXX_ASSERTIONS -I{ROOT / 'scripts/mutate'}"
        must(["cmake", "--preset", "mutate", "-DMUSTER_GROUP_SOURCES=ON", f"-DCMAKE_CXX_FLAGS_DEBUG={flags}"], "cmake", cwd=TREE)
    for _ in range(6):
        done = run(["ninja", "-C", str(BUILT), "-k", "0", "-j", str(JOBS), room["program"]])
        if done.returncode == 0:
            return
        bad = {}
        for path, line in re.findall(r"^(\S+?):(\d+):\d+: (?:fatal )?error:", done.stdout, re.M):
            name = os.path.relpath(path if os.path.isabs(path) else BUILT / path, TREE)
            bad.setdefault(name, set()).add(int(line))
        ours = {name: lines for name, lines in bad.items() if name in files and not lines <= set(files[name]["skip"])}
        if not ours:
            errors = [line for line in done.stdout.splitlines() if " error: " in line or "undefined" in line]
            sys.exit("the tests do not build:\n" + "\n".join(errors[:12] or [done.stdout[-3000:]]))
        for name, lines in ours.items():
            print(f"{name}: left alone, as they do not compile: lines {sorted(lines)}")
            files[name]["skip"] = sorted(set(files[name]["skip"]) | lines)
            source = name if name.endswith(".cc") else name[:-2] + ".cc"
            faults = rewrite(source, name, files[name]["base"], files[name]["skip"], by_file[str(ROOT / source)])
            if any(fault["file"] == name for fault in room["faults"]):
                room["faults"] = [fault for fault in room["faults"] if fault["file"] != name] + faults
        write_json(FILES, files)
    sys.exit("the rewritten tree does not build")


def environment(**more):
    env = dict(os.environ, RC_PARAMS="noshrink=1 max_success=100", GTEST_FAIL_FAST="1", GTEST_BRIEF="1", **more)
    if os.access("/dev/shm", os.W_OK):
        env["TMPDIR"] = "/dev/shm"
    return env


def tests_of(program):
    names, suite = [], ""
    for line in must([str(BUILT / "bin" / program), "--gtest_list_tests"], program, cwd=TREE).splitlines():
        line = line.split("#")[0].rstrip()
        if not line.startswith(" "):
            suite = line
        elif line:
            names.append(suite + line.strip())
    return names


def run_tests(program, tests, **more):
    """Whether these tests pass."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    try:
        return run([str(BUILT / "bin" / program), f"--gtest_filter={tests}"], cwd=TREE, timeout=20 * SECONDS, preexec_fn=limit,
                   env=environment(**more)).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def reach(room):
    """Which faults each test of the room's program comes by."""
    program = room["program"]
    folder = WORK / "reach"
    folder.mkdir(exist_ok=True)

    def do(job):
        number, test = job
        path = folder / f"{program}-{number}"
        path.unlink(missing_ok=True)
        if not run_tests(program, test, MUSTER_FAULTS_REACHED=str(path)):
            print(f"{program} {test} fails without a fault; it is left out")
            path.unlink(missing_ok=True)
        ids = path.read_text().split() if path.exists() else []
        path.unlink(missing_ok=True)
        return test, ids

    ours = {str(fault["id"]) for fault in room["faults"]}
    with ThreadPoolExecutor(JOBS) as pool:
        for test, ids in pool.map(do, enumerate(tests_of(program))):
            for number in ours.intersection(ids):
                room["reach"].setdefault(number, []).append(test)


def said(fault, became):
    return f"{became:12} {fault['file']}:{fault['line']}  {fault['what']}: {fault['text']}"


def attempt(room, fault):
    tests = room["reach"].get(str(fault["id"]), [])
    if not tests:
        return "not reached"
    passes = run_tests(room["program"], ":".join(tests), MUSTER_FAULT=str(fault["id"]))
    return "SURVIVED" if passes else "noticed"


def try_all(room, chosen, how):
    counts = {}
    with ThreadPoolExecutor(JOBS) as pool:
        for fault, became in zip(chosen, pool.map(how, chosen)):
            counts[became] = counts.get(became, 0) + 1
            room["tried"][str(fault["id"])] = became
            if became != "noticed":
                print(said(fault, became), flush=True)
    write_json(room_path(room["name"]), room)
    print(f"{room['name']}: {len(chosen)} faults: " + ", ".join(f"{count} {became}" for became, count in sorted(counts.items())))


def try_faults(room, most, seed, file):
    chosen = [fault for fault in room["faults"] if file in fault["file"]]
    if most and most < len(chosen):
        chosen = random.Random(seed).sample(chosen, most)
    chosen.sort(key=lambda fault: (fault["file"], fault["line"], fault["id"]))
    try_all(room, chosen, lambda fault: attempt(room, fault))


def survivors(room, file):
    return [fault for fault in room["faults"] if file in fault["file"] and
            room["tried"].get(str(fault["id"])) in ("SURVIVED", "not reached")]


def retry(room, tests, file):
    with building():
        files = load_files()
        copy_tree(rewritten_now(files))
        build(room, files, commands())
    if not run_tests(room["program"], tests):
        sys.exit(f"{room['program']} {tests} fails without a fault")

    def how(fault):
        before = room["tried"][str(fault["id"])]
        return before if run_tests(room["program"], tests, MUSTER_FAULT=str(fault["id"])) else "noticed"

    try_all(room, survivors(room, file), how)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=VERBS)
    parser.add_argument("room")
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", default="")
    parser.add_argument("--tests", default="*")
    words = sys.argv[1:]
    options = parser.parse_args(words if not words or words[0] in VERBS or words[0].startswith("-") else ["try", *words])
    name = options.room.rstrip("/")
    if options.verb == "prepare" or (options.verb == "try" and not is_prepared(name)):
        prepare(name)
    if options.verb == "prepare":
        return
    room = load(name)
    if options.verb == "try":
        try_faults(room, options.most, options.seed, options.file)
    elif options.verb == "retry":
        if not is_prepared(name):
            sys.exit(f"Try the faults as they are now: ./dev mutate --every {name} --most 50")
        retry(room, options.tests, options.file)
    else:
        for fault in survivors(room, options.file):
            print(said(fault, room["tried"][str(fault["id"])]))


main()
