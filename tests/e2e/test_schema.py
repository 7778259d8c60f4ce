"""An editor asks what a recipe may contain."""

from __future__ import annotations

from tests.support.workspace import Workspace


def test_the_schema_describes_every_field_and_refers_only_to_what_it_defines(workspace: Workspace) -> None:
    answer = workspace.run("recipe", "schema")
    assert (answer.exit_code, answer.stderr) == (0, "")
    schema = answer.json
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert {"name", "steps", "stages", "context", "extends", "hooks"} <= set(schema["properties"])
    assert {"command", "prompt", "recipe", "condition"} <= set(schema["$defs"]["step"]["properties"])
    assert _references(schema) <= {f"#/$defs/{name}" for name in schema["$defs"]}


def _references(node: object) -> set[str]:
    if isinstance(node, list):
        return set().union(*(_references(child) for child in node))
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"]} if "$ref" in node else set()
    return own.union(*(_references(child) for child in node.values()))
