from __future__ import annotations

from pathlib import Path

import pytest

from amplihack.errors import DocumentError, InputError, NotFound
from amplihack.recipes.naming import InvalidReference
from amplihack.system.agent_files import AgentFiles
from amplihack.system.home import Home
from amplihack.system.recipe_files import Refused


def put(path: Path, text: str = "You build things.\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_users_agents_come_first_then_those_of_the_run_directory() -> None:
    home = Home(Path("/root"), Path("/user"), Path("/cwd"))
    found = [str(path) for path in AgentFiles.of(home, Path("project")).directories]
    assert found[:6] == [
        "/root/.claude/agents",
        "/cwd/project/.claude/agents",
        "/cwd/project/amplifier-bundle/agents",
        "/cwd/project/src/amplihack/amplifier-bundle/agents",
        "/cwd/project/src/amplihack/.claude/agents",
        "/root/amplifier-bundle/agents",
    ]


def test_each_better_place_wins_over_the_ones_before_it(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    agents = AgentFiles((tmp_path / "missing", first, second))
    places = [
        second / "ns/cat/x.md", first / "x.md", first / "ns/x.md", first / "specialized/x.md",
        first / "core/x.md", first / "ns/specialized/x.md", first / "ns/core/x.md", first / "cat/x.md",
        first / "ns/cat/x.md",
    ]  # fmt: skip
    for place in places:
        put(place)
        assert agents.resolve("ns:cat:x").path == place


def test_a_page_without_frontmatter_is_the_persona_as_it_stands(tmp_path: Path) -> None:
    put(tmp_path / "core/x.md", "\n# X\n\nYou build.\n")
    persona = AgentFiles((tmp_path,)).resolve("any:x")
    assert (persona.text, persona.model) == ("\n# X\n\nYou build.\n", None)


@pytest.mark.parametrize(
    ("line", "model"),
    [
        ("model: opus", "opus"),
        ("model: 'claude-x'", "claude-x"),
        ("model: inherit", None),
        ("model:", None),
        ("tools: [bash]", None),
    ],
)
def test_frontmatter_is_not_part_of_the_persona_but_chooses_its_model(
    tmp_path: Path, line: str, model: str | None
) -> None:
    put(tmp_path / "x.md", f"---\nname: x\n{line}\n---\n\nYou build.\n")
    persona = AgentFiles((tmp_path,)).resolve("any:x")
    assert (persona.text, persona.model) == ("You build.\n", model)


def test_empty_frontmatter_is_left_out(tmp_path: Path) -> None:
    put(tmp_path / "x.md", "---\n---\nYou build.\n")
    assert AgentFiles((tmp_path,)).resolve("any:x").text == "You build.\n"


def test_a_model_that_is_not_a_word_is_an_error_at_its_line(tmp_path: Path) -> None:
    put(tmp_path / "x.md", "---\nmodel: [a, b]\n---\n")
    with pytest.raises(InputError, match="the model of an agent is one word") as caught:
        AgentFiles((tmp_path,)).resolve("any:x")
    assert caught.value.where is not None
    assert caught.value.where.line == 2


def test_frontmatter_that_is_not_yaml_is_an_error_and_not_a_persona(tmp_path: Path) -> None:
    put(tmp_path / "x.md", "---\ndescription: a: b: c\n---\nYou build.\n")
    with pytest.raises(DocumentError) as caught:
        AgentFiles((tmp_path,)).resolve("any:x")
    assert caught.value.fix


def test_an_agent_that_is_missing_counts_the_directories_and_suggests_one(tmp_path: Path) -> None:
    put(tmp_path / "one" / "core" / "builder.md")
    (tmp_path / "two").mkdir()
    agents = AgentFiles((tmp_path / "one", tmp_path / "two", tmp_path / "missing"))
    with pytest.raises(NotFound) as caught:
        agents.resolve("amplihack:bulider")
    assert caught.value.what == "Agent 'amplihack:bulider' not found. Searched: 2 directories searched"
    assert caught.value.fix == 'did you mean "amplihack:builder"?'


def test_without_a_near_name_the_fix_says_where_agents_go(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        AgentFiles((tmp_path / "agents",)).resolve("a:b")
    assert caught.value.fix == f"put its .md file into one of: {tmp_path / 'agents'}"


@pytest.mark.parametrize("reference", ["builder", "a:../../etc/passwd", "a:b:c:d"])
def test_an_invalid_reference_never_reaches_the_disk(tmp_path: Path, reference: str) -> None:
    with pytest.raises(InvalidReference, match=r"^Invalid agent reference: "):
        AgentFiles((tmp_path,)).resolve(reference)


def test_a_link_out_of_the_agents_is_refused(tmp_path: Path) -> None:
    secret = put(tmp_path / "secret.md")
    agents = AgentFiles((tmp_path / "agents",))
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "x.md").symlink_to(secret)
    with pytest.raises(Refused, match="leads out of"):
        agents.resolve("any:x")
    assert agents.known() == ()


def test_every_known_reference_resolves(tmp_path: Path) -> None:
    for name in ("a.md", "core/b.md", "ns/core/c.md", "ns/d.md", "ns/cat/e.md"):
        put(tmp_path / name)
    put(tmp_path / "too/deep/for/f.md")
    put(tmp_path / "not a name.md")
    agents = AgentFiles((tmp_path, tmp_path / "missing"))
    assert agents.known() == ("amplihack:a", "amplihack:b", "ns:c", "ns:cat:e", "ns:d")
    assert [agents.resolve(reference).path.stem for reference in agents.known()] == ["a", "b", "c", "e", "d"]


@pytest.mark.parametrize(
    ("place", "reference", "namesake"),
    [
        ("ours/reviewer.md", "supplier:reviewer", "amplihack:reviewer"),
        ("ours/core/reviewer.md", "supplier:reviewer", "amplihack:reviewer"),
        ("ours/reviewer.md", "amplihack:reviewer", ""),
        ("ours/supplier/reviewer.md", "supplier:reviewer", ""),
        ("mine/reviewer.md", "supplier:reviewer", ""),  # whoever put it there may have meant it
    ],
)
def test_one_of_our_agents_that_only_has_the_name_is_told(
    tmp_path: Path, place: str, reference: str, namesake: str
) -> None:
    put(tmp_path / place)
    files = AgentFiles((tmp_path / "mine", tmp_path / "ours"), framework=(tmp_path / "ours",))
    assert files.resolve(reference).namesake == namesake
