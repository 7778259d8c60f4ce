"""Write findings as SARIF 2.1.0, the format that code hosts and editors show beside the lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

from amplihack.errors import Location, Problem
from amplihack.recipes.check.codes import CODES, UNREADABLE

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def to_sarif(findings: Sequence[Problem], version: str) -> dict[str, Any]:
    """Return one run with one result for each finding, ready for `json.dumps`."""
    codes = sorted({finding.code or UNREADABLE for finding in findings})
    positions = {code: index for index, code in enumerate(codes)}
    driver = {"name": "amplihack", "version": version, "rules": [_rule(code) for code in codes]}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, positions) for finding in findings],
            }
        ],
    }


def _rule(code: str) -> dict[str, Any]:
    return {
        "id": code,
        "shortDescription": {"text": CODES.get(code, code.replace("-", " ").capitalize() + ".")},
    }


def _result(finding: Problem, positions: dict[str, int]) -> dict[str, Any]:
    code = finding.code or UNREADABLE
    text = f"{finding.what}\nfix: {finding.fix}" if finding.fix else finding.what
    result: dict[str, Any] = {
        "ruleId": code,
        "ruleIndex": positions[code],
        "level": finding.severity,
        "message": {"text": text},
    }
    if finding.where:
        result["locations"] = [{"physicalLocation": _place(finding.where)}]
    return result


def _place(where: Location) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": where.line, "startColumn": where.column}
    if where.text:
        region["snippet"] = {"text": where.text}
    return {"artifactLocation": {"uri": _uri(where.file)}, "region": region}


def _uri(file: str) -> str:
    """Return a path as a URI reference: absolute ones name the scheme, relative ones stay relative."""
    path = quote(file.replace("\\", "/"), errors="surrogateescape")
    return f"file://{path}" if path.startswith("/") else path
