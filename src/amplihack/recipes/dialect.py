"""Tell which community a file was written for: the one it states, else by what only one tool could mean."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.documents import Mapping, Node, Scalar, Sequence
from amplihack.recipes.fields import Dialect
from amplihack.records import Record

# Agents of the bundles that come with the other community's tool, and those that come with ours.
_ITS_AGENTS = ("foundation:", "recipes:")
_OUR_AGENTS = "amplihack:"
# What that tool hands to every command: its interpreter, and a directory for files that steps leave.
LEFT = "AMPLIFIER_RECIPE_SCRATCH_DIR"
_ITS_VARIABLES = ("AMPLIFIER_PYTHON", LEFT)
# A setting of its sessions.
_ITS_SETTING = "min_delay_between_calls_ms"


class Verdict(Record):
    """The dialect of a file, and what tells it."""

    dialect: Dialect
    mark: str = ""  # what nothing but the other community's tool could have meant
    stated: bool = False

    @property
    def reason(self) -> str:
        if self.stated:
            return "stated in the file"
        return f"it has {self.mark}" if self.mark else "nothing in it says otherwise"


def detect(root: Mapping) -> Verdict:
    """Return the dialect that the file states; else `amplifier` if it bears a mark of that tool.

    Fields of the language are no mark, whichever community they come from: to add one to a step must not
    change what the other steps mean.
    """
    match _text(root, "dialect"):
        case "amplihack" | "amplifier" as stated:
            return Verdict(stated, stated=True)
    mark = next(_marks(root), "")
    return Verdict("amplifier" if mark else "amplihack", mark)


def _marks(root: Mapping) -> Iterator[str]:
    if _ITS_SETTING in _names(root, "orchestrator", "config"):
        yield f"the session setting `{_ITS_SETTING}`"
    if "schema_version" in root.entries and "dependencies" in root.entries:
        yield "`schema_version:` and `dependencies:`"
    steps = list(_steps(root))
    ours = any(_text(step, "agent").startswith(_OUR_AGENTS) for step in steps)
    for step in steps:
        agent, recipe = _text(step, "agent"), _text(step, "recipe")
        if agent.startswith(_ITS_AGENTS) and not ours:
            yield f"the agent `{agent}`"
        if recipe.startswith("@"):
            yield f"the sub-recipe `{recipe}`"
        command = _text(step, "command")
        if "AMPLIFIER_" in command:
            yield from (f"`${name}`" for name in _ITS_VARIABLES if _asks_for(name, command))


def _asks_for(name: str, script: str) -> bool:
    """Tell whether a script takes a variable from its surroundings: reads it, and does not set it itself."""
    import re  # deferred: hardly any script names one

    code = re.sub(r"(?m)^\s*#.*$", "", script)
    before = r"(?m)(?:^|[;&|({]|\b(?:export|local|declare|readonly|for|read))\s*"
    reads = rf"\$\{{?{name}\b"
    sets = re.search(rf"{before}{name}(?:=(?![\"']?{reads})|\s|$)", code)
    return re.search(reads, code) is not None and sets is None


def _steps(node: Mapping) -> Iterator[Mapping]:
    for key in ("steps", "stages", "while_steps"):
        children = node.entries.get(key)
        for child in children.items if type(children) is Sequence else ():
            if isinstance(child, Mapping):
                if key != "stages":
                    yield child
                yield from _steps(child)


def _names(node: Node | None, *path: str) -> tuple[str, ...]:
    """Return the keys of the mapping at the end of a path."""
    for key in path:
        node = node.entries.get(key) if isinstance(node, Mapping) else None
    return tuple(node.entries) if isinstance(node, Mapping) else ()


def _text(node: Mapping, key: str) -> str:
    value: Node | None = node.entries.get(key)
    return value.text if isinstance(value, Scalar) else ""
