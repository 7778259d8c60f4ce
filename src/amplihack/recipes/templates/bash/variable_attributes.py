"""Record what a script says about its variables: integers, references, arrays, associative arrays.

Attributes that make a value dangerous count wherever they stand in the script. That an array is associative,
which makes its subscripts harmless, counts only where the order of the script proves it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.places import Mark
from amplihack.records import Record, field

_SUBSCRIPTED = pattern(r"([A-Za-z_]\w*)\[")
# Bash evaluates what is assigned to these as arithmetic.
INTEGERS = ("BASHPID", "HISTCMD", "LINENO", "OPTIND", "RANDOM", "SECONDS", "SRANDOM")
_ARRAYS = (
    *("BASH_ALIASES", "BASH_CMDS", "BASH_REMATCH", "COPROC", "DIRSTACK", "FUNCNAME", "GROUPS", "MAPFILE"),
    "PIPESTATUS",
)
# A shell expands these when it starts or prompts.
PROMPTS = ("PS0", "PS1", "PS2", "PS4")
EXPANDED_VARIABLES = frozenset(("BASH_ENV", "ENV", "PROMPT_COMMAND", *PROMPTS))
# Bash, or a shell that some program starts, runs what is assigned to these.
PROGRAM_VARIABLES = EXPANDED_VARIABLES.union(
    """
    AWS_PAGER BASH_ALIASES BASH_CMDS BAT_PAGER BROWSER CC CVSEDITOR CVS_RSH CXX DELTA_PAGER EDITOR FCEDIT
    FZF_DEFAULT_COMMAND FZF_DEFAULT_OPTS GH_BROWSER GH_EDITOR GH_PAGER GIT_ASKPASS GIT_CONFIG_PARAMETERS
    GIT_EDITOR GIT_EXTERNAL_DIFF GIT_PAGER GIT_PROXY_COMMAND GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND
    GNUMAKEFLAGS HGEDITOR KUBE_EDITOR LESSCLOSE LESSOPEN MAILPATH MAKEFLAGS MANPAGER PAGER PSQL_EDITOR
    PSQL_PAGER RSYNC_CONNECT_PROG RSYNC_RSH RUSTC_WRAPPER SHELL SSH_ASKPASS SUDO_ASKPASS SUDO_EDITOR
    SVN_EDITOR SVN_SSH SYSTEMD_EDITOR SYSTEMD_PAGER TAR_OPTIONS VISUAL npm_config_script_shell
    """.split()  # noqa: SIM905 - a table of names, not code
)

# What other programs load, or take for options of theirs that load something.
_LOADED_VARIABLES = {
    **dict.fromkeys(("DYLD_INSERT_LIBRARIES", "LD_AUDIT", "LD_PRELOAD"), "native"),
    **dict.fromkeys(("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"), "Java"),
    **dict.fromkeys(("PERL5DB", "PERL5OPT"), "perl"),
    "NODE_OPTIONS": "node",
    "PYTHONSTARTUP": "python",
    "RUBYOPT": "ruby",
}
_GIT_VALUE = "GIT_CONFIG_VALUE_"
_OPTION_OF_ITS_OWN = pattern(r"(?:\A|=|\s)[\"']*\Z")
_INSIDE_OPTION = pattern(r"-[^\s=]*=[\"']*\Z")


def is_program_variable(name: str) -> bool:
    """Tell whether a shell or a program runs what stands in a variable; bash makes functions of some."""
    return name in PROGRAM_VARIABLES or name.startswith("BASH_FUNC_")


def git_key(name: str) -> str:
    """Return the variable with the name of the setting of which this one holds the value; mostly empty."""
    return name.replace("_VALUE_", "_KEY_", 1) if name.startswith(_GIT_VALUE) else ""


def loaded_language(name: str, before: str) -> str:
    """Return the language of what a program loads because of a variable; empty if it loads nothing.

    `before` is what stands before the value: the size in `--max-old-space-size={{n}}` loads nothing.
    """
    language = _LOADED_VARIABLES.get(name, "")
    if not language or _INSIDE_OPTION.search(before) or not _OPTION_OF_ITS_OWN.search(before):
        return ""
    return language


@lru_cache(maxsize=64)
def _made(name: str) -> re.Pattern[str]:
    return re.compile(name)


class Variables(Record, frozen=False, eq=False, repr=False):
    integers: set[str] = field(default_factory=lambda: set(INTEGERS))
    made_integers: set[str] = field(
        default_factory=set
    )  # patterns for the names of integers that the run makes
    sourced: bool = False  # a file that is not read here may have declared any integer
    references: set[str] = field(default_factory=set)  # namerefs
    unbound: set[str] = field(default_factory=set)  # namerefs that some declaration leaves without a target
    arrays: set[str] = field(default_factory=lambda: set(_ARRAYS))
    any_array: bool = False  # some array has a name that only the run knows
    indexed: set[str] = field(default_factory=lambda: set(_ARRAYS))  # arrays not known to be associative
    keyed: set[str] = field(default_factory=lambda: {"BASH_ALIASES", "BASH_CMDS"})  # may be associative
    loops: set[str] = field(default_factory=set)  # the variables of `for` and `select`
    from_input: set[str] = field(default_factory=set)  # filled by `read`, `mapfile` and the like
    from_afar: set[str] = field(default_factory=set)  # of these, what comes from a pipe or a file
    undone: set[str] = field(default_factory=set)  # unset or declared anew: nothing is proven about these
    opaque: bool = False  # `eval` or `source`: any variable may be an array
    any_undone: bool = False  # `unset` of a name that only the run knows, or another `declare`
    _proven: dict[str, int] = field(default_factory=partial(defaultdict, int))
    _scopes: list[list[str]] = field(default_factory=lambda: [[]])

    def enter(self) -> None:
        """Begin a part of the script that may not run, or runs in a subshell."""
        self._scopes.append([])

    def leave(self) -> None:
        for name in self._scopes.pop():
            self._proven[name] -= 1

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Read something that may end before its parts do."""
        open_parts = len(self._scopes)
        try:
            yield
        finally:
            while len(self._scopes) > open_parts:
                self.leave()

    def prove(self, name: str) -> None:
        """Record that `name` is an associative array from here to the end of this part."""
        self._proven[name] += 1
        self._scopes[-1].append(name)

    def proven_in(self, expression: str) -> frozenset[str]:
        """Return the arrays of an expression that are associative so far."""
        return frozenset(name for name in _SUBSCRIPTED.findall(expression) if self.is_proven(name))

    def is_proven(self, name: str) -> bool:
        return self._proven[name] > 0

    def saw_array(self, name: str) -> None:
        self.any_array |= not name.isidentifier()
        self.arrays.add(name)
        if not self.is_proven(name):
            self.indexed.add(name)

    def saw_elements(self, expression: str) -> None:
        """Record the arrays that an arithmetic expression may make by assigning to an element."""
        self.arrays.update(_SUBSCRIPTED.findall(expression))

    def declare(self, builtin: str, name: str, flags: str, *, bound: bool) -> None:
        """Record the attributes that a declaration may give to a name; `bound` if it also assigns."""
        if "i" in flags:
            self.integers.add(name)
        if "a" in flags:
            self.saw_array(name)
        if "A" in flags:
            self.arrays.add(name)
            self.keyed.add(name)
        elif builtin in ("declare", "typeset", "local") and "g" not in flags and "p" not in flags:
            self.undone.add(name)  # in a function this is another variable
        if (builtin == "readonly" or "r" in flags) and "A" not in flags and not self.is_proven(name):
            self.undone.add(name)  # it can never become an associative array
        if "n" in flags and builtin != "export":
            self.references.add(name)
            if not bound:
                self.unbound.add(name)

    def is_key(self, mark: Mark) -> bool:
        """Tell whether the mark stands in a subscript that is a key, which bash does not evaluate."""
        return mark.key and self.keeps_keys(mark.array)

    def keeps_keys(self, name: str) -> bool:
        """Tell whether an array that is associative somewhere is so to the end of the script."""
        return not self.any_undone and name not in self.undone

    def may_be_array(self, name: str) -> bool:
        """Tell whether a variable may be an array; no name stands for one that only the run knows."""
        if self.opaque or self.any_array or not self.references.isdisjoint(self.arrays):
            return True
        unknown = not name or name in self.references
        return name in self.arrays or (unknown and len(self.arrays) > len(_ARRAYS))

    def is_integer(self, mark: Mark) -> bool:
        """Tell whether bash evaluates the value as arithmetic, because an integer variable receives it."""
        if any(name in self.integers for name in mark.variables):
            return True
        return mark.feeds and not self.integers.isdisjoint(self.from_input)

    def makes_integer(self, name: str) -> bool:
        """Tell whether the variable may be an integer that is declared under a name made by the run."""
        return any(_made(pattern).fullmatch(name) for pattern in self.made_integers)

    def may_become_integer(self, name: str) -> bool:
        """Tell whether only the run knows if the variable is an integer."""
        if name in self.integers or name in self.unbound or not name.isidentifier():
            return False
        return self.sourced or name in self.references or self.makes_integer(name)

    def reads_integers(self) -> bool:
        """Tell whether an integer or a reference gets input from afar: no guard comes before `read`."""
        known = self.integers.union(self.unbound)
        return not known.isdisjoint(self.from_afar) or any(map(self.makes_integer, self.from_afar))

    def leading_to_integers(self) -> set[str]:
        """Return the namerefs if the script declares integers: one of those may be the target."""
        return self.references if self.integers - set(INTEGERS) else set()

    def calculates(self, name: str) -> bool:
        """Tell whether bash takes what is assigned to this variable for a number."""
        return name in self.integers or (name in self.references and bool(self.leading_to_integers()))

    def has_integers(self) -> bool:
        """Tell whether the script itself declares integers."""
        return len(self.integers) > len(INTEGERS)

    def is_bound_later(self, name: str) -> bool:
        """Tell whether what the variable receives may become the name of another."""
        return name in self.unbound or name in self.references & self.loops

    def is_name(self, mark: Mark) -> bool:
        """Tell whether the value becomes the name of a variable, because a nameref receives it."""
        if mark.feeds and not self.unbound.isdisjoint(self.from_input):
            return True
        names = self.references if mark.rebinds else self.unbound
        return any(name in names for name in mark.variables)
