"""Mistakes that have one probable meaning: the message says it, or the command does it."""

from __future__ import annotations

import pytest
from tests.support.bundle_place import address, repository, thin_bundle
from tests.support.workspace import Workspace


@pytest.mark.parametrize(
    ("include", "meant"),
    [
        ("./behavior/work.yaml", "./behaviors/work.yaml"),
        ("./behaviors/wrok", "./behaviors/work.yaml"),
        ("./bsae", "./base/bundle.md"),
        ("mine:behaviors/wrok", "mine:behaviors/work.yaml"),
        ("mnie:behaviors/work", "'mine:behaviors/work'"),
        ("fondation", "'foundation'"),
    ],
)
def test_a_mistyped_include_is_told_with_what_was_meant(
    workspace: Workspace, include: str, meant: str
) -> None:
    thin_bundle(workspace)
    workspace.write("bundle.md", f"---\nbundle: {{name: mine}}\nincludes: ['{include}']\n---\n")
    answer = workspace.run("bundle", "show", "--offline")
    assert (answer.exit_code, f"fix: did you mean {meant}?" in answer.stderr) == (2, True), answer.stderr


@pytest.mark.parametrize(("asked", "meant"), [("inner", "./inner"), ("other", "./other.yaml")])
def test_a_path_that_was_asked_for_like_a_name_is_suggested(
    workspace: Workspace, asked: str, meant: str
) -> None:
    workspace.write("inner/bundle.md", "---\nbundle: {name: i}\n---\n")
    workspace.write("other.yaml", "bundle: {name: o}\n")
    answer = workspace.run("bundle", "show", asked)
    assert (answer.exit_code, answer.stderr) == (
        3,
        f"no bundle is called {asked!r}\n  fix: did you mean {meant}?\n",
    )


def test_why_finds_agents_context_and_instances_by_their_short_names(workspace: Workspace) -> None:
    thin_bundle(workspace)
    providers = "providers:\n  - {module: p, instance_id: one}\n  - {module: p, instance_id: two}\n"
    workspace.write("both.yaml", f"bundle: {{name: both}}\nincludes: [./bundle.md]\n{providers}")

    def why(subject: str) -> set[str]:
        answer = workspace.run("bundle", "why", subject, "--bundle", "both.yaml", "--json")
        assert answer.exit_code == 0, answer.stderr
        return {entry["path"].rpartition(".")[0] for entry in answer.json}

    assert why("worker") == why("agents.worker") == why("mine:worker") == {"agents.mine:worker"}
    assert why("worker.description") == {"agents.mine:worker"}
    assert why("p") == {"providers.one", "providers.two"}
    assert "work-behavior" in workspace.run("bundle", "why", "context/rules.md").stdout


def test_what_is_declared_again_names_who_brings_it(workspace: Workspace) -> None:
    thin_bundle(workspace)
    workspace.write(
        "again.yaml",
        "bundle: {name: again}\nincludes: [./bundle.md]\ntools:\n  - module: tool-bash\n"
        "session: {orchestrator: loop-other}\n",
    )
    answer = workspace.run("bundle", "validate", "again.yaml")
    assert "tools: tool-bash is declared again, though base brings it" in answer.stdout
    assert "session.orchestrator is declared again, though base brings it" in answer.stdout


def test_an_entry_without_a_module_is_an_error_and_skipped_where_that_is_allowed(
    workspace: Workspace,
) -> None:
    entries = "  - {name: tool-a, source: ./a}\n  - {module: tool-b}\n  - {id: c, config: {x: 1}}\n"
    workspace.write("bundle.yaml", f"bundle: {{name: m}}\ntools:\n{entries}")
    strict = workspace.run("bundle", "show", "--plan")
    assert (strict.exit_code, strict.stdout) == (2, "")
    assert "tools[0] has no 'module' [module-missing]" in strict.stderr
    assert "fix: write `module: tool-a`" in strict.stderr
    partial = workspace.run("bundle", "show", "--plan", "--allow-partial")
    assert (partial.exit_code, partial.json) == (0, {"tools": [{"module": "tool-b"}]})
    assert "tools[0] has no 'module'; skipped" in partial.stderr
    assert "tools: 'c' has no 'module'" in partial.stderr
    assert workspace.run("bundle", "validate").exit_code == 2


