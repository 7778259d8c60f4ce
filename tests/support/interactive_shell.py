"""Real interactive shells in a terminal of their own: what the keys of a user make of a line."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import threading
import time
from pathlib import Path

ALL, ONE = "<all>", "<tab>"  # insert every completion; complete what is certain

_BASH = ["bash", "--norc", "--noprofile", "-i"]
_ZSH = ["zsh", "-f", "-i"]
_SETUP = {
    "bash": 'eval "$(amplihack completions bash)"',
    "zsh": (
        "bindkey -e; autoload -Uz compinit; compinit -u -D; "
        "zle -C all-matches complete-word _generic; bindkey '^X^A' all-matches; "
        "zstyle ':completion:all-matches:*' completer _all_matches _complete; "
        "zstyle ':completion:all-matches:*' insert true; "
        'eval "$(amplihack completions zsh)"'
    ),
}
_KEYS = {"bash": {ALL: "\x1b*", ONE: "\t"}, "zsh": {ALL: "\x18\x01", ONE: "\t"}}


def typed(shell: str, line: str, *, cwd: Path, env: dict[str, str]) -> list[str]:
    """Return the words of a line after its completions, as the shell itself reads them."""
    if shell == "fish":
        return _fish(line, cwd, env)
    for key, sent in _KEYS[shell].items():
        line = line.replace(key, sent)
    return _in_terminal(shell, line, cwd, env)


def _fish(line: str, cwd: Path, env: dict[str, str]) -> list[str]:
    """fish tells what it would offer, with the meaning of each behind a tab."""
    script = f"amplihack completions fish | source; complete -C '{line.removesuffix(ALL)}'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", script],
        cwd=cwd, env=env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [offered.partition("\t")[0] for offered in done.stdout.splitlines()]


def _in_terminal(shell: str, keys: str, cwd: Path, env: dict[str, str]) -> list[str]:
    ready, result = cwd / "shell-is-ready", cwd / "shell-result"
    for file in (ready, result):
        file.unlink(missing_ok=True)
    command = _BASH if shell == "bash" else _ZSH
    program = shutil.which(command[0])
    assert program
    ours, theirs = pty.openpty()
    started = subprocess.Popen(
        [program, *command[1:]],
        cwd=cwd,
        env={**env, "TERM": "dumb" if shell == "bash" else "xterm", "PS1": "", "HISTFILE": ""},
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    seen = bytearray()
    reader = threading.Thread(target=_drain, args=(ours, seen))
    reader.start()
    try:
        os.write(ours, f"{_SETUP[shell]}; touch {ready.name}\n".encode())
        _until(ready, started, seen)
        # The completed words become the arguments of a command that writes them down.
        os.write(ours, f"{keys}\x01printf '%s\\n' \x05 > {result.name}; exit\n".encode())
        started.wait(60)
    finally:
        started.kill()
        started.wait()
        reader.join()
        os.close(ours)
    assert result.exists(), seen.decode("utf-8", "replace")
    return result.read_text().splitlines()


def _drain(terminal: int, seen: bytearray) -> None:
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            return  # the shell has ended
        if not part:
            return
        seen += part


def _until(file: Path, process: subprocess.Popen[bytes], seen: bytearray) -> None:
    for _ in range(3000):
        if file.exists():
            return
        assert process.poll() is None, seen.decode("utf-8", "replace")
        time.sleep(0.02)
    raise AssertionError(seen.decode("utf-8", "replace"))
