"""Tell values that a program would take for its options, such as `-rf` in `rm {{file}}`.

Bash runs nothing there, but the command does something else than it says. Only programs that are known here
count, and only words that consist of the value alone: what stands behind `--`, or is the argument of an
option, is safe, and what nobody here can tell is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from amplihack.errors import TemplateError
from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.launchers import started
from amplihack.recipes.templates.bash.places import Place, Word
from amplihack.recipes.templates.bash.read import calls_of
from amplihack.recipes.templates.scripts import is_number
from amplihack.recipes.values import KeyPath
from amplihack.records import Record

# Each program, and its options of one letter whose argument is the next word. None: nobody here knows them.
_LETTERS: Final[Mapping[str, str | None]] = {
    **dict.fromkeys(("cat", "cd", "pushd", "rm", "rmdir", "chmod", "chown", "chgrp", "wc", "dirname"), ""),
    **dict.fromkeys(("realpath", "readlink", "tee", "tr", "unlink", "file", "gzip", "gunzip", "xz"), ""),
    **dict.fromkeys(("md5sum", "sha1sum", "sha256sum", "bzip2", "zcat", "open", "xdg-open"), ""),
    **dict.fromkeys(("cp", "mv", "ln", "install"), "tSmog"),
    **dict.fromkeys(("head", "tail"), "ncs"),
    **dict.fromkeys(("grep", "egrep", "fgrep"), "efmABCdD"),
    **dict.fromkeys(("tar", "gtar"), "fCTXbHKLNVIF"),
    **dict.fromkeys(("python", "python3"), "cmWXQ"),
    **dict.fromkeys(("bash", "sh", "dash", "zsh"), "coO"),
    **dict.fromkeys(("perl", "ruby", "node", "php", "deno", "bun", "lua", "Rscript"), None),
    **dict.fromkeys(("npm", "pnpm", "yarn", "npx", "pip", "pip3", "pipx", "uv", "cargo", "go", "gem"), None),
    **dict.fromkeys(("apt", "apt-get", "brew", "dnf", "yum", "apk", "pacman"), None),
    **dict.fromkeys(("git", "gh", "hg", "svn", "make", "gmake", "pytest", "ruff", "mypy", "jq", "yq"), None),
    **dict.fromkeys(
        ("kubectl", "helm", "terraform", "aws", "gcloud", "systemctl", "zip", "unzip", "patch"), None
    ),
    **dict.fromkeys(("sqlite3", "psql", "mysql", "ffmpeg", "convert", "pandoc", "vim", "less", "more"), None),
    "basename": "s",
    "curl": "odHXuAbceFKmTwxYzrEtyCDPQU",
    "cut": "dfcb",
    "diff": "UCIWxXFLS",
    "du": "dtX",
    "find": "",
    "kill": "sn",
    "killall": "su",
    "ls": "ITw",
    "mkdir": "mZ",
    "pgrep": "gPstuUGF",
    "pkill": "gPstuUGF",
    "rg": "efgtTmABCjMErd",
    "rsync": "efMBT",
    "scp": "cFiJloPSDX",
    "sort": "ktoST",
    "ssh": "BbcDEeFIiJLlmOopQRSWw",
    "stat": "cft",
    "touch": "drt",
    "uniq": "fsw",
    "wget": "oaeibBQtTwPUDAIRXlO",
}
_OPTION = pattern(r"-[A-Za-z0-9]+")
_MEANT = pattern(r"flags?|opt(?:ion)?s?|args?|arguments?|switch(?:es)?|param(?:eter)?s?", re.IGNORECASE)
_PARTS = pattern(r"[_.-]|(?<=[a-z])(?=[A-Z])")
_FIXES: Final = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg"), "write -e {v} for a pattern, or -- before it"),
    "find": "write ./{v} for a directory",
    "git": "check it first: no branch or tag begins with -; before paths, write --",
    **dict.fromkeys(("ssh", "scp"), "check it first: no host begins with -"),
}
_FIX: Final = "write -- before it, or ./{v} for a file"


class Mistakable(Record):
    """A value that a program takes for an option."""

    path: KeyPath
    start: int
    program: str
    fix: str


def begins_option(text: str) -> bool:
    """Tell whether programs take a text for an option; `-` alone is the standard input to them."""
    return text.startswith("-") and len(text) > 1 and not is_number(text)


def meant_as_options(name: str) -> bool:
    """Tell whether a variable is there to hold options, by its name."""
    return any(_MEANT.fullmatch(part) for part in _PARTS.split(name))


def mistakable(template: str, texts: Mapping[KeyPath, str]) -> Iterator[Mistakable]:
    """Yield the values that known programs would take for options, each variable once."""
    told: set[KeyPath] = set()
    try:
        calls, functions = calls_of(template)
    except TemplateError:  # told where the script is rendered
        return
    for words in calls:
        words = started(words)
        program = words[0].plain.rpartition("/")[2]
        if program not in _LETTERS or program in functions:
            continue
        for place in _operands(program, words[1:]):
            path = place.placeholder.path
            if path not in told and begins_option(texts.get(path, "")) and not meant_as_options(path[-1]):
                told.add(path)
                fix = _FIXES.get(program, _FIX).replace(
                    "{v}", template[place.placeholder.start : place.placeholder.end]
                )
                yield Mistakable(path, place.placeholder.start, program, fix)


def _operands(program: str, arguments: Sequence[Word]) -> Iterator[Place]:
    """Yield the values that are words of their own, and no arguments of options."""
    letters, before = _LETTERS[program], ""
    for position, word in enumerate(arguments):
        if word.plain == "--":
            return
        if word.plain == "\0" and isinstance(word.marks[0], Place) and not _takes(before, letters):
            yield word.marks[0]
        bundled = program in ("tar", "gtar") and position == 0 and word.plain.isalpha()  # as in `tar xf`
        before = f"-{word.plain}" if bundled else word.plain


def _takes(option: str, letters: str | None) -> bool:
    """Tell whether the word behind an option may be its argument."""
    if not option.startswith("-") or "=" in option:
        return False
    if letters is None or not _OPTION.fullmatch(option):
        return True
    return option[-1] in letters