def test_of_a_key_that_stands_twice_the_last_one_counts_where_that_is_allowed(workspace: Workspace) -> None:
    workspace.write("bundle.yaml", "bundle: {name: m}\ntools:\n  - {module: t, config: {a: 1, a: 2}}\n")
    refused = workspace.run("bundle", "show")
    assert (refused.exit_code, "duplicate-key" in refused.stderr) == (2, True)
    partial = workspace.run("bundle", "show", "--plan", "--allow-partial")
    assert partial.json["tools"] == [{"module": "t", "config": {"a": 2}}]
    assert (
        'warning: the key "a" stands here twice; the first is on line 3; the last one counts'
        in partial.stderr
    )


def test_values_are_read_as_in_the_ecosystem_and_their_plain_spelling_is_suggested(
    workspace: Workspace,
) -> None:
    values = 'enabled: no, debug: On, mode: 0777, day: 2024-01-02, "no": "no", quoted!: "off"'
    workspace.write("bundle.yaml", f"bundle: {{name: m}}\ntools: [{{module: t, config: {{{values}}}}}]\n")
    shown = workspace.run("bundle", "show", "--plan")
    assert (shown.stderr, shown.json["tools"][0]["config"]) == (
        "",
        {"enabled": False, "debug": True, "mode": 511, "day": "2024-01-02", "no": "no", "quoted": "off"},
    )
    checked = workspace.run("bundle", "validate")
    assert checked.exit_code == 0
    assert "note: `no` is read as false [yaml-word]" in checked.stdout
    assert "fix: write false, or 'no' for text" in checked.stdout


def test_a_key_in_quotes_is_no_operator(workspace: Workspace) -> None:
    workspace.write("base.yaml", "bundle: {name: b}\ntools: [{module: t, config: {a: [1], c: 2}}]\n")
    entry = "{module: t, config: {\"a!\": [3], 'c-': , b!: 4}}"
    workspace.write("bundle.yaml", f"bundle: {{name: m}}\nincludes: [./base.yaml]\ntools: [{entry}]\n")
    config = workspace.run("bundle", "show", "--plan").json["tools"][0]["config"]
    assert config == {"a": [1], "c": 2, "a!": [3], "c-": None, "b": 4}


def test_modules_are_looked_for_up_to_the_root_and_not_above(workspace: Workspace) -> None:
    entries = "".join(f"  - {{module: {name}, source: ./modules/{name}}}\n" for name in "abcd")
    workspace.write("b/bundle.yaml", "bundle: {name: b}\nincludes: [b:behaviors/deep/x]\n")
    workspace.write("b/behaviors/deep/x.yaml", f"bundle: {{name: x}}\ntools:\n{entries}")
    for place in (
        "b/behaviors/deep/modules/a",
        "b/behaviors/modules/b",
        "b/modules/b",
        "b/modules/c",
        "modules/d",
    ):
        workspace.write(f"{place}/x.py", "")
    answer = workspace.run("bundle", "show", "./b", "--plan")
    sources = [each["source"].removeprefix(f"{workspace.path}/") for each in answer.json["tools"]]
    assert sources == [
        "b/behaviors/deep/modules/a", "b/behaviors/modules/b", "b/modules/c", "b/behaviors/deep/modules/d",
    ]  # fmt: skip
    assert "fix: write ../modules/b" in answer.stderr
    assert (
        "there is no module at b/behaviors/deep/modules/d"
        in workspace.run("bundle", "validate", "./b").stdout
    )


