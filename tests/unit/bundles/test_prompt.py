from __future__ import annotations

from tests.unit.bundles.world import World, bundle, decoded

from amplihack.bundles.compose import compose_includes
from amplihack.bundles.context_files import resolve_context
from amplihack.bundles.mentions import MentionScope
from amplihack.bundles.model import Bundle
from amplihack.bundles.prompt import Stamp, assemble, is_current, why_sentence


def world() -> World:
    return World(
        {
            "/w/guide.md": "The guide.\nIt has a second line.",
            "/b/context/rules.md": "The rules, see @more.md.",
            "/b/context/more.md": "More rules.",
        }
    )


def whole(root: str = "---\nbundle: {name: w}\n---\nYou help.\n\n@guide.md\n") -> Bundle:
    behavior = bundle(
        "bundle: {name: b}\ncontext:\n  include: [context/rules.md, gone.md]\n", "/b/bundle.yaml"
    )
    return resolve_context(compose_includes(decoded(root, "/w/bundle.md").bundle, [behavior])).bundle


SCOPE = MentionScope({"b": "/b"}, ("/w",))


def stamps(files: World) -> dict[str, Stamp]:
    return {path: (1, len(text)) for path, text in files.files.items()}


def test_the_instruction_comes_first_then_its_mentions_then_declared_context() -> None:
    prompt = assemble(whole(), SCOPE, world(), stamps(world()).get)
    assert prompt.text == "\n".join(
        [
            "You help.",
            "",
            "@guide.md",
            "",
            "---",
            "",
            '<context_file paths="@guide.md → /w/guide.md">',
            "The guide.",
            "It has a second line.",
            "</context_file>",
            "",
            "# Context: b:context/rules.md",
            "",
            '<context_file paths="/b/context/rules.md">',
            "The rules, see @more.md.",
            "</context_file>",
            "",
            '<context_file paths="@more.md → /b/context/more.md">',
            "More rules.",
            "</context_file>",
        ]
    )
    assert [(each.mention, each.reason) for each in prompt.failures] == [(None, "not_found")]


def test_a_prompt_stays_current_until_a_file_changes_or_appears() -> None:
    files = world()
    prompt = assemble(whole(), SCOPE, files, stamps(files).get)
    now = {path: stamps(files).get(path) for path in prompt.stamps}
    assert is_current(prompt, whole(), now)
    assert not is_current(prompt, whole(), {**now, "/w/guide.md": (2, 30)})
    assert now["/b/gone.md"] is None
    assert not is_current(prompt, whole(), {**now, "/b/gone.md": (1, 1)})
    assert not is_current(prompt, whole("Another text."), now)


def test_a_mention_without_a_file_is_watched() -> None:
    prompt = assemble(decoded("@later.md", "/w/bundle.md").bundle, SCOPE, world(), stamps(world()).get)
    assert prompt.stamps["/w/later.md"] is None


def test_context_files_are_not_followed_when_the_bundle_says_so() -> None:
    quiet = bundle(
        "bundle: {name: b}\ncontext:\n  expand: false\n  include: [context/rules.md]\n", "/b/bundle.yaml"
    )
    prompt = assemble(quiet, SCOPE, world(), stamps(world()).get)
    assert "More rules" not in prompt.text


def test_a_bundle_with_nothing_to_say_has_an_empty_prompt() -> None:
    assert assemble(Bundle(), SCOPE, world(), stamps(world()).get).text == ""


def test_a_sentence_is_traced_to_its_file_and_line() -> None:
    composed = whole()
    prompt = assemble(composed, SCOPE, world(), stamps(world()).get)
    (guide,) = why_sentence(composed, prompt, "It has a  second line.")
    assert (guide.file, guide.line, guide.bundle) == ("/w/guide.md", 2, "w")
    (nested,) = why_sentence(composed, prompt, "More rules.")
    assert (nested.file, nested.bundle, nested.via) == ("/b/context/more.md", "b", ("w", "b"))
    (own,) = why_sentence(composed, prompt, "You help.")
    assert (own.file, own.line) == ("/w/bundle.md", 4)
    assert why_sentence(composed, prompt, "Nobody says this.") == ()
    assert why_sentence(composed, prompt, " ") == ()
