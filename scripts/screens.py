#!/usr/bin/env python3
"""Makes the pictures of docs/screens from the real program: a cluster is started, commands are typed into a
terminal, and what the terminal shows becomes an SVG.

    scripts/screens.py MUSTER [FOLDER]      MUSTER: the program; FOLDER: docs/screens by default

Needs kubectl on the PATH.
"""
import fcntl
import html
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "docs" / "examples"
COLUMNS = 118
CELL_WIDTH, LINE_HEIGHT, MARGIN = 8.4, 18, 14
GROUND, LETTERS, DIM, PROMPT = "#1e2127", "#d7dae0", "#7f848e", "#98c379"
# What the codes 41-46 and 101-106 paint the ground with.
GROUNDS = {41: "#e06c75", 42: "#98c379", 43: "#e5c07b", 44: "#61afef", 45: "#c678dd", 46: "#56b6c2",
           101: "#be5046", 102: "#7ec699", 103: "#d19a66", 104: "#8ab8f5", 105: "#d7a1e6", 106: "#8fd0da"}


def in_terminal(command, environment, lines=50):
    """What a terminal gets to see of a command."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvpe("bash", ["bash", "-c", command], {**environment, "TERM": "xterm-256color"})
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, COLUMNS, 0, 0))
    output = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not select.select([fd], [], [], 1)[0]:
            continue
        try:
            piece = os.read(fd, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        output += piece
    os.waitpid(pid, 0)
    return output.decode().replace("\r\n", "\n").rstrip("\n").split("\n")


def cells(line):
    """A line as (letter, ground, letters' colour), one for each place on the screen."""
    ground, letters, out = None, LETTERS, []
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if not part.startswith("\x1b["):
            out += [(letter, ground, letters) for letter in part]
            continue
        for code in (int(number or 0) for number in part[2:-1].split(";")):
            if code == 0:
                ground, letters = None, LETTERS
            elif code == 2:
                letters = DIM
            elif code == 7:
                ground, letters = LETTERS, GROUND
            elif code == 30:
                letters = GROUND
            elif code in GROUNDS:
                ground = GROUNDS[code]
    return out


def wrapped(line):
    row = cells(line)
    return [row[at:at + COLUMNS] for at in range(0, max(len(row), 1), COLUMNS)]


def runs(row):
    """Neighbours that look alike, as (first place, text, ground, colour)."""
    at = 0
    while at < len(row):
        end = at
        while end < len(row) and row[end][1:] == row[at][1:]:
            end += 1
        yield at, "".join(letter for letter, _, _ in row[at:end]), row[at][1], row[at][2]
        at = end


def svg(title, lines):
    rows = [row for line in lines for row in wrapped(line)]
    width = max(80, max(len(row) for row in rows)) * CELL_WIDTH + 2 * MARGIN
    height = len(rows) * LINE_HEIGHT + 2 * MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
           f'viewBox="0 0 {width:.0f} {height}" role="img">',
           f"<title>{html.escape(title)}</title>",
           f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>',
           '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" '
           'xml:space="preserve">']
    for number, row in enumerate(rows):
        top = MARGIN + number * LINE_HEIGHT
        for at, text, ground, colour in runs(row):
            x = MARGIN + at * CELL_WIDTH
            if ground:
                out.append(f'<rect x="{x:.1f}" y="{top + 1}" width="{len(text) * CELL_WIDTH:.1f}" '
                           f'height="{LINE_HEIGHT - 2}" fill="{ground}"/>')
            if text.strip():
                out.append(f'<text x="{x:.1f}" y="{top + 14}" textLength="{len(text) * CELL_WIDTH:.1f}" '
                           f'fill="{colour}">{html.escape(text)}</text>')
    return "\n".join(out + ["</g>", "</svg>", ""])


def screen(title, commands, environment, folder):
    """Types commands, (what is shown, what is run, what to wait for afterwards), and draws the screen."""
    lines = []
    for shown, typed, until in commands:
        lines.append(f"\x1b[2m$\x1b[0m {shown}")
        lines += in_terminal(typed, environment)
        lines.append("")
        for command, text in until:
            wait_for(command, text, environment)
    (folder / f"{title.split(':')[0]}.svg").write_text(svg(title, lines[:-1]))


def wait_for(command, text, environment):
    for _ in range(120):
        shown = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True).stdout
        if text in shown:
            return
        time.sleep(0.5)
    sys.exit(f"{command}: never shows {text}")


def take_screens(muster, folder, environment):
    def both(command):
        return command, command.replace("muster ", f"{muster} "), ()

    apply = "kubectl apply -f " + str(EXAMPLES) + "/{}.yaml"
    wait_for("kubectl get nodes --no-headers | grep -cw Ready", "48", environment)
    screen("gang: four workers bound together in one rack",
           [("kubectl apply -f docs/examples/gang.yaml", apply.format("gang"),
             (("kubectl get podgroup train", "Scheduled"),
              ("kubectl get pods --no-headers | grep -cw Running", "4"))),
            both("kubectl get podgroups -o wide"),
            both("kubectl get pods -o custom-columns=POD:.metadata.name,PHASE:.status.phase,NODE:.spec.nodeName")],
           environment, folder)
    for example in ("training", "serving", "elastic-gang", "batch-pod", "too-wide-gang", "picky-pod"):
        subprocess.run(["bash", "-c", apply.format(example)], env=environment, check=True,
                       stdout=subprocess.DEVNULL)
    wait_for("kubectl get podgroup wide", "Unschedulable", environment)
    wait_for("kubectl get cpg serve", "Scheduled", environment)
    screen("explain: why a gang waits, and what would help",
           [both("muster explain"), both("muster explain podgroup wide")], environment, folder)
    screen("map: what is where", [both("muster map")], environment, folder)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    muster = str(pathlib.Path(sys.argv[1]).resolve())
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else ROOT / "docs" / "screens"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        environment = {"PATH": os.environ["PATH"], "HOME": work, "KUBECONFIG": f"{work}/kubeconfig",
                       "LANG": "C.UTF-8"}
        up = subprocess.Popen(
            [muster, "up", "--in-memory", "--listen", "127.0.0.1:0", "--write-kubeconfig", f"{work}/kubeconfig",
             "--zones", "2", "--blocks-per-zone", "2", "--racks-per-block", "3", "--nodes-per-rack", "4"],
            env=environment, cwd=work, stdout=subprocess.DEVNULL)
        try:
            take_screens(muster, folder, environment)
        finally:
            up.send_signal(signal.SIGTERM)
            up.wait()


if __name__ == "__main__":
    main()