def test_a_part_of_a_module_is_looked_for_above_as_well(workspace: Workspace) -> None:
    workspace.write("bundle.yaml", "bundle: {name: b}\nincludes: [./behaviors/x.yaml]\n")
    source = "./modules/m#subdirectory=inner"
    workspace.write("behaviors/x.yaml", f'bundle: {{name: x}}\ntools: [{{module: t, source: "{source}"}}]\n')
    workspace.write("modules/m/inner/x.py", "")
    answer = workspace.run("bundle", "show", "--plan")
    assert answer.json["tools"][0]["source"] == f"{workspace.path}/modules/m#subdirectory=inner"
    assert "fix: write ../modules/m#subdirectory=inner" in answer.stderr


@pytest.mark.parametrize(
    ("source", "fix"),
    [
        ("modules/x", "write a path as ./modules/x"),
        ("github.com/o/r", "did you mean git+https://github.com/o/r@main?"),
        ("git@github.com:o/r.git", "did you mean git+ssh://git@github.com/o/r@main?"),
        ("ssh://git@h.org/o/r", "did you mean git+ssh://git@h.org/o/r?"),
        ("https://github.com/o/r", "did you mean git+https://github.com/o/r@main?"),
        (
            "https://github.com/o/r/tree/dev/modules/x",
            "did you mean git+https://github.com/o/r@dev#subdirectory=modules/x?",
        ),
        ("ftp://h/x", "a repository as git+https://host/repository@main"),
        ("git+https://h", "a repository as git+https://host/repository@main"),
        ("git+https://${HOST}/o/r", "a repository as git+https://host/repository@main"),
        ("file://modules/x", "write a path as ./modules/x"),
    ],
)
def test_a_source_that_nobody_can_fetch_is_told_with_what_was_meant(
    workspace: Workspace, source: str, fix: str
) -> None:
    workspace.write("bundle.yaml", f"bundle: {{name: b}}\ntools: [{{module: t, source: '{source}'}}]\n")
    answer = workspace.run("bundle", "validate")
    assert answer.exit_code == 2
    assert "[source-address]" in answer.stdout
    assert fix in answer.stdout


def test_an_include_that_git_would_understand_is_told_as_we_write_it(workspace: Workspace) -> None:
    workspace.write(
        "bundle.yaml", "bundle: {name: b}\nincludes: ['git@github.com:o/r.git', github.com/o/q]\n"
    )
    told = workspace.run("bundle", "show").stderr
    assert "did you mean git+ssh://git@github.com/o/r@main?" in told
    assert "did you mean git+https://github.com/o/q@main?" in told


def test_ids_that_tell_nothing_apart_are_errors(workspace: Workspace) -> None:
    entries = "{module: p, id: 1}, {module: p, id: a, instance_id: b}"
    workspace.write("bundle.yaml", f"bundle: {{name: b}}\nproviders: [{entries}]\n")
    answer = workspace.run("bundle", "validate")
    assert answer.exit_code == 2
    assert 'fix: write id: "1"' in answer.stdout
    assert "bundles merge it as 'a', sessions call it 'b'" in answer.stdout


def test_tools_for_children_are_modules_like_any_other(workspace: Workspace) -> None:
    made = repository(workspace, "tool", {"pyproject.toml": "", "modules/t/x.py": "1"})
    remote = f"{{module: u, source: '{address(made, inside='modules/t')}'}}"
    local = "{module: t, source: ./modules/t}"
    workspace.write("bundle.yaml", "bundle: {name: m}\nincludes: [./behaviors/x.yaml]\n")
    workspace.write(
        "behaviors/x.yaml", f"bundle: {{name: x}}\nspawn: {{tools: [tool-bash, {local}, {remote}]}}\n"
    )
    workspace.write("modules/t/x.py", "")
    plan = workspace.run("bundle", "show", "--plan").json
    assert plan["spawn"]["tools"][:2] == [
        "tool-bash",
        {"module": "t", "source": f"{workspace.path}/modules/t"},
    ]
    assert workspace.run("bundle", "update").stdout == f"fetched    {address(made)}\n"


