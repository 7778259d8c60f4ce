"""Words that are no command lead to the command that was meant."""

from __future__ import annotations

import pytest

from amplihack.cli.main import main


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ("run x.yaml", "`amplihack recipe run x.yaml`"),
        ("x.yaml", "`amplihack recipe run x.yaml`"),
        ("./x", "`amplihack recipe run ./x`"),
        ("recipe x.yml", "`amplihack recipe run x.yml`"),
        ("check x.yaml", "`amplihack recipe check x.yaml`"),
        ("validate b.md", "`amplihack recipe validate b.md`, or `amplihack bundle validate b.md`"),
        ("b.md", "`amplihack bundle show b.md`"),
        ("bundle b.md", "`amplihack bundle show b.md`"),
        ("recipe deploy", "`amplihack recipe run deploy` if that is the name of a recipe"),
        ("runs 2phaek-sqwqa", "`amplihack runs show 2phaek-sqwqa` if that is the id of a run"),
        ("bundle mine", "`amplihack bundle show mine` if that is the name of a bundle"),
        ("runs x.yaml", "`amplihack recipe run x.yaml`"),
        ("session x.yaml", "`amplihack recipe run x.yaml`"),
        ("session continue", "`amplihack session resume`"),
        ("session nope", "`amplihack session show nope` if that is the id of a session"),
        ("model show x", "`amplihack model list x`"),
        ("model nope", "`amplihack model pull nope` if that is the name of a model"),
        ("model x.md", "`amplihack bundle show x.md`"),
        ("bundle check b.md", "`amplihack bundle validate b.md`"),
        ("bundle add git+https://example.com/x", "`bundle: {added: …}`"),
        ("recipe run smart-orchestrator task", "a value for the recipe is given with --set NAME=VALUE"),
        ("recipe run a.yaml b.yaml", "it takes one RECIPE: run it once for each"),
        ("recipe --version", "`amplihack --version`"),
        ("recipe run --version", "`amplihack --version`"),
        ("recipe run x.yaml --version", "`amplihack --version`"),
        ("recipe run -f x.yaml", "it stands alone: `amplihack recipe run x.yaml`"),
        ("recipe check --file x.yaml", "it stands alone: `amplihack recipe check x.yaml`"),
        ("bundle show --bundle b.md", "it stands alone: `amplihack bundle show b.md`"),
        ("runs show --run last", "it stands alone: `amplihack runs show last`"),
        ("completions --shell bash", "it stands alone: `amplihack completions bash`"),
        ("run -p hi", "it stands alone: `amplihack run hi`"),
        ("run hi -b mine", "did you mean --bundle?"),
        ("run hi --agent claude", "agent tools answer the agent steps of recipes"),
        ("run list", "`amplihack runs list`"),
        ("recipe rnu", "did you mean 'run'?"),
        ("recipes", "did you mean 'recipe'?"),
        ("--color never", "flags stand behind the command"),
        ("recipe --dry-run x.yaml", "`amplihack recipe run --dry-run x.yaml`"),
        ("recipe --json list", "`amplihack recipe list --json`"),
        ("lint x.yaml", "`amplihack recipe check x.yaml`"),
        ("exec x.yaml", "`amplihack recipe run x.yaml`"),
        ("init mine", "`amplihack recipe new mine`"),
        ("recipe create mine", "`amplihack recipe new mine`"),
        ("runs stop", "`amplihack runs cancel`"),
        ("recipe lint x.yaml", "`amplihack recipe check x.yaml`"),
        ("recipe show x.yaml", "`amplihack recipe explain x.yaml`"),
        ("recipe ls", "`amplihack recipe list`"),
        ("runs ls", "`amplihack runs list`"),
        ("runs rm x", "`amplihack runs prune --help`"),
        ("model delete smollm2-135m", "`amplihack model remove smollm2-135m`"),
        ("-v", "`amplihack --version`"),
        ("logs", "`amplihack runs show`"),
        ("zzz", "`amplihack --help` lists the commands"),
    ],
)
def test_the_fix_names_the_right_command(words: str, fix: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    assert fix in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("help", "usage: amplihack <command>"),
        ("help recipe", "usage: amplihack recipe <verb>"),
        ("recipe help", "usage: amplihack recipe <verb>"),
        ("help recipe run", "usage: amplihack recipe run RECIPE"),
        ("recipe help run", "usage: amplihack recipe run RECIPE"),
        ("help doctor", "usage: amplihack doctor"),
        ("runs --help show", "usage: amplihack runs show [RUN]"),
        ("runs -h", "usage: amplihack runs <verb>"),
        ("--help recipe run", "usage: amplihack recipe run RECIPE"),
        ("-h recipe", "usage: amplihack recipe <verb>"),
        ("--help --json", "usage: amplihack <command>"),
    ],
)
def test_help_may_be_a_word(words: str, page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 0
    assert capsys.readouterr().out.startswith(page)
