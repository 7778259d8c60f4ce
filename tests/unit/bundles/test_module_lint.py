"""What keeps a module from being installed or mounted, found by reading its files."""

from __future__ import annotations

import pytest
from tests.unit.bundles.world import World

from amplihack.bundles.module_lint import ModulePlace, lint_module, lint_root_package

PROJECT = """\
[project]
name = "amplifier-module-tool-x"
dependencies = [%s]
[project.entry-points."amplifier.modules"]
tool-x = "amplifier_module_tool_x:mount"
[build-system]
requires = ["hatchling"]
"""
MOUNT = """\
async def mount(coordinator, config=None):
    %s
"""
SOUND = MOUNT % 'await coordinator.mount("tools", Tool(), name="x")'


def world(project: str | None = PROJECT % "", code: str | None = SOUND, **more: str) -> World:
    files = {f"/m/{name.replace('__', '/')}": text for name, text in more.items()}
    if project is not None:
        files["/m/pyproject.toml"] = project
    if code is not None:
        files["/m/amplifier_module_tool_x/__init__.py"] = code
    return World(files)


def found(there: World, section: str = "tools") -> list[str]:
    return [each.code for each in lint_module(ModulePlace("/m", section, "tool-x"), there)]


def test_a_sound_module_is_not_blamed() -> None:
    assert found(world()) == []
    assert found(world(PROJECT % '"httpx>=0.27", "pydantic"')) == []


@pytest.mark.parametrize(
    ("dependency", "code"),
    [
        ("amplifier-core", "kernel-dependency"), ("amplifier_core>=1.0.0", "kernel-dependency"),
        ("Amplifier.Core[x] ; python_version > '3'", "kernel-dependency"),
        ("amplifier-foundation @ git+https://x/y", "kernel-dependency"), ("amplihack", "kernel-dependency"),
        ("amplifier-bundle-foo>=0.1.0", "bundle-dependency"),
    ],
)  # fmt: skip
def test_what_the_session_provides_is_no_dependency(dependency: str, code: str) -> None:
    there = world(PROJECT % f'"{dependency}"')
    (problem,) = lint_module(ModulePlace("/m", "tools", "tool-x"), there)
    assert (problem.code, problem.where and problem.where.line) == (code, 3)
    poetry = f'[tool.poetry.dependencies]\n"{dependency.split()[0].split(">")[0].split("[")[0]}" = "*"\n'
    assert found(world(PROJECT % "" + poetry)) == [code]
    assert found(world(**{"requirements.txt": f"{dependency}\n# amplifier-core\n"})) == [code]


def test_a_kernel_for_development_is_fine() -> None:
    assert found(world(PROJECT % "" + '[dependency-groups]\ndev = ["amplifier-core"]\n')) == []


def test_sources_of_uv_have_no_effect() -> None:
    sources = '[tool.uv.sources]\nmy-shared = { path = "../../shared" }\n'
    (needed,) = lint_module(ModulePlace("/m", "tools", "tool-x"), world(PROJECT % '"my_shared"' + sources))
    assert (needed.code, needed.severity, needed.where and needed.where.line) == ("uv-sources", "warning", 8)
    (unneeded,) = lint_module(ModulePlace("/m", "tools", "tool-x"), world(PROJECT % "" + sources))
    assert (unneeded.code, unneeded.severity) == ("uv-sources", "note")


HATCH = '[tool.hatch.build.targets.wheel]\npackages = ["src/my_package"]\n'
FORCED = f'{HATCH}[tool.hatch.build.targets.wheel.force-include]\n"agents" = "%s"\n'


@pytest.mark.parametrize(
    ("target", "codes"),
    [
        ("my_package/agents", ["package-shadowed"]), ("/my_package/context/a.md", ["package-shadowed"]),
        ("my_package", ["package-shadowed"]), ("my_package/_bundle/agents", []),
        ("./my_package/agents", ["package-shadowed"]), ("./my_package/_bundle/agents", []),
        ("my_package/data/agents", []), ("other/agents", []), ("my_package/py.typed", []),
    ],
)  # fmt: skip
def test_assets_must_not_lie_over_the_package(target: str, codes: list[str]) -> None:
    assert found(world(PROJECT % "" + FORCED % target)) == codes
    root = lint_root_package("/m", world(PROJECT % "" + FORCED % target))
    assert [each.code for each in root] == ["root-package", *codes]


def test_a_bundle_without_a_package_has_nothing_to_tell() -> None:
    assert lint_root_package("/m", world(None)) == ()
    assert lint_root_package("/m", world("[tool.ruff]\n")) == ()


