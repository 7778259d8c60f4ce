"""Say what to do about a module that cannot be mounted."""

from __future__ import annotations

_MOUNT = "async def mount(coordinator, config=None)"
_MOUNT_A_TOOL = (
    "call `await coordinator.mount('tools', tool, name=tool.name)` in mount();"
    " a placeholder tool that says 'not yet implemented' is fine"
)
# A piece of the kernel's message, and what to do about it.
_FIXES = (
    ("No mount() function", f"define `{_MOUNT}` in the package's __init__.py"),
    ("mount_exists", f"define `{_MOUNT}` in the package's __init__.py"),
    ("mount_signature", f"write it as `{_MOUNT}`"),
    ("No tool was mounted", _MOUNT_A_TOOL),
    ("mounts_nothing", _MOUNT_A_TOOL),
    ("No provider was mounted", "set the credentials that it needs, or let mount() raise what is missing"),
    (
        "did not install a new provider",
        "set the credentials that it needs, or let mount() raise what is missing",
    ),
    ("was mounted and mount() did not return", "mount it: `await coordinator.mount(<its kind>, object)`"),
    ("does not implement", "add the members that the message names"),
    ("tool_execute", "write it as `async def execute(self, input_data)`, with a ToolResult as its result"),
    ("tool_name", "give the tool a `name` that is a text and not empty"),
    ("Error loading module", "importing its package raises this: correct it there"),
    (
        "Error during protocol compliance",
        "its mount() raises this: correct it, or give the module what it needs",
    ),
    ("Refusing to", "a process can hold one copy of a package: use one source for it, or another process"),
    (
        "No module named",
        "add the package to `dependencies` of its pyproject.toml; if it is there, let it be installed",
    ),
    ("no valid Python package", "name the package amplifier_module_<id> and give it an __init__.py"),
)


def fix_for(what: str, module_id: str) -> str:
    """Return what to do about a message; where to look if nothing better is known."""
    known = next((fix for piece, fix in _FIXES if piece in what), "")
    if known:
        return known
    if "not found" in what or "not among" in what:
        return f"add a `source:` for {module_id}, or install a distribution with that entry point"
    return f"`amplihack bundle validate` looks into {module_id} without running it"
