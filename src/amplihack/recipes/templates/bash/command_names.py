"""Names that mean something to bash itself at the beginning of a command."""

from __future__ import annotations

from typing import Final

DECLARES: Final = frozenset({"declare", "typeset", "local", "readonly", "export"})
BUILTINS: Final = DECLARES | {  # those whose words bash evaluates
    *("builtin", "command", "let", "read", "mapfile", "readarray", "unset", "printf", "wait", "getopts"),
    *("set", "test", "[", "eval", "source", "."),
}
RESERVED: Final = frozenset(
    {
        *("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "for", "select", "case"),
        *("function", "time", "coproc", "!", "{", "}", "[["),
    }
)
