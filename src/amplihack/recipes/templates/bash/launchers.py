"""Find the word that a command runs as a command: `sudo X`, `timeout 5 X`, `docker exec box X`.

A value there decides which program runs. Behind that word it is an ordinary argument.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.places import Word
from amplihack.records import Record

_ASSIGNMENT = pattern(r"[A-Za-z_]\w*=")


class Launching(Record):
    """How a program is told what to run."""

    options: str = ""  # those with an argument in the next word
    operands: int = 0  # before the command
    behind: str = ""  # a pattern for the sub-command or option behind which the command stands
    none: str = ""  # options with which nothing is run


_SUDO = Launching(
    "-u -g -p -h -U -T -C -D -R -r -t --user --group --prompt --host --other-user --command-timeout"
    " --close-from --chdir --chroot --role --type",
    none="-l -v -e --list --validate --edit",
)
_CONTAINER = Launching(
    "-a -e -v -w -u -p -l -h -m -c -f --name --env --env-file --volume --workdir --user --publish --network"
    " --net --entrypoint --platform --mount --label --hostname --memory --cpus --gpus --add-host --ulimit"
    " --cap-add --cap-drop --restart --log-driver --log-opt --file --project-name --index --device --dns"
    " --expose --ip --ipc --link --pid --pull --runtime --security-opt --shm-size --stop-signal --tmpfs"
    " --userns --volumes-from --detach-keys --cidfile --cpuset-cpus --group-add --health-cmd",
    operands=1,
    behind="exec|run",
)
_RUN = Launching(
    "-m -p --with --with-requirements --with-editable --python --extra --group --package --project"
    " --directory --env-file --index-url --index --refresh-package --name --prefix --cwd -n",
    behind="run",
)
_EXEC = Launching("-p --package -w --workspace", behind="exec|x|dlx")
_TIMEOUT = Launching("-s -k --signal --kill-after", operands=1)

LAUNCHERS = {
    "alacritty": Launching(behind="-e|--command"),
    "arch": Launching(),
    "aws-vault": Launching("-d --duration --region", operands=1, behind="exec"),
    "builtin": Launching(),
    "bundle": Launching(behind="exec"),
    "busybox": Launching(),
    "caffeinate": Launching("-t -w"),
    "chroot": Launching("--userspec --groups", operands=1),
    "chrt": Launching("-T -P -D", operands=1),
    "cmake": Launching(behind="env|time"),
    "command": Launching(none="-v -V"),
    "conda": _RUN,
    "coproc": Launching(),
    "dbus-run-session": Launching("--config-file --dbus-daemon"),
    "direnv": Launching(operands=1, behind="exec"),
    "doas": Launching("-u -C", none="-L"),
    "docker": _CONTAINER,
    "docker-compose": _CONTAINER,
    "dumb-init": Launching("--rewrite -r"),
    "entr": Launching(none="-s"),
    "env": Launching("-u -C --unset --chdir"),
    "exec": Launching("-a"),
    "fakeroot": Launching("-l -s -i -b --lib --save --load"),
    "fd": Launching(behind="-x|-X|--exec|--exec-batch"),
    "find": Launching(behind="-exec|-execdir|-ok|-okdir"),
    "firejail": Launching(),
    "flock": Launching("-w -E --timeout --conflict-exit-code", operands=1, none="-c --command -u --unlock"),
    "git": Launching(behind="run"),
    "gnome-terminal": Launching(behind="--"),
    "gosu": Launching(operands=1),
    "gtimeout": _TIMEOUT,
    "hatch": _RUN,
    "ionice": Launching("-c -n -p -P -u --class --classdata"),
    "jobs": Launching(behind="-x"),
    "kubectl": Launching(behind="--"),
    "lerna": Launching("--scope --ignore --concurrency", behind="exec"),
    "lxc": Launching(operands=1, behind="exec"),
    "mamba": _RUN,
    "micromamba": _RUN,
    "mosh": Launching(behind="--"),
    "multipass": Launching(operands=1, behind="exec"),
    "nerdctl": _CONTAINER,
    "nice": Launching("-n --adjustment"),
    "nohup": Launching(),
    "npm": _EXEC,
    "npx": Launching("-p --package -w --workspace", none="--call"),
    "numactl": Launching("-C -N -m -i -p --cpunodebind --physcpubind --membind --interleave"),
    "oc": Launching(behind="--"),
    "pdm": _RUN,
    "perf": Launching("-e -o -p -F -g -C -G -r", behind="stat|record"),
    "pipx": Launching("--spec --python --pip-args --index-url", behind="run"),
    "pkexec": Launching("--user"),
    "pnpm": _EXEC,
    "podman": _CONTAINER,
    "poetry": _RUN,
    "runuser": Launching("-u -g -G -s -w --user", none="-c --command -l -"),
    "setarch": Launching(operands=1),
    "setpriv": Launching(),
    "setsid": Launching(),
    "sshpass": Launching("-p -f -d -P"),
    "start-stop-daemon": Launching(behind="--exec|-x|--startas|-a"),
    "stdbuf": Launching("-i -o -e --input --output --error"),
    "strace": Launching("-o -e -p -s -u -E -P -I -O -S -b -a -X --output --trace"),
    "su-exec": Launching(operands=1),
    "sudo": _SUDO,
    "systemd-run": Launching(
        "-u -p -E -t -M -H --unit --property --setenv --slice --on-calendar --description"
    ),
    "taskset": Launching(operands=1, none="-p --pid"),
    "timeout": _TIMEOUT,
    "time": Launching("-f -o --format --output"),
    "tini": Launching("-e -p"),
    "toybox": Launching(),
    "unbuffer": Launching(),
    "unshare": Launching("-S -G -R -w --setuid --setgid --root --wd"),
    "uv": _RUN,
    "uvx": Launching("-p --with --from --python --index-url --index --with-editable"),
    "valgrind": Launching(),
    "watchexec": Launching("-w -e -f -i -d -s --shell --watch --exts --filter --ignore --debounce"),
    "wezterm": Launching(behind="--"),
    "wsl": Launching("-d -u --distribution --user --cd"),
    "xargs": Launching(
        "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-lines --max-args --max-procs --max-chars"
    ),
    "xvfb-run": Launching("-n -s -e -f -w -p --server-num --server-args --error-file --auth-file --wait"),
    "yarn": _EXEC,
    "zellij": Launching(behind="--"),
}


def launched(words: Sequence[Word]) -> tuple[str, Sequence[Word]] | None:
    """Return the launcher that stands last, and the words of what it runs; None if there is none."""
    found = None
    while words and (launcher := LAUNCHERS.get(name := words[0].plain.rpartition("/")[2])):
        words = _command(launcher, words[1:])
        found = (name, words) if words else None
    return found


def started(words: Sequence[Word]) -> Sequence[Word]:
    """Return the words of the command that runs in the end: of `sudo -u me bash f`, `bash f`."""
    found = launched(words)
    return found[1] if found else words


def _command(launcher: Launching, words: Sequence[Word]) -> Sequence[Word]:
    """Return the words from the command on."""
    if launcher.behind:
        matching = (at for at, word in enumerate(words) if re.fullmatch(launcher.behind, word.plain))
        at = next(matching, len(words))
        words = words[at + 1 :]
    options, none, operands, position = launcher.options.split(), launcher.none.split(), launcher.operands, 0
    while position < len(words):
        text = words[position].plain
        if text in none:
            return ()
        if text == "--":
            return words[position + 1 + operands :]
        if text.startswith("-"):
            position += 1 + (text in options)
        elif _ASSIGNMENT.match(text):
            position += 1
        elif operands:
            operands, position = operands - 1, position + 1
        else:
            return words[position:]
    return ()