@pytest.mark.parametrize(
    "name", ["json.py", "logging__/__init__.py".replace("__/", "/"), "amplifier_core/__init__.py"]
)
def test_a_package_of_a_known_name_hides_it_from_all(name: str) -> None:
    there = world()
    there.files[f"/m/{name}"] = ""
    assert found(there) == ["package-hidden"]


@pytest.mark.parametrize(
    "body",
    [
        "logger.info('mounted')", "return None", "pass", "raise NotImplementedError", "return {'name': 'x'}",
        "logger.info('with %s', coordinator)", "print(coordinator)", "x = coordinator.get('tools')",
        "coordinator.hooks.register('e', f)", "tool = Tool()", "coordinator.mount('tools', t)",
        "async def later():\n        await coordinator.mount('tools', t)\n    return {}",
        "async def cleanup():\n        pass\n    return cleanup",
        "return None\n    await coordinator.mount('tools', t)",
        "if config:\n        raise ValueError\n        await coordinator.mount('tools', t)",
        "if coordinator is None or not coordinator:\n        return None",
        "assert coordinator, f'{coordinator}'",
        "if coordinator:\n        logger.info(f'with {coordinator}')",
        "if False:\n        await coordinator.mount('tools', t)",
        "if not True:\n        await f(coordinator)\n    elif 0:\n        await f(coordinator)",
        "if True:\n        return\n    await coordinator.mount('tools', t)",
        "while False:\n        await coordinator.mount('tools', t)",
        "while True:\n        break\n        await coordinator.mount('tools', t)",
        "for t in []:\n        await coordinator.mount('tools', t)",
        "if typing.TYPE_CHECKING:\n        await coordinator.mount('tools', t)",
        "False and await coordinator.mount('tools', t)",
        "x = await coordinator.mount('tools', t) if False else None",
        "del coordinator, config", "_ = coordinator",
    ],
)  # fmt: skip
def test_a_mount_that_mounts_nothing_is_told(body: str) -> None:
    (problem,) = lint_module(ModulePlace("/m", "tools", "tool-x"), world(code=MOUNT % body))
    assert (problem.code, str(problem.where)) == (
        "mounts-nothing",
        "/m/amplifier_module_tool_x/__init__.py:1:1",
    )


@pytest.mark.parametrize(
    "body",
    [
        "await coordinator.mount('tools', t)", "return Tool()", "await helper(coordinator, config)",
        "tool = Tool(coordinator)", "put = coordinator.mount\n    await put('tools', t)",
        "for t in tools:\n        await coordinator.mount('tools', t)", "await helper(c=coordinator)",
        "await Thing(coordinator.config).start()", "asyncio.create_task(coordinator.mount('tools', t))",
        "async def now():\n        await coordinator.mount('tools', t)\n    await now()",
        "await helper({'coordinator': coordinator})",
        "parts = [coordinator, config]\n    await helper(parts)",
        "c: Any = coordinator\n    await c.mount('tools', t)",
        "c = coordinator if config else None\n    await go(c)",
        "await helper(*(coordinator, config))", "await helper(**{'c': coordinator})",
        "if False:\n        return\n    await coordinator.mount('tools', t)",
        "if True:\n        await coordinator.mount('tools', t)",
        "if False:\n        pass\n    else:\n        await coordinator.mount('tools', t)",
        "while True:\n        await coordinator.mount('tools', t)\n        break",
        "for t in [Tool()]:\n        await coordinator.mount('tools', t)",
        "if not False:\n        await coordinator.mount('tools', t)",
        "x = config or await coordinator.mount('tools', t)",
    ],
)  # fmt: skip
def test_a_mount_that_may_mount_something_is_not_blamed(body: str) -> None:
    assert found(world(code=MOUNT % body)) == []


def test_hooks_are_registered_rather_than_mounted() -> None:
    assert found(world(code=MOUNT % "coordinator.hooks.register('e', f)"), "hooks") == []
    assert found(world(code=MOUNT % "logger.info('x')"), "hooks") == ["mounts-nothing"]


@pytest.mark.parametrize("head", ["", "mount = _mount", "mount: Mount = start\nstart = _mount"])
def test_a_mount_is_followed_through_its_other_names(head: str) -> None:
    name = "_mount" if head else "mount"
    idle = (MOUNT % "pass").replace("mount", name)
    sound = SOUND.replace("def mount", f"def {name}")
    assert found(world(code=f"{idle}\n{head}\n")) == ["mounts-nothing"]
    assert found(world(code=f"{sound}\n{head}\n")) == []


def test_a_mount_is_followed_through_stars() -> None:
    part = {"amplifier_module_tool_x__part.py": MOUNT % "pass"}
    assert found(world(code="from .part import *\n", **part)) == ["mounts-nothing"]
    assert found(world(code="from .part import *\n", **{**part, **dict.fromkeys(part, SOUND)})) == []
    assert found(world(code="from elsewhere import *\n")) == []


