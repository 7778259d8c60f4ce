"""List programs that take code: by which words, by which options, in which language."""

from __future__ import annotations

import re

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.launchers import LAUNCHERS

EVALUATES = frozenset(
    """
    alias bind clush compgen complete concurrently eval fc hyperfine parallel parallel-ssh pdsh pssh trap
    watch
    """.split()  # noqa: SIM905 - a table of names, not code
)
# Their options whose argument, in the next word, is no code.
EVALUATES_OPTIONS = {
    **dict.fromkeys(("clush", "pdsh"), "-w -x -g -X -f -l -t -u -o -R -S -N"),
    **dict.fromkeys(("parallel-ssh", "pssh"), "-h --hosts -H --host -l --user -p --par -o -e -t -O -x -X"),
    "concurrently": "-n --names -m --max-processes -c --prefix-colors -p --prefix",
    "hyperfine": "-n --command-name -w --warmup -r --runs -m --min-runs -M --max-runs -i -S --shell"
    " -t --time-unit --export-json --export-csv --export-markdown",
    "parallel": "-j --jobs -P -n -N -L -l -s -d -I -a --arg-file --delay --timeout --joblog --results"
    " --colsep --retries --memfree --load --tmpdir --workdir --wd --tagstring -S --sshlogin --env --halt"
    " --max-args",
    "watch": "-n --interval",
}
PARALLEL_ARGUMENTS = (":::", ":::+", "::::", "::::+")  # what follows is data, which `parallel` quotes
SOURCES = ("source", ".")
# Commands that run the command in their arguments: an interpreter may stand anywhere behind them.
WRAPPERS = frozenset(
    """
    autossh bwrap docker docker-compose find kubectl lxc nerdctl nsenter oc parallel plink podman script ssh
    su watch
    """.split()  # noqa: SIM905 - a table of names, not code
).union(name for name, launcher in LAUNCHERS.items() if not launcher.behind)
# Options whose argument a shell reads. Patterns are compiled when a script needs them.
CODE_OPTION = {
    **dict.fromkeys(("cmd", "cmd.exe"), r"/[cCkK]"),
    **dict.fromkeys(("docker", "nerdctl", "podman"), r"--health-cmd"),
    **dict.fromkeys(("gnome-terminal", "konsole"), r"-e|--command"),
    "ansible": r"-a|--args",
    "az": r"--scripts",
    "entr": r"-[a-z]*s",
    "env": r"-[a-zA-Z0]*S|--split-string",
    "flock": r"-c|--command",
    "fly": r"-C|--command",
    "fzf": r"--preview|--bind",
    "gcloud": r"--command",
    "clone": r"-u",
    "difftool": r"-x",
    "git": r"--exec|--extcmd|--open-files-in-pager|--upload-pack|--receive-pack|--[a-z]+-filter",
    "nix-shell": r"--run|--command",
    "enable": r"-[a-z]*f",
    "gdb": r"-ex|--eval-command|-eval-command",
    "hash": r"-[a-z]*p",
    "history": r"-[a-z]*s",
    "man": r"-P|--pager",
    "nc": r"-[a-z]*[ce]",
    "ncat": r"-[a-z]*[ce]|--sh-exec|--exec",
    "nodemon": r"-x|--exec",
    **dict.fromkeys(("npm", "npx"), r"--call"),
    **dict.fromkeys(("ex", "gvim", "nvim", "vi", "vim"), r"-c|--cmd|\+"),
    "gmake": r"--eval",
    "make": r"--eval",
    "nix": r"-c|--command",
    "split": r"--filter",
    "zip": r"-TT|--unzip-command",
    "socat": r"(?i:EXEC|SYSTEM|SHELL):",
    "rebase": r"-x",
    "rg": r"--pre",
    "rsync": r"-[a-zA-Z]*e|--rsh|--rsync-path",
    "runuser": r"-[a-z]*c|--(?:session-)?command",
    "script": r"-[a-z]*c|--command",
    "sg": r"-c",
    "sort": r"--compress-program",
    "su": r"-[a-z]*c|--(?:session-)?command",
    "tar": r"-I|--use-compress-program|--to-command|--checkpoint-action=exec",
    "vagrant": r"-c|--command",
    "watchman-make": r"--run",
    "xterm": r"-e",
}
# Words of a command behind which a shell reads all others.
CODE_BEHIND = {
    "adb": r"shell",
    "gh": r"alias",
    "git": r"foreach",
    "heroku": r"run",
    "husky": r"add|set",
    "minikube": r"ssh",
    "salt": r"cmd\.(?:run|run_all|shell)",
    "screen": r"stuff|exec",
    "tmux": r"new(?:-session|-window)?|neww|split-window|splitw|respawn-(?:pane|window)|send(?:-keys)?"
    r"|run(?:-shell)?|if(?:-shell)?|pipe-pane|display-popup|popup",
    "zellij": r"write-chars",
}
# Options among those words whose argument is none of them.
CODE_BEHIND_OPTIONS = {"tmux": "-s -t -n -c -x -y -e -F -f"}
# A word that is a setting, and whose value a shell reads.
CODE_SETTING = {
    "npm": r"scripts\.[^=]*",
    "cmake": r"(?:-D)?CMAKE_\w*(?:COMPILER|EMULATOR|LAUNCHER|LINKER|MAKE_PROGRAM)(?::\w+)?",
    "aws": r"commands",
    "git": r"(?i:alias\.[^=]*"
    r"|(?:core|sequence)\.(?:sshcommand|pager|editor|fsmonitor|askpass|gitproxy|hookspath|alternaterefscommand)"
    r"|remote\.[^=]*\.(?:uploadpack|receivepack)|uploadpack\.packobjectshook|init\.templatedir|imap\.tunnel"
    r"|sendemail\.(?:[^=]*\.)?(?:to|cc|header)cmd|gpg\.ssh\.defaultkeycommand|submodule\.[^=]*\.update"
    r"|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?program|interactive\.difffilter|pager\.[^=]*"
    r"|(?:browser|diff|difftool|filter|guitool|hook|man|merge|mergetool|tar|trailer)\.(?:[^=]*\.)?"
    r"(?:command|cmd|driver|clean|smudge|process|textconv|external))",
    "make": r"[A-Za-z_][A-Za-z0-9_.]*[:+?!]*",
    "gmake": r"[A-Za-z_][A-Za-z0-9_.]*[:+?!]*",
    "ssh": r"(?:-o)?(?i:ProxyCommand|LocalCommand|RemoteCommand|KnownHostsCommand)",
}
CODE_NAMES = frozenset((*CODE_OPTION, *CODE_BEHIND, *CODE_SETTING))
_TOLD_BY_WORDS = CODE_NAMES.union(name for name, launcher in LAUNCHERS.items() if launcher.behind)
CODE_TAKERS = frozenset(
    {"autossh", "concurrently", "crontab", "hyperfine", "parallel", "plink", "ssh", "watch"}
)  # behind a wrapper
SSH = frozenset({"autossh", "plink", "ssh"})
SSH_WITH_ARGUMENT = "BbcDEeFIiJLlmOopQRSWw"
BOUNDARY = r"(?:^|[^A-Za-z0-9_.])"
TOOLS = (
    r"(?:r?ba|da|r?k|z|a|fi|mk|pdk|t?c|ya|po|o|elvi|xon)?sh|nu|pwsh|i?python|pypy|node|nodejs|deno|bun|perl|raku|ruby|php|lua|luajit|Rscript|julia"
    r"|osascript|powershell|psql|mysql|mariadb|sqlite3?|duckdb|clickhouse-client|expect|tclsh|mongo(?:sh)?|emacs|gnuplot"
    r"|octave|elixir|groovy|scala|ghci|dc|irb|jshell|guile|sbcl|racket|clisp|clojure|clj|emacsclient|iex|ocaml"
    r"|runghc|tsx|coffee|qjs|cqlsh|hive|beeline|spark-sql|trino"
)
INTERPRETER = pattern(
    rf"{BOUNDARY}(?P<name>{TOOLS}|[gm]?awk|[jy]q|g?sed)[0-9.]*\}}?$"
    r"|^\$\{?(?:[A-Z0-9_]*_)?(?P<variable>SHELL|BASH|SH|PYTHON|NODE|PERL|RUBY|AWK|JQ|SED)[0-9]*\}?$"
    r"|^(?P<self>\$\{?(?:0|BASH_ARGV0)\}?|/proc/[^/]+/exe)$"
)
# The same behind a command that nobody here knows: `uv run python -c`, `aws-vault exec me -- bash -c`.
INNER = pattern(rf"{BOUNDARY}(?:{TOOLS})[0-9.]*[ \t]+(?:-|eval)")
_BEFORE_CODE = (" -", "\t-", " eval", "\teval")  # without one of these, there is no such tool
WORD = pattern(r"[A-Za-z0-9_.-]+")
GLOB = pattern(r"[*?\[]")
SHELLS = frozenset(
    """
    ash bash csh dash elvish fish ksh mksh nu osh pdksh posh powershell pwsh rbash rksh sh shell tcsh xonsh
    yash zsh
    """.split()  # noqa: SIM905 - a table of names, not code
)
# Names under which a language is known here; others are their own.
LANGUAGES = {
    **dict.fromkeys(SHELLS, "bash"),
    **dict.fromkeys(("gawk", "mawk"), "awk"),
    **dict.fromkeys(("nodejs", "deno", "bun", "tsx", "coffee", "qjs"), "node"),
    **dict.fromkeys(("psql", "mysql", "mariadb", "sqlite", "sqlite3", "duckdb", "clickhouse-client"), "SQL"),
    **dict.fromkeys(("cqlsh", "hive", "beeline", "spark-sql", "trino"), "SQL"),
    **dict.fromkeys(("expect", "tclsh"), "Tcl"),
    **dict.fromkeys(("emacs", "emacsclient", "guile", "sbcl", "racket", "clisp", "clojure", "clj"), "Lisp"),
    "iex": "elixir",
    "irb": "ruby",
    "jshell": "Java",
    "ocaml": "OCaml",
    "runghc": "Haskell",
    **dict.fromkeys(("mongo", "mongosh"), "node"),
    "Rscript": "R",
    "gsed": "sed",
    "luajit": "lua",
    "osascript": "AppleScript",
    "ghci": "Haskell",
    **dict.fromkeys(("ipython", "pypy"), "python"),
    "raku": "perl",
}
# Databases that take code behind the file, and their options with an argument.
CODE_BEHIND_FILE = dict.fromkeys(
    ("sqlite", "sqlite3", "duckdb"),
    ("-cmd", "-init", "-separator", "-nullvalue", "-newline", "-mode", "-c", "-f"),
)
# Commands that show their words: what looks like a command behind them is text.
SHOWS = frozenset({"echo", "grep", "printf"})
# Programs whose words are data to them, told at once: the expression for interpreters takes long to compile.
TAKE_DATA = SHOWS | frozenset(
    "cat cp cut date diff head ls mkdir mv rm rmdir sleep sort tail tee touch tr true uniq wc".split()  # noqa: SIM905
)
COPIES = frozenset({"cp", "install", "ln", "mv", "rsync"})  # files, to the last of their words
# Commands with another meaning of `-o`, and compilers, whose words are no text of what they write.
NO_OUTPUT = frozenset(
    """
    [ bash c++ cargo cc clang clang++ expr find g++ gcc getopt ghc go grep javac ld lsblk mount nim ps rustc
    set sh ssh test tsc zig
    """.split()  # noqa: SIM905 - a table of names, not code
)
# Programs that run a file of their own: the option that names another one, and what it is called without.
OWN_FILES = {
    **dict.fromkeys(("at", "batch"), (r"-f", "")),
    "crontab": ("", ""),
    "just": (r"-f|--justfile", "justfile Justfile .justfile"),
    **dict.fromkeys(("make", "gmake"), (r"-f|--file|--makefile", "Makefile makefile GNUmakefile")),
}
# Languages by the endings of files, if nothing else tells.
ENDINGS = {
    **dict.fromkeys(("bash", "sh", "zsh"), "bash"),
    **dict.fromkeys(("cjs", "js", "mjs", "ts"), "node"),
    "php": "php",
    "pl": "perl",
    "py": "python",
    "rb": "ruby",
}
# Files that shells, cron and git run by themselves.
RUN_BY_OTHERS = pattern(
    r"(?:^|/)\.(?:(?:bash|zsh?|k?sh|x)_?(?:rc|profile|env|login|logout|aliases)|profile|envrc)$"
    r"|^/etc/(?:profile|bash\.bashrc|cron)|(?:^|/)(?:\.git/hooks|\.husky)/"
)
# Languages whose programs stand in a file behind an option, and in no operand.
FILE_BEHIND_OPTION = {
    "SQL": r"-f|--file|-init",
    "awk": r"-f|--file",
    "jq": r"-f|--from-file",
    "sed": r"-f|--file",
    "yq": r"--from-file",
}
CALLS_BACK = frozenset({"mapfile", "readarray"})
MAY_EXECUTE = WRAPPERS | EVALUATES | SHELLS | CALLS_BACK
RUNS_INPUT = frozenset({"at", "batch", "crontab", "parallel"})
MAY_RUN_INPUT = MAY_EXECUTE | RUNS_INPUT
STANDARD_INPUT = frozenset({"-", "-s", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
PROGRAM_OPTION = {
    **dict.fromkeys(("AppleScript", "R", "Haskell", "dc", "elixir", "gnuplot", "groovy", "scala"), r"-e"),
    "Lisp": r"--?eval|-[cex]",
    "OCaml": r"-e",
    "SQL": r"-[A-Za-z]*[ce]|--command|--execute|--query|-cmd",
    "Tcl": r"-c",
    "bash": r"-[a-zA-Z]*c|--(?:init-)?command|-Command",
    "julia": r"-[eE]|--eval|--print",
    "lua": r"-e",
    "node": r"-p?e|-p|--eval|--print|eval",
    "octave": r"--eval",
    "php": r"-r|--run",
    "python": r"-[A-Za-z]*c",
    "perl": r"-[a-zA-Z0-9]*[eE]",
    "ruby": r"-[a-z]*e",
    "sed": r"-[nErsiz]*e|--expression",
}
# Options with an argument that may stand before the file of a program, behind which all options are its own.
OPTIONS_BEFORE_FILE = {
    "bash": r"[-+][a-zA-Z]*[oO]|--rcfile|--init-file",
    "node": r"-r|--require|--import|--loader",
    "perl": r"-[IMm]",
    "php": r"-d|-c",
    "python": r"-[WX]",
    "ruby": r"-[Ir]",
}
PROGRAM_FIRST = {
    "awk": {"-v": 1, "-F": 1, "-f": 1},
    "jq": {"--arg": 2, "--argjson": 2, "--slurpfile": 2, "--rawfile": 2, "--indent": 1, "-f": 1, "-L": 1},
    "sed": {"-f": 1, "-l": 1},
    "yq": {"-o": 1, "-p": 1, "-I": 1, "--arg": 2, "--argjson": 2, "--from-file": 1},
}
YQ_COMMANDS = ("e", "ea", "eval", "eval-all")
# Programs of which a sub-command, or an option of one, takes code: the words before it.
_ANY = r"(?: \S+)*? "
CODE_BEHIND_WORDS = {
    "Erlang": rf"erl{_ANY}-eval",
    "Haskell": rf"ghc{_ANY}-e",
    "Lisp": rf"(?:bb|fennel|janet){_ANY}(?:-e|--eval)",
    "R": rf"R{_ANY}-e",
    "SQL": rf"sqlcmd{_ANY}-[qQ]|snowsql{_ANY}(?:-q|--query)|bq{_ANY}query(?: --\S+=\S+| --(?:no)?use_\w+)*"
    rf"|influx{_ANY}-execute|cypher-shell(?: -\S+ \S+)*",
    "crystal": r"crystal eval",
    "elixir": rf"mix (?:run|eval)(?:{_ANY}(?:-e|--eval))?",
    "kotlin": rf"kotlin{_ANY}(?:-e|-expression)",
    "lua": rf"(?:redis|valkey)-cli{_ANY}(?i:eval)",
    "nix": rf"nix(?:-\w+)?{_ANY}(?:-E|--expr)",
    "php": rf"wp{_ANY}eval|drush{_ANY}(?:ev|eval|php:eval|php-eval)"
    rf"|(?:php )?\S*artisan tinker{_ANY}--execute",
    "python": r"(?:\S+ )?(?:\S*/)?"
    rf"(?:manage\.py|django-admin){_ANY}shell(?:_plus)?{_ANY}(?:-c|--command)",
    "ruby": rf"rails{_ANY}(?:runner|r)(?: -e \S+| --\S+=\S+)*",
    "swift": rf"swift{_ANY}-e",
}
# The same for programs that read code from their input.
INPUT_BEHIND_WORDS = {
    "R": r"R(?: --?\S+)*",
    "SQL": r"(?:sqlcmd|snowsql|cypher-shell|influx|mysqlsh)(?: .*)?|bq(?: \S+)*? query(?: --\S+)*",
    "php": r"(?:php )?\S*artisan tinker|wp(?: \S+)*? shell",
    "python": r"(?:\S+ )?(?:\S*/)?(?:manage\.py|django-admin)(?: \S+)*? shell(?:_plus)?(?: -\S+)*"
    r"|(?:python\S* -m )?flask(?: \S+)*? shell",
    "ruby": r"(?:\S*/)?rails (?:console|c)(?: -\S+| \w+)*",
}
INPUT_BEHIND_NAMES = frozenset(
    "R artisan bq cypher-shell django-admin flask influx manage.py mysqlsh rails snowsql sqlcmd wp".split()  # noqa: SIM905
)
CODE_BEHIND_NAMES = frozenset(
    """
    artisan bb bq crystal cypher-shell django-admin drush erl fennel ghc influx janet kotlin manage.py mix nix
    nix-build nix-instantiate nix-shell R rails redis-cli snowsql sqlcmd swift valkey-cli wp
    """.split()  # noqa: SIM905 - a table of names, not code
)


# What may write a file in a plain script, and what may run one.
_WRITES = pattern(
    r"(?:^|\s)(?:tee|sponge|dd|wget|patch|ed|ex|n?vim?|cp|mv|ln|rsync|install|apply|am|clone|bsdtar|g?tar|unzip"
    r"|-\w*[oOi]\S*|-out|--out\S*|--in-place)(?=[\s;&|]|\Z)"
)
_RUNS = pattern(
    rf"(?:^|[\n;&|])\s*(?:\S*/|\S+\.(?:{'|'.join(ENDINGS)})\s|chmod\s|install\s|(?:{'|'.join(OWN_FILES)})\b)"
    r"|/\.|\s\.\w|/etc/"
)


def may_run_files(text: str) -> bool:
    """Tell whether a plain script may run a file that it writes, or write one that others run."""
    return _WRITES.search(text) is not None and _RUNS.search(text) is not None


def may_hold_code(text: str) -> bool:
    """Tell whether a word of a plain script, whose quotes are removed, may be code because of other words."""
    if any(each in text for each in _BEFORE_CODE) and INNER.search(text):
        return True
    names = set(WORD.findall(text))
    return not names.isdisjoint(CODE_BEHIND_NAMES | INPUT_BEHIND_NAMES) or any(
        re.search(_code_pattern(name), text) for name in names & _TOLD_BY_WORDS
    )


def _code_pattern(name: str) -> str:
    """Return a pattern for what begins a word that a command with that name takes for code."""
    ending = r"[=\s]" if name == "git" else "="  # `git config` takes it in two words
    setting = f"(?:{CODE_SETTING[name]}){ending}" if name in CODE_SETTING else None
    behind = LAUNCHERS[name].behind if name in LAUNCHERS else None
    whole = r"-c\s+\{\{|ext::" if name == "git" else None
    parts = (CODE_OPTION.get(name), CODE_BEHIND.get(name), setting, behind, whole)
    return rf"\s(?:{'|'.join(part for part in parts if part)})"


def takes_data(name: str) -> bool:
    """Tell whether no word and no input of a command with that name is code."""
    return name in TAKE_DATA or is_no_interpreter(name)


def is_no_interpreter(name: str) -> bool:
    """Tell the same by the tables and the expression alone."""
    last = name.rpartition("/")[2]
    return last not in MAY_RUN_INPUT and name not in SOURCES and not INTERPRETER.search(name)
