"""How rendering into bash grows with a script, as ratios within one run.

Run with `python benchmarks/templates.py`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from amplihack.errors import TemplateError
from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.templates.bash import read_script
from amplihack.recipes.templates.shell import ShellScript, render_shell
from amplihack.recipes.values import Value

BLOCK = """\
step() {
  # what {{name}} means here: it's a comment
  local dir="${1:-$HOME}" count=$(( 1 << 2 ))
  if [[ "$dir" == /tmp/* && $count -gt 3 ]]; then
    case "$dir" in *.log) echo 'a log';; (*) echo "$(basename "$dir")" ;; esac
  fi
  printf '%s\\n' "item {{name}}" | sed -e 's/a/b/' > "$dir/out"
  cat <<EOF
Dear {{user.name}}, `date` and ${dir:-nothing}
EOF
  cat <<'PY'
print("{{name}}")
PY
}
"""
FILLER = "  echo \"plain $PATH line\" 'with quotes' >/dev/null 2>&1 || true  # and a comment\n"
SCOPE: dict[str, Value] = {"name": "it's a name", "user": {"name": "U"}}

# Shapes in which a careless reader looks at the same text again and again.
SHAPES: dict[str, Callable[[int], str]] = {
    "backticks": lambda n: "{{x}} " + "`a` " * n,
    "commands in backticks": lambda n: "`" + "a {{x}};" * n + "`",
    "double parentheses": lambda n: "{{x}} " + "((1)) ; " * n,
    "substitutions": lambda n: "{{x}} " + '"$(a "$(b)")" ' * n,
    "one long word": lambda n: "a'b'\"c\"" * n + "{{x}}",
    "one long command": lambda n: "a " * n + "{{x}}",
    "comments": lambda n: "# {{x}}\n" * n,
    "quoted heredocs": lambda n: "cat <<'E'\n{{x}}\nE\n" * n,
    "heredoc of many lines": lambda n: "cat <<E\n" + "{{x}} $(a)\n" * n + "E\n",
    "placeholders side by side": lambda n: "{{x}}" * n,
    "heredocs on one line": lambda n: "cat" + " <<E" * n + "\n" + "{{x}}\nE\n" * n,
    "a long pipeline": lambda n: "a {{x}} | " * n + "bash",
    "blocks": lambda n: "{ a {{x}}; } | sh; " * n,
    "outputs in arithmetic": lambda n: "echo $(( $(a {{x}}) ))\n" * n,
    "variables that are evaluated": lambda n: (
        "".join(f"a{i}=$a{i + 1}; " for i in range(n)) + "((a0)); a={{x}}"
    ),
    "unclosed": lambda n: "{{x}} " + "a[ " * n,
}


def script(kilobytes: int) -> str:
    """About so many kB, with a placeholder for every 700 bytes."""
    block = BLOCK + FILLER * 28
    return block * (kilobytes * 1024 // len(block))


def render(text: str) -> ShellScript | None:
    with suppress(TemplateError):
        return render_shell(text, SCOPE, token=lambda: "T")
    return None


def best(work: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    sizes = {size: script(size) for size in (35, 70, 140, 280)}
    times = {size: best(partial(render, text)) for size, text in sizes.items()}
    print(f"{'script':<12}{'placeholders':>14}{'ms':>10}{'ratio to half':>16}")
    for size, text in sizes.items():
        half = f"{times[size] / times[size // 2]:.2f}" if size // 2 in times else "-"
        print(f"{size:>4} kB{'':<5}{len(find_placeholders(text)):>14}{times[size] * 1000:>10.2f}{half:>16}")
    baseline = best(partial(re.findall, r"[a-zA-Z0-9_]+|.", sizes[140], re.DOTALL))
    ratio = best(partial(read_script, sizes[140])) / baseline
    print(f"\nreading 140 kB, compared with one regular expression that splits it into tokens: {ratio:.1f}x")
    print(f"\n{'shape':<30}{'twice the size takes':>24}")
    for name, shape in SHAPES.items():
        growth = best(partial(render, shape(8_000))) / best(partial(render, shape(4_000)))
        print(f"{name:<30}{growth:>23.2f}x")


if __name__ == "__main__":
    main()
