"""Check what an agent says of itself, in a bundle or in a file of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amplihack.bundles.file_report import FileReport, is_absent, is_text, kind_of
from amplihack.bundles.tree import Items, Table, Tree, to_plain

_TEXTS = ("description", "instruction", "instructions", "path")
_MODEL = "write `model_role:`, or `provider_preferences:` with a provider and a model"
_TEXT = "write it as `instruction:`; in a file of its own, below the frontmatter"
_TOOLS = "list modules below `tools:`; `spawn:` of the bundle says what agents inherit"
# Words of other tools, and what to write.
_FOREIGN = {
    "model": _MODEL,
    **dict.fromkeys(("prompt", "system_prompt", "system", "system-prompt"), _TEXT),
    **dict.fromkeys(("allowed_tools", "allowed-tools", "disallowed_tools", "disallowedTools"), _TOOLS),
}
_PREFERENCE_FIX = "write each preference on a line of its own as `- {provider: …, model: …}`"


def check_agent_keys(entries: Mapping[str, Tree], owner: str, report: FileReport) -> None:
    """Report parts that have the wrong type, and words of other tools, which have no effect."""
    for key in _TEXTS:
        item = entries.get(key)
        if item is not None and not is_absent(item) and not is_text(item):
            what = f"{owner} `{key}` should be text, got {kind_of(item)}"
            report.warn("agent-value", what, item, "write one text, in quotes if need be")
    role = entries.get("model_role")
    if role is not None and not is_absent(role) and not _are_names(to_plain(role)):
        what = f"{owner} `model_role` should be a name or a list of names, got {kind_of(role)}"
        report.warn("agent-value", what, role, "write `model_role: fast`, or a list, best first")
    for what, item in _wrong_preferences(entries.get("provider_preferences")):
        report.warn("agent-value", f"{owner} `provider_preferences` {what}", item, _PREFERENCE_FIX)
    for key, fix in _FOREIGN.items():
        item = entries.get(key)
        if item is not None and not is_absent(item) and to_plain(item) != "inherit":
            report.note("agent-key", f"{owner} `{key}` has no effect", item, fix)


def _are_names(plain: object) -> bool:
    return all(isinstance(each, str) for each in (plain if isinstance(plain, list) else [plain]))


def _wrong_preferences(tree: Tree | None) -> Iterator[tuple[str, Tree]]:
    if tree is None or is_absent(tree):
        return
    if not isinstance(tree, Items):
        yield f"should be a list, got {kind_of(tree)}", tree
        return
    for index, item in enumerate(tree.items):
        if not isinstance(item, Table):
            yield f"[{index}] should be a mapping, got {kind_of(item)}", item
        elif missing := [key for key in ("provider", "model") if not item.text(key)]:
            yield f"[{index}] names no {' and no '.join(missing)}", item


def check_access(access: Tree, owner: str, report: FileReport) -> bool:
    """Tell whether `agents` of an agent says whom it may call; report what means nothing."""
    plain = to_plain(access)
    if plain in ("all", "none") or (isinstance(plain, list) and all(isinstance(each, str) for each in plain)):
        return True
    what = f"{owner} `agents` should be all, none or a list of names, got {plain!r}"
    report.error("agent-access", what, access, "write `agents: none`, `agents: all` or a list")
    return False