def test_a_mention_that_leads_nowhere_is_told_with_its_file(workspace: Workspace) -> None:
    workspace.write("bundle.md", "---\nbundle: {name: m}\n---\n@m:a.md\n")
    workspace.write("a.md", "one\ntwo @m:gone.md\n")
    told = workspace.run("bundle", "validate").stdout
    assert "a.md:2:5: warning: @m:gone.md: there is no such file" in told
    assert "fix: check the path; if no file is meant, write \\@" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: x\nversion: 1\n", "`name`, `version` stand outside of `bundle:`"),
        ("bundle: {name: x}\nsession: {orchestrater: y}\n", "did you mean `orchestrator`?"),
        ("bundle: {name: x}\ntools: [tool-bash]\n", "fix: write `- module: tool-bash`"),
        ("bundle: {name: x}\ntools: {module: y}\n", "fix: start each entry on a line of its own"),
        ("bundle: {name: x}\ntools: [{module: y, config: [a]}]\n", "fix: write `config:` and below it"),
        ("bundle: {name: x}\nagents: 5\n", "`agents` should be a mapping, got int: 5"),
        ("bundle: {name: x}\nsession: 5\n", "fix: write `session:` and below it, indented, a line"),
        ("bundle: {name: [x]}\n", "`bundle.name` should be text, got list"),
        ("bundle: {name: x}\nspawn: {exclude_tool: [a]}\n", "did you mean `exclude_tools`?"),
        ("bundle: {name: x}\nspawn: {exclude_tools: a}\n", "`spawn.exclude_tools` should be a list"),
        ("bundle: {name: x}\ntools: [{module: a, remove: maybe}]\n", "`remove` should be true or false"),
    ],
)
def test_slips_in_a_bundle_are_told_with_what_to_write(workspace: Workspace, text: str, told: str) -> None:
    workspace.write("bundle.yaml", text)
    answer = workspace.run("bundle", "validate")
    assert told in answer.stdout + answer.stderr


def test_one_tool_that_children_do_not_get_needs_no_list(workspace: Workspace) -> None:
    workspace.write("bundle.yaml", "bundle: {name: x}\nspawn: {exclude_tools: tool-task}\n")
    assert workspace.run("bundle", "show", "--plan").json["spawn"] == {"exclude_tools": ["tool-task"]}


def test_an_update_moves_modules_too(workspace: Workspace) -> None:
    made = repository(workspace, "tool", {"pyproject.toml": "", "modules/t/x.py": "1"})
    source = address(made, inside="modules/t")
    workspace.write("bundle.yaml", f"bundle: {{name: m}}\ntools: [{{module: t, source: '{source}'}}]\n")
    assert workspace.run("bundle", "update").stdout == f"fetched    {address(made)}\n"
    before = made.git("rev-parse", "HEAD")
    after = made.commit({"modules/t/x.py": "2"})
    assert "update available" in workspace.run("bundle", "status").stdout
    updated = workspace.run("bundle", "update", "--json").json
    assert [(each["outcome"], each["before"], each["after"]) for each in updated] == [
        ("updated", before, after)
    ]
    assert "up to date" in workspace.run("bundle", "status").stdout
    workspace.write(
        "bundle.yaml", f"bundle: {{name: m}}\ntools: [{{module: t, source: '{source}&commit={before}'}}]\n"
    )
    assert [each["outcome"] for each in workspace.run("bundle", "update", "--json").json] == ["pinned"]


SLIPS = """\
---
bundle: {name: m}
agents:
  include: [m:reviewr, m:Reviewer, m:nobody]
  z: {description: d, instructions: "@m:agents/reviewr.md"}
context:
  include: [m:context/wrods.md, contxt/words.md, m:bundles/foo/context/words.md]
  own: "@context/words.md"
tools:
  - modul: tool-x
---
@m:context/word.md @context/words.md @m:nothing/alike.md
"""