@pytest.mark.parametrize(
    ("value", "told"), [("None", ["no-mount"]), ("made()", []), ("mount", []), ("other", [])]
)
def test_a_mount_that_is_no_function_is_told_where_that_is_certain(value: str, told: list[str]) -> None:
    assert found(world(code=f"mount = {value}\n")) == told


def test_a_mount_is_found_where_it_is_imported_from() -> None:
    there = world(code="from .part import mount_it as mount\n")
    there.files["/m/amplifier_module_tool_x/part.py"] = "async def mount_it(coordinator, config): pass\n"
    (problem,) = lint_module(ModulePlace("/m", "tools", "tool-x"), there)
    assert (problem.code, problem.where and problem.where.file) == (
        "mounts-nothing", "/m/amplifier_module_tool_x/part.py",
    )  # fmt: skip
    for unknown in ("from elsewhere import mount\n", "from .gone import *\n", "mount = make()\n"):
        assert found(world(code=unknown)) == []
    assert found(world(code="x = 1\n")) == ["no-mount"]
    assert found(world(code="class Tool:\n    async def mount(self): ...\n")) == ["no-mount"]
    assert found(world(code=f"try:\n    import fast\nexcept ImportError:\n    fast = None\n{SOUND}")) == []
    assert found(world(project=None, code="x = 1\n")) == []


def test_an_expression_of_any_depth_is_no_trouble() -> None:
    assert found(world(code=f"x = {' + '.join(['1'] * 3000)}\n{SOUND}")) == []


def test_a_module_that_is_no_python_is_told_with_its_line() -> None:
    (problem,) = lint_module(ModulePlace("/m", "tools", "tool-x"), world(code=f"{SOUND}x = (1\n"))
    assert (problem.code, problem.where and problem.where.line) == ("module-syntax", 3)


@pytest.mark.parametrize("packages", ['packages = ["amplifier_module_tool_x/"]', 'exclude = ["tests"]'])
def test_the_package_of_a_wheel_is_known_however_it_is_named(packages: str) -> None:
    wheel = f"[tool.hatch.build.targets.wheel]\n{packages}\n[tool.hatch.build.targets.wheel.force-include]\n"
    assert found(world(f'{PROJECT % ""}{wheel}"agents" = "amplifier_module_tool_x/agents"\n')) == [
        "package-shadowed"
    ]


def test_an_entry_point_has_the_name_that_the_bundle_uses() -> None:
    assert found(world((PROJECT % "").replace("tool-x =", "tool-y ="))) == ["no-entry-point"]
    assert found(world('[project]\nname = "x"\n')) == ["no-entry-point"]
    assert found(world("[project\n")) == ["module-package"]


def test_a_module_in_another_language_has_no_mount() -> None:
    there = world(code=None)
    there.files["/m/amplifier.toml"] = '[module]\ntransport = "rust"\n'
    there.files["/m/pyproject.toml"] = "[tool.x]\n"
    assert found(there) == []


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("setup.cfg", "[options]\ninstall_requires =\n    httpx\n    amplifier-core>=1\n"),
        ("setup.py", "setup(name='x', install_requires=['httpx', 'amplifier-core'])\n"),
        ("setup.cfg", "[options]\ninstall_requires = httpx; amplifier-core\n"),
        ("setup.py", "needs = ['amplifier-core']\nsetup(install_requires=['httpx'] + needs)\n"),
        ("setup.py", "setup(install_requires='''\nhttpx\namplifier-core>=1\n''')\n"),
        ("setup.py", "setup(**{'install_requires': ['amplifier-core']})\n"),
        ("requirements.txt", "httpx\n-r more/base.txt\n"),
        ("requirements.txt", "git+https://github.com/microsoft/amplifier-core@main\n"),
        ("requirements.txt", "-e git+https://host/core.git@v1#subdirectory=x&egg=amplifier_core\n"),
        ("requirements.txt", "--editable=../../../amplifier-core/\n"),
        ("requirements.txt", "https://host/amplifier_core-2.0.2-py3-none-any.whl ; python_version > '3'\n"),
    ],
)
def test_the_kernel_is_no_dependency_wherever_it_is_named(file: str, text: str) -> None:
    there = world(**{file: text, "more/base.txt": "# amplifier-core\namplifier_core\n"})
    assert found(there) == ["kernel-dependency"]


@pytest.mark.parametrize(
    "text", ["[options\n", "setup(install_requires=needed)\n", "def (:\n", "[options]\na=%(b)s\n"]
)
def test_what_cannot_be_read_asks_for_nothing(text: str) -> None:
    assert found(world(**{"setup.cfg": text, "setup.py": text})) == []


