"""Write the page of a run as one file that needs nothing else.

Values of a run reach the page as JSON in a block that no browser runs, with every `<` written as an escape.
The page's policy allows our one script by its hash and no request at all: even markup that got in could do
nothing.
"""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amplihack.patterns import pattern
from amplihack.system.run_store.codec import dump
from amplihack.system.run_store.values import hash_of

_HERE = Path(__file__).parent
_PLACE = pattern(r"@([A-Z_]+)@")
# In JSON these stand in texts only, where the escapes mean the same.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def page_html(title: str, data: Mapping[str, Any]) -> str:
    """Return the page that shows the data of a run."""
    style, script = _part("page.css"), _part("page.js")
    parts = {
        "TITLE": html.escape(title),
        "STYLE": style,
        "STYLE_HASH": _hash(style),
        "SCRIPT": script,
        "SCRIPT_HASH": _hash(script),
        "DATA": dump(data).translate(_ESCAPES),
    }
    # In one pass: what was put in is not looked at again.
    return _PLACE.sub(lambda found: parts[found.group(1)], _part("page.html"))


def _part(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


def _hash(text: str) -> str:
    return b64encode(bytes.fromhex(hash_of(text.encode("utf-8")))).decode()