def test_files_with_a_slip_in_their_names_are_suggested(workspace: Workspace) -> None:
    agent = "---\nmeta: {name: reviewer, description: d}\n---\nDo.\n"
    workspace.write("bundles/foo/agents/reviewer.md", agent)
    workspace.write("bundles/foo/context/words.md", "Words.\n")
    workspace.write("bundles/foo/bundle.md", SLIPS)
    problems = workspace.run("bundle", "validate", "./bundles/foo", "--json").json["problems"]
    fixes = {(each["code"], each["fix"]) for each in problems}
    assert {
        ("agent-not-found", "did you mean m:reviewer?"),
        ("agent-not-found", "agents are listed as namespace:name and lie in agents/ of that bundle"),
        ("agent-not-found", "did you mean m:agents/reviewer.md?"),
        ("missing-context", "did you mean m:context/words.md?"),
        ("subdirectory-repeated", "write m:context/words.md"),
        ("at-in-yaml", "write m:agents/reviewr.md"),
        ("at-in-yaml", "write context/words.md"),
        ("module-missing", "did you mean `module` by `modul`?"),
        ("mention-not-found", "did you mean @m:context/words.md?"),
        ("mention-not-found", "write @m:context/words.md"),
    } <= fixes


def test_a_mentioned_path_with_blanks_is_suggested_in_quotes(workspace: Workspace) -> None:
    workspace.write("context/two words.md", "Words.\n")
    workspace.write("bundle.md", "---\nbundle: {name: m}\n---\nSee @m:context/two words.md\n")
    problems = workspace.run("bundle", "validate", "--json").json["problems"]
    assert [each["fix"] for each in problems] == ['did you mean @"m:context/two words.md"?']
    workspace.write("bundle.md", '---\nbundle: {name: m}\n---\nSee _@"m:context/two words.md"_\n')
    assert not workspace.run("bundle", "validate", "--json").json["problems"]


def test_keys_beside_meta_of_an_agent_with_a_slip_are_told(workspace: Workspace) -> None:
    workspace.write("agents/a.md", "---\nmeta: {name: a, description: d}\ntool: [x]\n---\nDo.\n")
    workspace.write("bundle.yaml", "bundle: {name: m}\nagents: {include: [m:a]}\n")
    problems = workspace.run("bundle", "validate", "--json").json["problems"]
    assert [each["fix"] for each in problems if each["code"] == "unknown-key"] == ["did you mean `tools`?"]


def test_no_file_outside_of_a_downloaded_bundle_is_suggested(workspace: Workspace) -> None:
    workspace.write("outside/secret.md", "Secret.\n")
    made = repository(workspace, "far", {"bundle.md": "---\nbundle: {name: far}\n---\n@link/secret.md\n"})
    (made.path / "link").symlink_to(workspace.path / "outside")
    made.git("add", "--all")
    made.git("commit", "--quiet", "-m", "link")
    problems = workspace.run("bundle", "validate", address(made), "--json").json["problems"]
    assert [each["code"] for each in problems] == ["mention-not-found"]
    assert "link" not in problems[0]["fix"]