@pytest.mark.parametrize(
    "told",
    [
        '[tool.setuptools.dynamic]\ndependencies = {file = ["more/base.txt"]}\n',
        '[tool.setuptools.dynamic.dependencies]\nfile = "more/base.txt"\n',
        '[tool.hatch.metadata.hooks.requirements_txt]\nfiles = ["more/base.txt"]\n',
        '[tool.flit.metadata]\nrequires = ["amplifier-core"]\n',
    ],
)
def test_the_kernel_is_no_dependency_in_a_file_that_the_project_names(told: str) -> None:
    there = world(PROJECT % "" + told, **{"more/base.txt": "httpx\namplifier-core\n"})
    assert found(there) == ["kernel-dependency"]


@pytest.mark.parametrize(
    "line",
    ["git+https://host/amplifier-core-x@main", "./vendor/httpx", "https://host/amplifier-core/httpx-1.zip"],
)
def test_an_address_of_another_package_is_not_blamed(line: str) -> None:
    assert found(world(**{"requirements.txt": f"{line}\n"})) == []


@pytest.mark.parametrize(
    "file",
    [
        "src/amplifier_module_tool_x/__init__.py", "amplifier_module_tool_x.py", "__init__.py",
        "src/amplifier_module_tool_x.py", "src/amplifier_module_other/__init__.py",
    ],
)  # fmt: skip
def test_a_mount_is_found_wherever_a_session_would_find_it(file: str) -> None:
    nothing, something = World({f"/m/{file}": MOUNT % "pass"}), World({f"/m/{file}": SOUND})
    assert (found(nothing), found(something)) == (["mounts-nothing"], [])


def test_a_package_below_src_hides_others_too() -> None:
    files = {
        "src/amplifier_module_tool_x/__init__.py": SOUND,
        "src/json.py": "",
        "pyproject.toml": PROJECT % "",
    }
    assert found(World({f"/m/{name}": text for name, text in files.items()})) == ["package-hidden"]


def test_poetry_spells_an_entry_point_its_own_way() -> None:
    project = '[tool.poetry]\nname = "x"\n[tool.poetry.plugins."amplifier.modules"]\n'
    assert found(world(project + 'tool-x = "amplifier_module_tool_x:mount"\n')) == []
    assert found(world(project + 'tool-y = "amplifier_module_tool_x:mount"\n')) == ["no-entry-point"]


def test_an_entry_point_names_a_function() -> None:
    assert found(world((PROJECT % "").replace(":mount", ""))) == ["no-entry-point"]


def test_a_package_that_is_nowhere_is_told() -> None:
    assert found(world(code=None)) == ["no-package"]
    assert found(world(None, None, **{"notes.txt": ""})) == ["no-package"]


@pytest.mark.parametrize(
    "file",
    [
        "python/amplifier_module_tool_x/__init__.py",
        "Cargo.toml",
        "amplifier_module_tool_x.abi3.so",
        "setup.py",
    ],
)
def test_a_package_that_lies_or_is_built_elsewhere_is_not_missed(file: str) -> None:
    assert found(world(code=None, **{file: ""})) == []


@pytest.mark.parametrize(
    ("head", "is_sound"),
    [
        ("async def mount(coordinator, config=None):", True), ("async def mount(c, *rest):", True),
        ("async def mount(c, config, name='x'):", True), ("async def mount(c, /, config, *, k=1):", True),
        ("async def mount(c):", False), ("async def mount():", False),
        ("async def mount(c, config, name):", False), ("async def mount(c, config, *, k):", False),
        ("def mount(c, config):", False), ("@made\ndef mount(c):", True),
    ],
)  # fmt: skip
def test_a_mount_is_called_with_two_arguments_and_awaited(head: str, is_sound: bool) -> None:
    code = f"{head}\n    await c.mount('tools', 1)\n    await coordinator.mount('tools', 1)\n"
    assert ("mount-call" not in found(world(code=code))) == is_sound


def test_a_mount_that_returns_what_is_awaited_need_not_be_async() -> None:
    assert found(world(code="def mount(c, config):\n    return c.mount('tools', 1)\n")) == []


def test_a_package_of_the_usual_name_needs_no_entry_point() -> None:
    project = (PROJECT % "").replace('tool-x = "amplifier_module_tool_x:mount"\n', "")
    (note,) = lint_module(ModulePlace("/m", "tools", "tool-x"), world(project))
    assert (note.code, note.severity) == ("no-entry-point", "note")
    elsewhere = world(project, code=None, **{"tool_x/__init__.py": SOUND})
    (problem,) = lint_module(ModulePlace("/m", "tools", "tool-x"), elsewhere)
    assert (problem.code, problem.severity) == ("no-entry-point", "warning")
