"""Take the text from a page."""

from __future__ import annotations

import re
from email.message import Message
from html.parser import HTMLParser

from amplihack.modules.tools.tool import ToolFailed

_UNSEEN = {"script", "style", "noscript", "template", "svg", "head"}
_BLOCKS = {
    "p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "pre",
    "table", "ul",
}  # fmt: skip
_TEXTUAL = ("text/", "application/json", "application/xml", "application/javascript", "+json", "+xml")


def page_text(data: bytes, content_type: str) -> str:
    """Return the text of a page, of HTML without its markup. Raises ToolFailed for what is no text."""
    header = Message()
    header["Content-Type"] = content_type or "text/plain"
    kind = header.get_content_type()
    if not any(kind.startswith(each) or kind.endswith(each) for each in _TEXTUAL):
        raise ToolFailed(f"it is {kind}, {len(data)} bytes, and no text", fix="fetch a page of text")
    text = _decoded(data, str(header.get_param("charset") or "utf-8"))
    if kind not in ("text/html", "application/xhtml+xml"):
        return text
    reader = _PageReader()
    reader.feed(text)
    reader.close()
    return reader.text()


def _decoded(data: bytes, charset: str) -> str:
    try:
        return data.decode(charset, "replace")
    except LookupError:  # a charset that nobody knows
        return data.decode("utf-8", "replace")


class _PageReader(HTMLParser):
    """Gathers what a reader would see, with the targets of links."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._unseen = 0
        self._targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag in _BLOCKS:
            self._parts.append("\n- " if tag == "li" else "\n")
        elif tag == "a":
            self._targets.append(dict(attrs).get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag in _BLOCKS:
            self._parts.append("\n")
        elif tag == "a" and self._targets:
            target = self._targets.pop()
            if target.startswith(("http://", "https://")):
                self._parts.append(f" <{target}>")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self._parts.append(re.sub(r"\s+", " ", data))

    def text(self) -> str:
        lines = (re.sub(r" +", " ", line).strip() for line in "".join(self._parts).split("\n"))
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
