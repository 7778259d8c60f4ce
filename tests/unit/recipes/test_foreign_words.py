from __future__ import annotations

import pytest

from amplihack.recipes.decode import decode_text
from amplihack.recipes.fields import TABLES
from amplihack.recipes.foreign_words import _WORDS, instead_of

HOLDERS = {
    "step": "name: n\nsteps:\n- {{id: a, command: ls, {word}: x}}\n",
    "stage": "name: n\nstages:\n- {{name: s, {word}: x, steps: [{{id: a, command: ls}}]}}\n",
    "recipe": "name: n\n{word}: x\nsteps: [{{id: a, command: ls}}]\n",
}


@pytest.mark.parametrize(
    ("table", "word", "ours"),
    [
        ("step", "if", "`condition:`"),
        ("step", "when", "`condition:`"),
        ("step", "unless", "the opposite"),
        ("step", "needs", "`depends_on:"),
        ("step", "depends", "`depends_on:"),
        ("step", "dependsOn", "`depends_on:`"),
        ("step", "depends-on", "`depends_on:`"),
        ("step", "run", "`command:`"),
        ("step", "script", "`command:`"),
        ("step", "shell", "`command:`"),
        ("step", "uses", "`recipe:`"),
        ("step", "with", "`context:`"),
        ("step", "continue-on-error", "`continue_on_error:`"),
        ("step", "continueOnFail", "`on_error: continue`"),
        ("step", "allow_failure", "`on_error: continue`"),
        ("step", "ignore_errors", "`on_error: continue`"),
        ("step", "approval_required", "`approval:"),
        ("step", "matrix", "`foreach:`"),
        ("step", "loop", "`foreach:`"),
        ("step", "with_items", "`foreach:`"),
        ("step", "withParam", "`foreach:`"),
        ("step", "register", "`output:`"),
        ("step", "tags", "`when_tags:`"),
        ("step", "retries", "`retry:"),
        ("step", "timeout-minutes", "`timeout:`"),
        ("step", "working-directory", "`working_dir:`"),
        ("step", "disabled", "`condition: false`"),
        ("step", "else", "opposite `condition:`"),
        ("step", "finally", "`on_error: continue`"),
        ("stage", "if", "`condition:`"),
        ("stage", "when", "`condition:`"),
        ("stage", "needs", "`depends_on:"),
        ("stage", "approval_required", "`approval:"),
        ("stage", "tasks", "`steps:`"),
        ("recipe", "jobs", "`steps:`"),
        ("recipe", "on", "when somebody starts it"),
        ("recipe", "env", "`context:`"),
        ("recipe", "if", "`condition:` on the steps"),
        ("recipe", "approval", "`approval:"),
    ],
)
def test_a_word_of_another_tool_is_an_error_that_names_ours(table: str, word: str, ours: str) -> None:
    (problem,) = decode_text(HOLDERS[table].format(word=word)).problems
    assert (problem.code, problem.severity) == ("foreign-word", "error")
    assert f"'{word}'" in problem.what
    assert ours in problem.fix


@pytest.mark.parametrize("table", sorted(_WORDS))
def test_no_word_of_ours_is_called_foreign(table: str) -> None:
    assert _WORDS[table].keys() & TABLES[table].known.keys() == set()


def test_a_step_body_is_read_with_the_same_words() -> None:
    text = "name: n\nsteps: [{id: l, foreach: [1], steps: [{id: a, command: ls, if: x}]}]"
    assert [problem.code for problem in decode_text(text).problems] == ["foreign-word"]


def test_other_unknown_fields_stay_warnings() -> None:
    (problem,) = decode_text("name: n\nsteps: [{id: a, command: ls, tmeout: 3, x-if: y}]").problems
    assert (problem.code, problem.severity) == ("unknown-field", "warning")
    assert instead_of("tmeout", "step", frozenset()) is None


def test_until_is_a_note_for_readers_and_says_so() -> None:
    (problem,) = decode_text("name: n\nsteps: [{id: a, command: ls, until: done}]").problems
    assert (problem.code, problem.severity) == ("no-effect", "warning")
    assert "`break_when:`" in problem.fix
