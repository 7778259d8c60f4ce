"""List programs that take code: by which words, by which options, in which language."""

from __future__ import annotations

import re

from amplihack.patterns import pattern

EVALUATES = frozenset(
    "alias bind compgen complete concurrently eval fc hyperfine parallel trap watch".split()  # noqa: SIM905
)
SOURCES = ("source", ".")
# Commands that run the command in their arguments: an interpreter may stand anywhere behind them.
WRAPPERS = frozenset(
    """
    builtin busybox bwrap chroot chrt command coproc doas docker docker-compose entr env exec fakeroot find
    firejail flock gosu ionice kubectl lxc nerdctl nice nohup nsenter numactl oc parallel pkexec podman
    runuser script setarch setpriv setsid ssh sshpass stdbuf strace su su-exec sudo systemd-run taskset time
    timeout tini toybox unbuffer unshare watch xargs xvfb-run
    """.split()  # noqa: SIM905 - a table of names, not code
)
# Options whose argument a shell reads. Patterns are compiled when a script needs them.
CODE_OPTION = {
    "entr": r"-[a-z]*s",
    "env": r"-[a-zA-Z0]*S|--split-string",
    "flock": r"-c|--command",
    "gcloud": r"--command",
    "difftool": r"-x",
    "git": r"--exec|--extcmd|--upload-pack|--receive-pack|--[a-z]+-filter",
    "nix-shell": r"--run|--command",
    "npx": r"--call",
    "rebase": r"-x",
    "rsync": r"-[a-zA-Z]*e|--rsh|--rsync-path",
    "runuser": r"-[a-z]*c|--(?:session-)?command",
    "script": r"-[a-z]*c|--command",
    "sort": r"--compress-program",
    "su": r"-[a-z]*c|--(?:session-)?command",
    "tar": r"-I|--use-compress-program|--to-command|--checkpoint-action=exec",
    "vagrant": r"-c|--command",
}
# Words of a command behind which a shell reads all others.
CODE_BEHIND = {
    "adb": r"shell",
    "git": r"foreach",
    "tmux": r"new(?:-session|-window)?|neww|split-window|splitw|respawn-(?:pane|window)|send(?:-keys)?"
    r"|run(?:-shell)?|if(?:-shell)?|pipe-pane|display-popup|popup",
}
# A word that is a setting, and whose value a shell reads.
CODE_SETTING = {
    "git": r"(?i:alias\.[^=]*|(?:core|sequence)\.(?:sshcommand|pager|editor|fsmonitor|askpass|gitproxy)"
    r"|credential\.(?:.*\.)?helper|(?:diff|merge|filter|difftool|mergetool)\..*|pager\..*)",
    "make": r"[A-Za-z_][A-Za-z0-9_.]*[:+?!]*",
    "gmake": r"[A-Za-z_][A-Za-z0-9_.]*[:+?!]*",
    "ssh": r"(?:-o)?(?i:ProxyCommand|LocalCommand|RemoteCommand|KnownHostsCommand)",
}
CODE_NAMES = frozenset((*CODE_OPTION, *CODE_BEHIND, *CODE_SETTING))
CODE_TAKERS = frozenset(
    {"concurrently", "crontab", "hyperfine", "parallel", "ssh", "watch"}
)  # behind a wrapper
SSH_WITH_ARGUMENT = "BbcDEeFIiJLlmOopQRSWw"
BOUNDARY = r"(?:^|[^A-Za-z0-9_.])"
TOOLS = (
    r"(?:ba|da|k|z|a|fi|mk)?sh|pwsh|python|pypy|node|nodejs|deno|bun|perl|raku|ruby|php|lua|luajit|Rscript|julia"
    r"|osascript"
)
INTERPRETER = pattern(
    rf"{BOUNDARY}(?P<name>{TOOLS}|[gm]?awk|jq|g?sed)[0-9.]*\}}?$"
    r"|^\$\{?(?:[A-Z0-9_]*_)?(?P<variable>SHELL|BASH|SH|PYTHON|NODE|PERL|RUBY|AWK|JQ|SED)[0-9]*\}?$"
)
# The same behind a command that nobody here knows: `uv run python -c`, `aws-vault exec me -- bash -c`.
INNER = pattern(rf"{BOUNDARY}(?:{TOOLS})[0-9.]*[ \t]+(?:-|eval)")
WORD = pattern(r"[A-Za-z0-9_.-]+")
SHELLS = frozenset({"ash", "bash", "dash", "fish", "ksh", "mksh", "pwsh", "sh", "shell", "zsh"})
# Names under which a language is known here; others are their own.
LANGUAGES = {
    **dict.fromkeys(SHELLS, "bash"),
    **dict.fromkeys(("gawk", "mawk"), "awk"),
    **dict.fromkeys(("nodejs", "deno", "bun"), "node"),
    "Rscript": "R",
    "gsed": "sed",
    "luajit": "lua",
    "osascript": "AppleScript",
    "pypy": "python",
    "raku": "perl",
}
# Commands that show their words: what looks like a command behind them is text.
SHOWS = frozenset({"echo", "grep", "printf"})
MAY_EXECUTE = WRAPPERS | EVALUATES | SHELLS
RUNS_INPUT = frozenset({"at", "batch", "crontab", "parallel"})
MAY_RUN_INPUT = MAY_EXECUTE | RUNS_INPUT
STANDARD_INPUT = frozenset({"-", "-s", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
PROGRAM_OPTION = {
    "AppleScript": r"-e",
    "R": r"-e",
    "bash": r"-[a-zA-Z]*c|-Command",
    "julia": r"-[eE]|--eval|--print",
    "lua": r"-e",
    "node": r"-p?e|-p|--eval|--print|eval",
    "php": r"-r|--run",
    "python": r"-[A-Za-z]*c",
    "perl": r"-[a-zA-Z0-9]*[eE]",
    "ruby": r"-[a-z]*e",
    "sed": r"-[nErsiz]*e|--expression",
}
PROGRAM_FIRST = {
    "awk": {"-v": 1, "-F": 1, "-f": 1},
    "jq": {"--arg": 2, "--argjson": 2, "--slurpfile": 2, "--rawfile": 2, "--indent": 1, "-f": 1, "-L": 1},
    "sed": {"-f": 1, "-l": 1},
}


def may_hold_code(text: str) -> bool:
    """Tell whether a word of a plain script, whose quotes are removed, may be code because of other words."""
    if INNER.search(text):
        return True
    return any(re.search(_code_pattern(name), text) for name in CODE_NAMES.intersection(WORD.findall(text)))


def _code_pattern(name: str) -> str:
    """Return a pattern for what begins a word that a command with that name takes for code."""
    setting = f"(?:{CODE_SETTING[name]})=" if name in CODE_SETTING else None
    parts = (CODE_OPTION.get(name), CODE_BEHIND.get(name), setting)
    return rf"\s(?:{'|'.join(part for part in parts if part)})"


def takes_data(name: str) -> bool:
    """Tell whether no word and no input of a command with that name is code."""
    last = name.rpartition("/")[2]
    return last not in MAY_RUN_INPUT and name not in SOURCES and not INTERPRETER.search(name)
