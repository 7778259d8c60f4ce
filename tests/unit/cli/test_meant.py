"""Words that are no command lead to the command that was meant."""

from __future__ import annotations

import pytest

from amplihack.cli.main import main


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ("run x.yaml", "`amplihack recipe run x.yaml`"),
        ("run", "`amplihack recipe run`"),
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
        ("runs x.yaml", "`amplihack runs show x.yaml`"),
        ("recipe rnu", "did you mean 'run'?"),
        ("recipes", "did you mean 'recipe'?"),
        ("--color never", "flags stand behind the command"),
        ("zzz", "`amplihack --help` lists the commands"),
    ],
)
def test_the_fix_names_the_right_command(words: str, fix: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    assert fix in capsys.readouterr().err
