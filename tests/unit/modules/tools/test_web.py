"""Pages come from the public network only: by name, by number, by redirect and by name service."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.support.tool_stage import mounted

from amplihack.modules.tools.web.fetching import WebFetch, WebSettings
from amplihack.system.sources.public_hosts import is_public

pytestmark = pytest.mark.asyncio

PAGE = b"""<html><head><title>t</title><script>var secret = 1</script></head><body><h1>Title</h1>
<p>Some   <b>bold</b> words and a <a href="https://example.com/x">link</a>.</p><ul><li>one</li><li>two</li></ul>
<style>p {}</style></body></html>"""


class _Site(BaseHTTPRequestHandler):
    asked: list[str]

    def do_GET(self) -> None:
        self.server.asked.append(f"{self.headers['Host']}{self.path}")  # type: ignore[attr-defined]
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path[4:])
            self.end_headers()
            return
        kind, body = {
            "/page": ("text/html; charset=utf-8", PAGE),
            "/data": ("application/json", b'{"a": 1}'),
            "/long": ("text/plain", b"0123456789" * 100),
            "/picture": ("image/png", b"\x89PNG"),
        }.get(self.path, ("text/plain", b"plain"))
        self.send_response(404 if self.path == "/gone" else 200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    server.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def settings(**more: object) -> WebSettings:
    chosen: dict[str, object] = {
        "offline": False, "seconds": 10.0, "most_bytes": 10_000, "page": 1_000,
        "allowed": (), "denied": (), "private": (), **more,
    }  # fmt: skip
    return WebSettings(**chosen)  # type: ignore[arg-type]


async def fetched(url: str, tool: WebFetch) -> str:
    result = await tool.execute({"url": url})
    assert not result.success, result.output
    return str(result.output)


async def test_a_page_is_given_as_text_in_parts(tmp_path: Path, site: ThreadingHTTPServer) -> None:
    here = f"http://127.0.0.1:{site.server_port}"
    config = {"allowed_private_hosts": ["127.0.0.1"], "page_characters": 600}
    async with mounted("tool-web", tmp_path, config=config) as tools:
        page = await tools.call("web_fetch", url=f"{here}/to/{here}/page")
        assert (
            page["content"]
            == "Title\n\nSome bold words and a link <https://example.com/x>.\n\n- one\n\n- two"
        )
        assert page["url"] == f"{here}/page"
        assert (await tools.call("web_fetch", url=f"{here}/data"))["content"] == '{"a": 1}'
        first = await tools.call("web_fetch", url=f"{here}/long")
        assert first["note"] == "characters 0 to 600 of 1000: the rest with offset 600"
        assert len((await tools.call("web_fetch", url=f"{here}/long", offset=600))["content"]) == 400
        assert "no text" in await tools.fails("web_fetch", url=f"{here}/picture")
        assert "404" in await tools.fails("web_fetch", url=f"{here}/gone")


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "127.1", "0x7f000001", "[::ffff:127.0.0.1]"],
)
async def test_this_machine_is_refused_in_every_spelling(site: ThreadingHTTPServer, host: str) -> None:
    said = await fetched(f"http://{host}:{site.server_port}/page", WebFetch(settings()))
    assert "not on the public network" in said or "not known" in said
    assert site.asked == []  # type: ignore[attr-defined]


async def test_a_redirect_to_a_private_address_is_refused(site: ThreadingHTTPServer) -> None:
    here = f"http://127.0.0.1:{site.server_port}"
    tool = WebFetch(settings(private=(f"127.0.0.1:{site.server_port}",)))
    for target in (f"http://localhost:{site.server_port}/page", "http://169.254.169.254/", "http://[::1]/"):
        assert "not on the public network" in await fetched(f"{here}/to/{target}", tool)
    assert "not a web address" in await fetched(f"{here}/to/file:///etc/passwd", tool)
    assert [each for each in site.asked if "/page" in each and "/to/" not in each] == []  # type: ignore[attr-defined]


async def test_a_name_that_leads_to_a_private_address_is_refused(site: ThreadingHTTPServer) -> None:
    for answer in (["10.0.0.1"], ["127.0.0.1"], ["93.184.216.34", "192.168.0.1"], ["fd00::1"], []):
        tool = WebFetch(settings(), resolve=lambda _host, _port, answer=answer: answer)  # type: ignore[misc]
        said = await fetched(f"http://innocent.example:{site.server_port}/page", tool)
        assert "not on the public network" in said or "no address" in said
    assert site.asked == []  # type: ignore[attr-defined]


async def test_a_name_is_looked_up_once_so_that_its_second_answer_cannot_differ(
    site: ThreadingHTTPServer,
) -> None:
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])
    tool = WebFetch(settings(private=("rebinding.example",)), resolve=lambda _host, _port: next(answers))
    result = await tool.execute({"url": f"http://rebinding.example:{site.server_port}/page"})
    assert result.success
    assert site.asked == [f"rebinding.example:{site.server_port}/page"]  # type: ignore[attr-defined]
    assert next(answers) == ["10.0.0.1"]


async def test_a_proxy_of_the_environment_does_not_get_around_the_check(
    site: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{site.server_port}")
    tool = WebFetch(settings(), resolve=lambda _host, _port: ["10.0.0.1"])
    assert "not on the public network" in await fetched("http://inner.example/page", tool)
    assert site.asked == []  # type: ignore[attr-defined]


async def test_hosts_may_be_allowed_and_denied() -> None:
    only = WebFetch(
        settings(allowed=("*.example",), denied=("bad.example",)), resolve=lambda _h, _p: ["10.0.0.1"]
    )
    assert "is not allowed here" in await fetched("http://other.test/", only)
    for spelling in ("bad.example", "BAD.example", "bad.example.", "ｂad.example", "bad。example"):
        assert "is not allowed here" in await fetched(f"http://{spelling}/", only), spelling
    assert "not on the public network" in await fetched("http://good.example/", only)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://x/", "x", "http://", "http://u:p@x/", "http://[/"]
)
async def test_what_is_no_web_address_is_refused(url: str) -> None:
    assert await fetched(url, WebFetch(settings()))


async def test_too_much_and_no_network_are_told(site: ThreadingHTTPServer) -> None:
    url = f"http://127.0.0.1:{site.server_port}/long"
    assert "larger than 100 bytes" in await fetched(
        url, WebFetch(settings(most_bytes=100, private=("127.0.0.1",)))
    )
    assert "switched off" in await fetched(url, WebFetch(settings(offline=True)))


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True), ("2606:2800:220:1::1", True), ("10.0.0.1", False), ("172.16.0.1", False),
        ("192.168.1.1", False), ("127.0.0.1", False), ("169.254.169.254", False), ("100.64.0.1", False),
        ("0.0.0.0", False), ("255.255.255.255", False), ("224.0.0.1", False), ("192.0.2.1", False),
        ("::1", False), ("::", False), ("fe80::1%eth0", False), ("fc00::1", False), ("ff02::1", False),
        ("::ffff:10.0.0.1", False), ("::ffff:93.184.216.34", True), ("2002:7f00:1::", False),
        ("64:ff9b::7f00:1", False), ("::7f00:1", False), ("nonsense", False), ("fec0::1", False),
        ("64:ff9b:1::7f00:1", False), ("192.0.0.8", False), ("192.88.99.1", False), ("3fff::1", False),
    ],
)  # fmt: skip
async def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(address) is public