@pytest.mark.parametrize(
    ("section", "code", "meant"),
    [
        ("agents: {include: [mnie:worker]}", "agent-not-found", "mine:worker"),
        ("tools: [{module: t, source: ./module/tool-work}]", "module-not-found", "./modules/tool-work"),
        ("tools: [{module: t, source: ./modules/tool-wrok}]", "module-not-found", "./modules/tool-work"),
        ("tools: [{module: tool-bahs}]", "module-unknown", "tool-bash"),
        ("tools: [{module: bash}]", "module-unknown", "tool-bash"),
        ("providers: [{module: anthropic}]", "module-unknown", "provider-anthropic"),
        ("session: {orchestrator: loop-basc, context: context-simple}", "module-unknown", "loop-basic"),
        ("session: {orchestrator: loop-basic, context: {module: context-smiple}}", "module-unknown",
         "context-simple"),
        ("tools: [{module: tool-deeds, source: ./modules/tool-work}, {module: tool-dedes}]", "module-unknown",
         "tool-deeds"),
    ],
)  # fmt: skip
def test_a_mistyped_name_in_a_section_is_told_with_what_was_meant(
    workspace: Workspace, section: str, code: str, meant: str
) -> None:
    thin_bundle(workspace)
    workspace.write("bundle.md", f"---\nbundle: {{name: mine}}\n{section}\n---\n")
    found = workspace.run("bundle", "validate", "--json").json["problems"]
    assert [each["fix"] for each in found if each["code"] == code] == [f"did you mean {meant}?"]


def test_a_mistyped_namespace_of_a_mention_is_told(workspace: Workspace) -> None:
    thin_bundle(workspace)
    workspace.write("bundle.md", "---\nbundle: {name: mine}\n---\n@mnie:context/guide.md @far:x.md\n")
    told = workspace.run("bundle", "validate").stdout
    assert told.count("did you mean @mine:context/guide.md?") == 1
    assert "no bundle of that name takes part" in told


def test_a_module_that_nobody_brings_is_told_where_a_session_would_need_it(workspace: Workspace) -> None:
    modules = "providers: [{module: provider-strange}]\ntools: [{module: tool-mode}]\n"
    session = "session: {orchestrator: loop-odd, orchestrator_source: ./loop, context: context-odd}\n"
    workspace.write("bundle.yaml", f"bundle: {{name: mine}}\n{session}{modules}")
    workspace.write("loop/pyproject.toml", "")
    alone = workspace.run("bundle", "validate", "--json").json["problems"]
    assert [each for each in alone if each["code"] == "module-unknown"] == []  # others may bring them
    whole = workspace.run("bundle", "validate", "--complete", "--json")
    found = [each for each in whole.json["problems"] if each["code"] == "module-unknown"]
    told = [(each["message"].partition(" ")[0], each["severity"]) for each in found]
    assert told == [("context-odd", "error"), ("provider-strange", "error"), ("tool-mode", "warning")]
    assert whole.exit_code == 2


def test_a_misspelt_setting_of_a_module_of_ours_is_told_before_a_session_is_opened(
    workspace: Workspace,
) -> None:
    text = "bundle: {name: mine}\ntools:\n  - {module: tool-bash, config: {timout: 5, cwd: /tmp}%s}\n"
    workspace.write("bundle.yaml", text % "")
    told = workspace.run("bundle", "validate")
    assert told.exit_code == 0
    assert "bundle.yaml:3:42: warning: tool-bash has no setting 'timout': it is ignored" in told.stdout
    assert "did you mean `timeout`?" in told.stdout
    assert "'cwd'" not in told.stdout  # a bundle that includes this one may bring another tool-bash
    assert "tool-bash has no setting 'cwd'" in workspace.run("bundle", "validate", "--complete").stdout
    workspace.write("bundle.yaml", text % ", source: 'git+https://example.org/tool-bash@main'")
    assert "setting" not in workspace.run("bundle", "validate", "--complete").stdout


def test_a_misspelt_setting_is_told_for_the_session_and_for_agents_too(workspace: Workspace) -> None:
    workspace.write(
        "bundle.yaml",
        "bundle: {name: mine}\nsession:\n  orchestrator: {module: loop-basic, config: {max_iteration: 3}}\n"
        "agents:\n  x: {description: d, tools: [{module: tool-web, config: {time_out: 3}}]}\n",
    )
    told = workspace.run("bundle", "validate", "--json").json["problems"]
    assert [(each["code"], each["line"]) for each in told] == [("module-setting", 3), ("module-setting", 5)]
