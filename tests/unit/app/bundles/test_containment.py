"""What a downloaded bundle may read: itself, what it includes, and the project where it is mentioned."""

from __future__ import annotations

import asyncio
import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.git_server import Repository, WebServer, git_backend, serving

from amplifier_foundation import BaseMentionResolver, Bundle, BundleRegistry, load_mentions
from amplifier_foundation.bundle._translation import to_core
from amplihack.app.bundles.checking import check
from amplihack.app.bundles.load import LoadRequest, load
from amplihack.app.sessions.agent_plans import as_listed
from amplihack.bundles.errors import BundleError
from amplihack.bundles.mentions import MentionScope
from amplihack.bundles.names import KnownNames
from amplihack.errors import Problem
from amplihack.records import replace
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.prompt_source import PromptSource

HIDDEN = "what nobody else should see"


@dataclass
class Place:
    """A user's project, and beside it a home and files that are nobody else's business."""

    path: Path

    def __post_init__(self) -> None:
        agent = f"---\nmeta: {{name: spy, description: x}}\n---\n{HIDDEN}\n"
        self.write("home/secret.md", HIDDEN)
        self.write("home/.amplihack/notes.md", HIDDEN)
        self.write("outside/secret.md", HIDDEN)
        self.write("outside/agents/spy.md", agent)
        self.write("outside/bundle.md", f"---\nbundle: {{name: outside}}\n---\n{HIDDEN}\n")
        self.write("outside/tool/amplifier_module_tool_x/__init__.py", f"NAME = {HIDDEN!r}\n")
        self.project.mkdir()

    @property
    def project(self) -> Path:
        return self.path / "project"

    def write(self, name: str, text: str | bytes) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else self.named(text).encode())

    def named(self, text: str) -> str:
        """Put real paths into a text; UPS leads from anywhere in the cache to this place."""
        return text.replace("UPS", "../" * 30 + str(self.path).lstrip("/")).replace("PLACE", str(self.path))

    def repository(self, files: Mapping[str, str], links: Mapping[str, str] = {}, name: str = "evil") -> str:
        """Return the address of a repository with these files and links."""
        made = Repository(self.path / "repositories" / name)
        for link, target in links.items():
            (made.path / link).parent.mkdir(parents=True, exist_ok=True)
            (made.path / link).symlink_to(self.named(target))
        made.commit({file: self.named(text) for file, text in files.items()})
        return f"git+file://{made.path}@main"

    def request(self, source: str, names: Mapping[str, str] = {}) -> LoadRequest:
        home = str(self.path / "home")
        return LoadRequest(
            source=source,
            base=self.project,
            cache_dir=self.path / "home/.amplihack/cache",
            environment={"PATH": os.environ["PATH"], "HOME": home},
            names=KnownNames(files=BundleFiles(), added=names),
            scope=MentionScope(
                bases=(str(self.project),),
                home=home,
                user=f"{home}/.amplihack",
                project=str(self.project / ".amplihack"),
            ),
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@dataclass
class Said:
    """All that a user can be shown of a bundle, and what `validate` finds."""

    everything: str
    plan: str
    prompt: str
    problems: tuple[Problem, ...]

    @property
    def escapes(self) -> list[str]:
        return [each.what for each in self.problems if each.severity == "error" and "lead" in each.what]


def said(request: LoadRequest) -> Said:
    async def ask() -> Said:
        try:
            loaded, found = await check(replace(request, strict=False))
        except BundleError as error:
            return Said(f"{error} {error.problems}", "", "", error.problems)
        plan, prompt = json.dumps(loaded.plan), loaded.prompt.text
        rows = [(row.name, row.source) for row in loaded.contents.rows]
        seen = "".join((plan, prompt, str(rows), str(found), str([each.where for each in found])))
        failed = [each for each in found if each.code == "include-skipped"]
        found = (*found, *(replace(each, severity="error") for each in failed))
        return Said(seen, plan, prompt, found)

    return asyncio.run(ask())


HEAD = "bundle: {name: evil}\n"
CONTEXT = HEAD + "context: {include: [%s]}\n"
PAGE = "---\nbundle: {name: evil}\n---\n"
INLINE = HEAD + "agents:\n  a: {description: x, %s}\n"
CASES: dict[str, dict[str, str]] = {
    "context by ..": {"bundle.yaml": CONTEXT % "UPS/outside/secret.md"},
    "context by an absolute path": {"bundle.yaml": CONTEXT % "PLACE/outside/secret.md"},
    "context by a home": {"bundle.yaml": CONTEXT % "~/secret.md"},
    "named context by ..": {"bundle.yaml": HEAD + "context: {a: UPS/outside/secret.md}\n"},
    "named context by an absolute path": {"bundle.yaml": HEAD + "context: {a: PLACE/outside/secret.md}\n"},
    "named context by a home": {"bundle.yaml": HEAD + "context: {a: ~/secret.md}\n"},
    "context of its namespace by ..": {"bundle.yaml": CONTEXT % "evil:UPS/outside/secret.md"},
    "a mention by ..": {"bundle.md": PAGE + "@UPS/outside/secret.md"},
    "a mention by an absolute path": {"bundle.md": PAGE + "@PLACE/outside/secret.md"},
    "a mention of the home": {"bundle.md": PAGE + "@~/secret.md"},
    "a mention of the user's settings": {"bundle.md": PAGE + "@user:notes.md"},
    "a mention in quotes": {"bundle.md": PAGE + '@"~/secret.md"'},
    "a mention of its namespace by ..": {"bundle.md": PAGE + "@evil:UPS/outside/secret.md"},
    "a mention in a mentioned file": {
        "bundle.md": PAGE + "@evil:a.md", "a.md": "@evil:b.md", "b.md": "@~/secret.md",
    },
    "a mention by .. in a mentioned file": {
        "bundle.md": PAGE + "@evil:a.md", "a.md": "@UPS/outside/secret.md",
    },
    "a mention in a context file": {"bundle.yaml": CONTEXT % "a.md", "a.md": "@~/secret.md"},
    "a mention of what is not there": {"bundle.md": PAGE + "@UPS/outside/nothing.md"},
    "a mention of a setting that is not there": {"bundle.md": PAGE + "@user:nothing.md"},
    "the text of an agent": {
        "bundle.yaml": HEAD + "agents: {include: [evil:a]}\n",
        "agents/a.md": "---\nmeta: {name: a, description: x}\n---\nRead @~/secret.md\n",
    },
    "the text of an agent in place": {"bundle.yaml": INLINE % "instruction: 'Read @PLACE/outside/secret.md'"},
    "a file that an agent mentions": {
        "bundle.yaml": INLINE % "instruction: 'Read @evil:a.md'", "a.md": "@~/secret.md",
    },
    "a directory": {"bundle.md": PAGE + "@evil:a.md", "a.md": "@PLACE/outside"},
    "an agent by ..": {"bundle.yaml": INLINE % "path: UPS/outside/agents/spy.md"},
    "an agent by an absolute path": {"bundle.yaml": INLINE % "path: PLACE/outside/agents/spy.md"},
    "instructions by ..": {"bundle.yaml": INLINE % "instructions: UPS/outside/agents/spy.md"},
    "instructions by an absolute path": {"bundle.yaml": INLINE % "instructions: PLACE/outside/agents/spy.md"},
    "an agent's name by ..": {"bundle.yaml": HEAD + "agents: {include: ['UPS/outside/agents/spy']}\n"},
    "a namespace root by ..": {
        "bundle.md": "---\nbundle: {name: evil, namespace_root: UPS/outside}\n---\n@evil:secret.md",
    },
    "a namespace root by an absolute path": {
        "bundle.md": "---\nbundle: {name: evil, namespace_root: PLACE/outside}\n---\n@evil:secret.md",
    },
    "a namespace root by a home": {
        "bundle.md": "---\nbundle: {name: evil, namespace_root: ~/}\n---\n@evil:secret.md",
    },
    "the namespace root of the root above": {
        "bundle.md": "---\nbundle: {name: top, namespace_root: UPS/outside}\n---\n@top:secret.md",
        "behaviors/b.yaml": "bundle: {name: b}\ncontext: {include: [top:secret.md]}\n",
    },
    "an include by ..": {"bundle.yaml": HEAD + "includes: [UPS/outside]\n"},
    "an include by an absolute path": {"bundle.yaml": HEAD + "includes: [PLACE/outside/bundle.md]\n"},
    "an include by file:": {"bundle.yaml": HEAD + "includes: ['file://PLACE/outside/bundle.md']\n"},
    "an include with a subdirectory": {"bundle.yaml": HEAD + "includes: ['./#subdirectory=UPS/outside']\n"},
    "a behaviour that it includes by its path": {
        "bundle.yaml": HEAD + "includes: [./behaviors/b.yaml]\n",
        "behaviors/b.yaml": "bundle: {name: b}\ncontext: {include: [UPS/outside/secret.md, ~/secret.md]}\n",
    },
    "a behaviour that it includes by its name": {
        "bundle.yaml": HEAD + "includes: [evil:behaviors/b]\n",
        "behaviors/b.yaml": "bundle: {name: b}\ncontext: {include: [UPS/outside/secret.md, ~/secret.md]}\n",
    },
}  # fmt: skip
LINKS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "context": ({"bundle.yaml": CONTEXT % "a.md"}, {"a.md": "PLACE/outside/secret.md"}),
    "context in a directory": (
        {"bundle.yaml": CONTEXT % "evil:d/secret.md"},
        {"d": "PLACE/outside"},
    ),
    "a mention": ({"bundle.md": PAGE + "@evil:a.md"}, {"a.md": "PLACE/outside/secret.md"}),
    "a nested mention": (
        {"bundle.md": PAGE + "@evil:c/b.md", "c/b.md": "@d/secret.md"},
        {"c/d": "PLACE/outside"},
    ),
    "a mentioned directory": ({"bundle.md": PAGE + "@evil:d"}, {"d": "PLACE/outside"}),
    "agents": ({"bundle.yaml": HEAD + "agents: {include: [evil:spy]}\n"}, {"agents": "PLACE/outside/agents"}),
    "the bundle file": ({"README.md": "x"}, {"bundle.md": "PLACE/outside/bundle.md"}),
    "an include": ({"bundle.yaml": HEAD + "includes: [./b.md]\n"}, {"b.md": "PLACE/outside/bundle.md"}),
    "an include of its namespace": (
        {"bundle.yaml": HEAD + "includes: [evil:b]\n"},
        {"b.md": "PLACE/outside/bundle.md"},
    ),
    "a namespace root": (
        {"bundle.md": "---\nbundle: {name: evil, namespace_root: d}\n---\n@evil:secret.md"},
        {"d": "PLACE/outside"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_downloaded_bundle_reads_nothing_outside_itself(place: Place, case: str) -> None:
    source = place.repository(CASES[case])
    found = said(place.request(source))
    assert (HIDDEN in found.everything, bool(found.escapes)) == (False, True), found
    place.write("project/bundle.yaml", f"bundle: {{name: mine}}\nincludes: ['{source}']\n")
    found = said(place.request("."))
    assert (HIDDEN in found.everything, bool(found.escapes)) == (False, True), found


@pytest.mark.parametrize("case", LINKS)
def test_a_link_in_a_downloaded_bundle_leads_nowhere_else(place: Place, case: str) -> None:
    files, links = LINKS[case]
    found = said(place.request(place.repository(files, links)))
    assert (HIDDEN in found.everything, bool(found.escapes)) == (False, True), found


MODULES = {
    "..": "UPS/outside/tool",
    "an absolute path": "PLACE/outside/tool",
    "a home": "~/tool",
    "file:": "file://PLACE/outside/tool",
    "a path in code": "file://PLACE/repositories/..%2foutside/tool",
}


@pytest.mark.parametrize("case", MODULES)
@pytest.mark.parametrize(
    "where",
    [
        "tools",
        "session",
        "short session",
        "inline agent",
        "agent file",
        "session of an agent",
        "spawn",
    ],
)
def test_modules_of_a_download_lie_in_it(place: Place, case: str, where: str) -> None:
    entry = f"{{module: tool-x, source: '{MODULES[case]}'}}"
    files = {
        "tools": {"bundle.yaml": f"{HEAD}tools: [{entry}]\n"},
        "session": {"bundle.yaml": f"{HEAD}session: {{orchestrator: {entry}}}\n"},
        "short session": {
            "bundle.yaml": f"{HEAD}session: {{context: tool-x, context_source: '{MODULES[case]}'}}\n"
        },
        "session of an agent": {
            "bundle.yaml": f"{HEAD}agents: {{a: {{description: x, session: "
            f"{{orchestrator: tool-x, orchestrator_source: '{MODULES[case]}'}}}}}}\n"
        },
        "inline agent": {"bundle.yaml": f"{HEAD}agents: {{a: {{description: x, tools: [{entry}]}}}}\n"},
        "spawn": {"bundle.yaml": f"{HEAD}spawn: {{tools: [{entry}]}}\n"},
        "agent file": {
            "bundle.yaml": f"{HEAD}agents: {{include: [evil:a]}}\n",
            "agents/a.md": f"---\nmeta: {{name: a, description: x}}\ntools: [{entry}]\n---\nA.\n",
        },
    }
    found = said(place.request(place.repository(files[where])))
    assert "tool-x" not in found.plan
    assert [each.startswith("tool-x: the source") for each in found.escapes] == [True]


@pytest.mark.parametrize("link", ["pyproject.toml", "requirements.txt", "amplifier_module_t/__init__.py"])
def test_files_of_a_module_in_a_download_are_its_own(place: Place, link: str) -> None:
    place.write("outside/file", f"amplifier-core # {HIDDEN}\nasync def mount(c): pass\n[")
    tools = f"{HEAD}tools: [{{module: t, source: ./modules/t}}]\n"
    source = place.repository({"bundle.yaml": tools}, {f"modules/t/{link}": "PLACE/outside/file"})
    found = said(place.request(source))
    assert HIDDEN not in found.everything
    assert {each.code for each in found.problems} <= {"no-package"}  # it has none of its own


def test_modules_inside_a_download_are_used(place: Place) -> None:
    files = {
        "bundle.yaml": f"{HEAD}includes: [evil:behaviors/b]\ntools: [{{module: a, source: ./modules/a}}]\n",
        "behaviors/b.yaml": "bundle: {name: b}\ntools: [{module: c, source: ../modules/c}]\n",
        "modules/a/x.py": "",
        "modules/c/x.py": "",
    }
    plan = json.loads(said(place.request(place.repository(files))).plan)
    assert [Path(each["source"]).name for each in plan["tools"]] == ["c", "a"]


def test_a_download_does_not_read_the_bundle_that_includes_it(place: Place) -> None:
    files = {
        "bundle.md": PAGE + "@mine:private.md",
        "behaviors/b.yaml": "bundle: {name: b}\ncontext: {include: [mine:private.md, evil:a.md]}\n"
        "agents: {include: [mine:spy, spy]}\n",
        "a.md": "@mine:private.md",
    }
    source = place.repository(files)
    place.write("project/private.md", HIDDEN)
    place.write("project/agents/spy.md", f"---\nmeta: {{name: spy, description: {HIDDEN}}}\n---\nx\n")
    includes = f"['{source}', '{source}#subdirectory=behaviors/b.yaml']"
    place.write("project/bundle.yaml", f"bundle: {{name: mine}}\nincludes: {includes}\n")
    found = said(place.request("."))
    assert (HIDDEN in found.everything, len(found.escapes)) == (False, 5), found.escapes


@pytest.mark.parametrize("included", ["mine", "mine:behaviors/x", "mine:bundle"])
def test_a_download_does_not_read_the_bundle_above_by_including_a_part_of_it(
    place: Place, included: str
) -> None:
    head = "bundle: {name: evil}\nincludes: ['%s']\ncontext: {include: [mine:private.md]}\n"
    page = f"---\n{head}---\n@mine:private.md @x:own.md"
    source = place.repository({"bundle.md": page % included})
    place.write("project/private.md", HIDDEN)
    place.write("project/behaviors/x.yaml", "bundle: {name: x}\n")
    place.write("project/behaviors/own.md", "Of the part.")
    place.write("project/bundle.yaml", f"bundle: {{name: mine}}\nincludes: ['{source}']\n")
    found = said(place.request("."))
    assert (HIDDEN in found.everything, len(found.escapes)) == (False, 2), found.escapes
    assert ("Of the part." in found.prompt) == (included == "mine:behaviors/x")


def test_a_download_reads_what_it_includes_by_name_wherever_that_lies(place: Place) -> None:
    place.write("shared/bundle.yaml", "bundle: {name: shared}\n")
    place.write("shared/words.md", "Shared words.")
    page = "---\nbundle: {name: evil}\nincludes: [shared]\n---\n@shared:words.md\n"
    source = place.repository({"bundle.md": page})
    found = said(place.request(source, {"shared": f"{place.path}/shared"}))
    assert ("Shared words." in found.prompt, found.escapes) == (True, [])


def test_downloads_of_one_load_may_mention_each_other(place: Place) -> None:
    other = place.repository({"bundle.yaml": "bundle: {name: o}\n", "w.md": "Other words."}, name="other")
    source = place.repository({"bundle.md": PAGE + "@o:w.md"})
    place.write("project/bundle.yaml", f"bundle: {{name: m}}\nincludes: ['{other}', '{source}']\n")
    assert "Other words." in said(place.request(".")).prompt


def archive(name: str, files: Mapping[str, str]) -> bytes:
    data = io.BytesIO()
    if name.endswith(".zip"):
        with zipfile.ZipFile(data, "w") as made:
            for path, text in files.items():
                made.writestr(path, text)
        return data.getvalue()
    with tarfile.open(fileobj=data, mode="w:gz") as packed:
        for path, text in files.items():
            info = tarfile.TarInfo(path)
            info.size = len(text.encode())
            packed.addfile(info, io.BytesIO(text.encode()))
    return data.getvalue()


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_an_archive_stays_inside_itself(place: Place, name: str) -> None:
    files = {
        "bundle.yaml": HEAD + "includes: [./b.yaml, evil:c]\ncontext: {include: [inside.md]}\n",
        "inside.md": "Inside. @~/secret.md",
        "b.yaml": "bundle: {name: b}\ncontext: {include: [UPS/outside/secret.md, ~/secret.md]}\n",
        "c.yaml": "bundle: {name: c}\ncontext: {include: [UPS/outside/secret.md, inside.md]}\n",
    }
    place.write(name, archive(name, {path: place.named(text) for path, text in files.items()}))
    source = f"zip+file://{place.path}/{name}"
    found = said(place.request(source))
    assert (HIDDEN in found.everything, "Inside." in found.prompt, len(found.escapes)) == (False, True, 4)
    with pytest.raises(BundleError, match="leads out"):
        asyncio.run(load(place.request(f"{source}#subdirectory=../outside")))


def test_what_came_over_the_network_names_no_repository_of_this_disk(place: Place) -> None:
    page = f"---\nbundle: {{name: private}}\n---\n{HIDDEN}\n"
    local = place.repository({"bundle.md": page}, name="private")
    place.repository(
        {"bundle.yaml": f"{HEAD}includes: ['{local}']\ntools: [{{module: t, source: '{local}'}}]\n"}
    )
    with serving(WebServer(otherwise=git_backend(place.path / "repositories"))) as server:
        found = said(place.request(f"git+{server.url}/evil"))
    assert (HIDDEN in found.everything, len(found.escapes)) == (False, 2), found


def test_a_path_into_the_cache_is_a_download_too(place: Place) -> None:
    said(place.request(place.repository(CASES["a behaviour that it includes by its path"])))
    (file,) = (place.path / "home/.amplihack/cache").glob("evil-*/bundle.yaml")
    for path in (file, file.parent / "behaviors/b.yaml"):
        found = said(place.request(str(path)))
        assert (HIDDEN in found.everything, bool(found.escapes)) == (False, True)


@pytest.mark.parametrize("inside", ["../../outside", "/../outside", "d", "d/agents"])
def test_a_subdirectory_of_a_repository_does_not_leave_it(place: Place, inside: str) -> None:
    source = place.repository({"bundle.yaml": HEAD}, {"d": "PLACE/outside"})
    with pytest.raises(BundleError, match="leads out") as caught:
        asyncio.run(load(place.request(f"{source}#subdirectory={inside}")))
    assert HIDDEN not in str(caught.value)


@pytest.mark.parametrize("path", ["~/c.md", "PLACE/outside/c.md", "../../../outside/c.md"])
def test_the_users_own_bundle_reads_what_it_names(place: Place, path: str) -> None:
    place.write("home/c.md" if path.startswith("~") else "outside/c.md", "Named by the user.")
    for section in (f"{{include: ['{path}']}}", f"{{a: '{path}'}}"):
        place.write("project/a/b/bundle.yaml", f"bundle: {{name: own}}\ncontext: {section}\n")
        found = said(place.request("./a/b"))
        assert ("Named by the user." in found.prompt, found.escapes) == (True, []), found
    place.write("home/spy.md" if path.startswith("~") else "outside/spy.md", "You spy.")
    for key in ("path", "instructions"):
        spy = path.replace("c.md", "spy.md") if key == "path" or ".." not in path else "PLACE/outside/spy.md"
        agents = f"{{a: {{description: x, {key}: '{spy}'}}}}"
        place.write("project/a/b/bundle.yaml", f"bundle: {{name: own}}\nagents: {agents}\n")
        assert "You spy." in said(place.request("./a/b")).plan
    place.write("project/a/own.md", "---\nbundle: {name: own}\n---\n@~/secret.md @PLACE/outside/bundle.md\n")
    assert said(place.request("./a/own.md")).prompt.count(HIDDEN) == 2


@pytest.mark.parametrize("root", ["~/notes", "PLACE/home/notes", "../home/notes"])
def test_the_namespace_of_the_users_own_bundle_may_lie_elsewhere(place: Place, root: str) -> None:
    place.write("home/notes/words.md", "Words of the user.")
    place.write(
        "project/bundle.md", f"---\nbundle: {{name: own, namespace_root: {root}}}\n---\n@own:words.md\n"
    )
    place.write("project/behaviors/b.yaml", "bundle: {name: b}\ncontext: {include: [own:words.md]}\n")
    for source in (".", "./behaviors/b.yaml"):
        assert "Words of the user." in said(place.request(source)).prompt


FILES = {
    "bundle.md": "---\nbundle: {name: notes}\n---\n@AGENTS.md\n\n@notes:context/more.md\n\n@notes:top.md\n",
    "AGENTS.md": "For those who work on the bundle.",
    "context/AGENTS.md": "For those who work on its context.",
    "context/more.md": "See @AGENTS.md and @beside.md",
    "context/beside.md": "Beside.",
    "top.md": "From the top: @AGENTS.md",
}


@pytest.mark.parametrize("local", [True, False])
def test_agents_md_means_the_users_project(place: Place, local: bool) -> None:
    for name, text in FILES.items():
        place.write(f"elsewhere/{name}", text)
    source = f"{place.path}/elsewhere" if local else place.repository(FILES)
    found = said(place.request(source))
    assert ("For those" in found.prompt, "Beside." in found.prompt) == (False, True)
    assert {each.severity for each in found.problems} <= {"note"}
    place.write("project/AGENTS.md", "For those who work on the project. @docs/style.md")
    place.write("project/docs/style.md", "Plain style. @~/secret.md")
    prompt = said(place.request(source)).prompt
    assert (prompt.count("For those"), "work on the project" in prompt) == (1, True)
    assert HIDDEN in prompt  # it is the user's own text that mentions it


def test_a_link_in_the_project_is_the_users_own(place: Place) -> None:
    place.write("home/dotfiles/AGENTS.md", "Kept elsewhere.")
    (place.project / "AGENTS.md").symlink_to(place.path / "home/dotfiles/AGENTS.md")
    assert (
        "Kept elsewhere." in said(place.request(place.repository({"bundle.md": PAGE + "@AGENTS.md"}))).prompt
    )


def test_a_bare_mention_that_meant_the_bundle_is_told(place: Place) -> None:
    place.write("elsewhere/bundle.md", "---\nbundle: {name: e}\n---\n@context/a.md\n")
    place.write("elsewhere/context/a.md", "A.")
    found = said(place.request(f"{place.path}/elsewhere"))
    assert [each.fix for each in found.problems if each.code == "mention-not-found"] == [
        "write @e:context/a.md"
    ]


def test_a_mention_of_an_address_is_told_without_its_password(place: Place) -> None:
    place.write("elsewhere/bundle.md", "---\nbundle: {name: e}\n---\n@http://me:s3cr3t@host/x.md\n")
    told = [each.what for each in said(place.request(f"{place.path}/elsewhere")).problems]
    assert told == ["@http://…: there is no such file"]


def test_a_program_gets_no_path_that_leads_out_of_a_download(place: Place) -> None:
    files = {
        "bundle.yaml": HEAD
        + "context: {include: [UPS/outside/secret.md, evil:a.md, evil:l.md, ~/secret.md]}\n"
        "agents: {include: [evil:spy]}\ntools: [{module: t, source: UPS/outside/tool}]\n",
        "a.md": "@~/secret.md and @UPS/outside/secret.md and @AGENTS.md",
    }
    source = place.repository(files, {"l.md": "PLACE/outside/secret.md", "agents": "PLACE/outside/agents"})

    async def ask() -> None:
        bundle = await BundleRegistry(place.path / "home/.amplifier").load(source)
        told = [each["reason"].partition(" leads out")[0].split()[0] for each in bundle.load_report]
        assert told == [
            "context",
            "context",
            "the",
            "t:",
        ]  # the link is met when its namespace is looked into
        bundle.load_agent_metadata()
        bundle.resolve_pending_context()
        assert [path.name for path in bundle.context.values()] == ["a.md"]
        assert bundle.agents["evil:spy"] == {"name": "evil:spy"}
        assert bundle.resolve_agent_path("evil:spy") is None
        absolute = place.path / "outside/agents/spy.md"
        assert bundle.resolve_agent_path(str(absolute)) is None
        assert bundle.resolve_agent_path(f"evil:{absolute}") is None
        assert bundle.resolve_context_path("l.md") is None
        assert bundle.tools == []
        place.write("project/AGENTS.md", "The project's.")
        resolver = BaseMentionResolver({"evil": bundle}, base_path=place.project)
        (result,) = await load_mentions("@evil:a.md", resolver)
        assert [each.content for each in result.nested] == [None, None, "The project's."]
        composed = bundle.compose(bundle)
        composed.resolve_pending_context()
        assert [path.name for path in composed.context.values()] == ["a.md"]

    asyncio.run(ask())


CARRIED: dict[str, Callable[[Bundle], Bundle]] = {
    "a longer instruction": lambda bundle: _changed(bundle, instruction=f"{bundle.instruction}\nBe brief."),
    "an agent as a bundle": lambda bundle: as_child(bundle, "evil:a"),
    "an agent under another name": lambda bundle: as_child(bundle, "kid"),
    "an agent with another model": lambda bundle: as_child(
        _changed(bundle, agents={"evil:a": {**bundle.agents["evil:a"], "model_role": "fast"}}), "evil:a"
    ),
}


def _changed(bundle: Bundle, **fields: Any) -> Bundle:
    for name, value in fields.items():
        setattr(bundle, name, value)
    return bundle


def as_child(bundle: Bundle, name: str) -> Bundle:
    """Make what a program spawns of an agent: its text alone, over the bundle."""
    child = Bundle(name=name, instruction=bundle.agents["evil:a"]["instruction"] + "\nBe brief.")
    core = as_listed(to_core(bundle.compose(child)), to_core(bundle), name)
    return Bundle._from_core(core)


@pytest.mark.parametrize("case", CARRIED)
def test_a_text_of_a_download_stays_confined_when_a_program_carries_it_about(place: Place, case: str) -> None:
    files = {
        "bundle.md": "---\nbundle: {name: evil}\nagents: {include: [evil:a]}\n---\nRead @~/secret.md\n",
        "agents/a.md": "---\nmeta: {name: a, description: x}\n---\nRead @~/secret.md and @evil:b.md\n",
        "b.md": "Its own.",
    }

    async def ask() -> str:
        bundle = await BundleRegistry(place.path / "home/.amplifier").load(place.repository(files))
        bundle.load_agent_metadata()
        carried = to_core(CARRIED[case](bundle))
        scope = MentionScope(bases=(str(place.project),), home=str(place.path / "home"))
        return (await PromptSource(lambda: carried, lambda: scope).prompt()).text

    text = asyncio.run(ask())
    assert ("Be brief." in text, "Its own." in text) == (True, case != "a longer instruction")
    assert HIDDEN not in text
