"""Examples for the help pages, by command. Loaded only when a page is shown; a test runs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from amplihack.cli.help_pages import FIRST_EXAMPLES, draw_examples

# The name of a command behind `amplihack`, or of a program; each example is what to type and what it does.
EXAMPLES: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "amplihack": FIRST_EXAMPLES,
    "amplihack recipe": (
        ("amplihack recipe run build.yaml --set target=dev", "run a recipe with a variable"),
        ("amplihack recipe check build.yaml", "look for mistakes without running anything"),
        ("amplihack recipe run --help", "all the flags of a verb"),
    ),
    "amplihack bundle": (
        ("amplihack bundle show", "what the bundle of this directory is made of"),
        ("amplihack bundle validate --strict", "fail on warnings too, for CI"),
        ("amplihack bundle why tools.tool-bash.config", "which file set a value"),
    ),
    "amplihack run": (
        ("amplihack run 'what is in this directory?'", "with the model that is set up here"),
        ("amplihack run 'what does it say?' < NOTES.md", "what is piped in comes with the prompt"),
        ("amplihack run --allow write_file --allow 'bash:git *' 'correct the typo'", "allow some tools"),
        ("amplihack run --bundle foundation --approval plan 'how would you do it?'", "change nothing"),
        ("amplihack run --model scripted:answers.yaml --json 'hello'", "the whole result, for programs"),
    ),
    "amplihack chat": (
        ("amplihack chat --model scripted:answers.yaml", "talk; /help shows what can be done"),
        ("amplihack chat --resume last --allow read_file", "go on with the newest session"),
    ),
    "amplihack session resume": (
        ("amplihack session resume last 'and why?'", "ask once more; an id or its beginning is as good"),
        ("amplihack session resume last --json 'and why?'", "the whole result, for programs"),
    ),
    "amplihack session": (
        ("amplihack session list", "what there is, the newest first"),
        ("amplihack session show", "what was said in the newest one"),
    ),
    "amplihack session list": (
        ("amplihack session list --limit 5", "the newest five"),
        ("amplihack session list --all --json", "those of agents as well, for programs"),
    ),
    "amplihack session show": (
        ("amplihack session show last", "the newest one; an id or its beginning is as good"),
        ("amplihack session show last --full", "with everything that tools were given and gave back"),
    ),
    "amplihack session fork": (
        ("amplihack session fork last", "go on from the same place in another direction"),
        ("amplihack session fork last --turn 1 --json", "from what was said up to a turn, for programs"),
    ),
    "amplihack session prune": (
        ("amplihack session prune --older-than 30d", "remove sessions that nobody used for a month"),
        ("amplihack session prune --keep 100", "remove all but the newest hundred"),
        ("amplihack session prune last", "remove one, with those of its agents"),
    ),
    "amplihack model": (
        ("amplihack model list", "what there is, and what is here"),
        ("amplihack model pull --help", "how to fetch one"),
    ),
    "amplihack model list": (("amplihack model list --json", "for programs"),),
    "amplihack model pull": (("amplihack model pull smollm2-135m", "fetch it, or go on fetching it"),),
    "amplihack model remove": (("amplihack model remove smollm2-135m", "make room again"),),
    "amplihack claude": (
        ("amplihack claude --version", "every word goes to the tool"),
        ("amplihack claude -- --help", "its own help page"),
    ),
    "amplihack copilot": (("amplihack copilot -- --help", "its own help page"),),
    "amplihack codex": (("amplihack codex --version", "every word goes to the tool"),),
    "amplihack update": (
        ("amplihack update --check", "whether there is a newer version, and how to get it"),
        ("amplihack update --check --json", "the same for programs"),
    ),
    "amplihack completions": (
        ("amplihack completions bash >> ~/.bashrc", "in every bash that starts from now on"),
        ("amplihack completions zsh > ~/_amplihack", "in zsh: put it into a directory of $fpath"),
        ("amplihack completions fish", "in fish: ~/.config/fish/completions/amplihack.fish"),
    ),
    "amplihack recipe new": (
        ("amplihack recipe new deploy", "write deploy.yaml, and a schema for your editor"),
        ("amplihack recipe new recipes/release.yaml", "in a directory of its own"),
    ),
    "amplihack recipe run": (
        ("amplihack recipe run build.yaml", "run a file"),
        ("amplihack recipe run build.yaml --set target=prod --set-file notes=NOTES.md", "give it variables"),
        ("amplihack recipe run build.yaml --help", "what it takes, with descriptions and defaults"),
        ("amplihack recipe run build.yaml --dry-run=deep", "show what would run"),
        ("amplihack recipe run build.yaml --include-tags fast --step-timeout 5m", "a part of it"),
        ("amplihack recipe run review.yaml --agent scripted:answers.yaml", "canned answers, for tests"),
        ("amplihack recipe run build.yaml --json > result.json", "the whole result, for programs"),
    ),
    "amplihack recipe list": (
        ("amplihack recipe list", "what can be run by name, from here"),
        ("amplihack recipe list -R recipes --all", "also a directory of yours, and what is shadowed"),
    ),
    "amplihack recipe validate": (
        ("amplihack recipe validate build.yaml review.yaml", "read two files"),
        ("amplihack recipe validate build.yaml --strict", "fail on warnings too, for CI"),
    ),
    "amplihack recipe check": (
        ("amplihack recipe check build.yaml", "look through one file"),
        ("amplihack recipe check recipes --strict", "a whole directory, and fail on warnings too"),
        ("amplihack recipe check build.yaml --sarif > findings.sarif", "for code scanning"),
    ),
    "amplihack recipe explain": (
        ("amplihack recipe explain build.yaml", "the steps in words"),
        ("amplihack recipe explain build.yaml --json", "the same for programs"),
    ),
    "amplihack recipe schema": (
        ("amplihack recipe schema > recipe.schema.json", "for an editor; docs/editors.md says how"),
    ),
    "amplihack recipe manifest": (
        ("amplihack recipe manifest recipes --update", "note the hashes of a directory's recipes"),
        ("amplihack recipe manifest recipes", "what has changed since then"),
    ),
    "amplihack recipe sync": (
        ("amplihack recipe sync", "compare with the public repository"),
        ("amplihack recipe sync --url https://example.com/recipes.git --branch main", "compare with another"),
    ),
    "amplihack bundle show": (
        ("amplihack bundle show", "the bundle of this directory"),
        ("amplihack bundle show ./bundle.md --plan", "the mount plan of a file, as JSON"),
        ("amplihack bundle show ./bundle.md --prompt", "the system prompt that it makes"),
    ),
    "amplihack bundle validate": (
        ("amplihack bundle validate", "the bundle of this directory"),
        ("amplihack bundle validate ./bundle.md --strict", "fail on warnings too, for CI"),
    ),
    "amplihack bundle why": (
        ("amplihack bundle why tools.tool-bash.config.timeout", "which file set a value"),
        ("amplihack bundle why 'Answer in one' --bundle ./bundle.md", "where a sentence comes from"),
    ),
    "amplihack bundle graph": (
        ("amplihack bundle graph", "who includes whom, as a Mermaid diagram"),
        ("amplihack bundle graph ./bundle.md --format svg > bundle.svg", "as a picture"),
    ),
    "amplihack bundle list": (
        ("amplihack bundle list", "the names that lead to a bundle here"),
    ),
    "amplihack bundle lock": (
        ("amplihack bundle lock", "write bundle.lock for the bundle of this directory"),
        ("amplihack bundle lock --offline", "the same from the cache alone"),
    ),
    "amplihack bundle status": (
        ("amplihack bundle status", "what differs from bundle.lock"),
        ("amplihack bundle status --offline", "without asking where the sources came from"),
    ),
    "amplihack bundle update": (
        ("amplihack bundle update", "fetch what is new for every source"),
    ),
    "amplihack bundle clean": (
        ("amplihack bundle clean --dry-run", "what would be removed from the cache"),
        ("amplihack bundle clean", "remove it"),
    ),
    "amplihack runs": (
        ("amplihack runs list", "the runs that are kept, newest first"),
        ("amplihack runs show last", "what happened in the newest one"),
        ("amplihack runs resume --help", "all the flags of a verb"),
    ),
    "amplihack runs list": (
        ("amplihack runs list --limit 10", "the newest ten"),
        ("amplihack runs list --status failed --json", "those that failed, for programs"),
    ),
    "amplihack runs show": (
        ("amplihack runs show", "the newest run: its steps, their output, time and cost"),
        ("amplihack runs show last --json", "the same for programs"),
        ("amplihack runs show last --html run.html", "a page to look at in a browser"),
    ),
    "amplihack runs tail": (
        ("amplihack runs tail", "follow the newest run until it ends, whoever runs it"),
    ),
    "amplihack runs resume": (
        ("amplihack runs resume", "go on with the newest run from where it was"),
        ("amplihack runs resume last --accept-changes", "with a recipe that was edited meanwhile"),
        ("amplihack runs resume last --detach", "in the background"),
    ),
    "amplihack runs approve": (
        ("amplihack runs approve", "let the newest run pass its gate"),
        ("amplihack runs approve last --stage build -m 'well done'", "one gate of several, with a word"),
    ),
    "amplihack runs deny": (
        ("amplihack runs deny last --message 'not today'", "end a run at its stage, for good"),
    ),
    "amplihack runs cancel": (
        ("amplihack runs cancel", "end the newest run with everything that it started"),
    ),
    "amplihack runs fork": (
        ("amplihack runs fork --from compile", "run the newest run again from a step on"),
        ("amplihack runs fork last --from compile --set target=prod", "with another value from there on"),
    ),
    "amplihack runs diff": (
        ("amplihack runs diff", "where the newest run differs from the one before it"),
        ("amplihack runs diff last last", "two runs by their names; ids are as good"),
    ),
    "amplihack runs prune": (
        ("amplihack runs prune --older-than 30d", "remove runs that ended more than a month ago"),
        ("amplihack runs prune --keep 100", "remove all but the newest hundred"),
    ),
    "amplihack agents": (
        ("amplihack agents", "the agents of this directory's bundle"),
        ("amplihack agents ./bundle.md --json", "of a file, for programs"),
    ),
    "amplihack install": (
        ("amplihack install --local framework --dry-run", "what staging a bundle of your own would do"),
        ("amplihack install --local framework", "stage it"),
        ("amplihack install history", "what was staged when"),
    ),
    "amplihack resolve-bundle-asset": (
        ("amplihack resolve-bundle-asset helper-path", "the helper that recipes call"),
        ("amplihack resolve-bundle-asset amplifier-bundle/recipes", "any other part, by its path"),
    ),
    "amplihack doctor": (
        ("amplihack doctor", "what is installed, and whether all is well"),
        ("amplihack doctor --fix", "put right what can be"),
    ),
    "amplihack uninstall": (
        ("amplihack uninstall --dry-run", "what would be removed"),
        ("amplihack uninstall", "remove it; files that you edited are kept"),
    ),
    "amplihack version": (
        ("amplihack version", "the version alone"),
        ("amplihack version --json", "what is staged, and which Python runs it"),
    ),
    "recipe-runner": (
        ("recipe-runner build.yaml -c target=dev", "run a file with a variable"),
        ("recipe-runner build.yaml --validate-only", "read it and report what is wrong"),
        ("recipe-runner list -R recipes", "what can be run by name"),
    ),
}  # fmt: skip


def examples(program: str) -> str:
    """Return the examples of a command as the last part of its help page."""
    rows = EXAMPLES.get(program, ())
    return draw_examples(rows) if rows else ""
