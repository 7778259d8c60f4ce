"""What a command puts off to start sooner is there as soon as somebody looks."""

from __future__ import annotations

import subprocess
import sys

ASK = """
import sys
from amplihack.cli.quick_start import LaterModule, quick_start
quick_start()
import amplihack.documents.reader, asyncio
for name in ("ssl", "asyncio.sslproto", "inspect"):
    assert isinstance(sys.modules[name], LaterModule), name
"""


def ask(text: str) -> str:
    done = subprocess.run([sys.executable, "-c", ASK + text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_module_that_was_put_off_is_the_real_one_when_it_is_used() -> None:
    assert ask("""
import ssl, inspect
print(ssl.create_default_context().check_hostname, inspect.isclass(int), asyncio.iscoroutinefunction(1))
from traceback import format_exc
import asyncio.sslproto
print(asyncio.sslproto.SSLProtocol.__name__, sys.modules["ssl"] is ssl, type(sys.modules["ssl"]).__name__)
""").splitlines() == ["True True False", "SSLProtocol False module"]


def test_several_threads_may_be_the_first_to_look() -> None:
    assert (
        ask("""
from concurrent.futures import ThreadPoolExecutor
import inspect
with ThreadPoolExecutor(16) as pool:
    print(set(pool.map(lambda _: inspect.signature(lambda a: a).parameters["a"].name, range(200))))
""")
        == "{'a'}\n"
    )


def test_encrypted_streams_work() -> None:
    assert (
        ask("""
import ssl
async def main():
    server = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        async with asyncio.timeout(5):
            secure = ssl.create_default_context()
            await asyncio.open_connection("127.0.0.1", port, ssl=secure, ssl_handshake_timeout=0.2)
    except (ConnectionError, ssl.SSLError, TimeoutError):
        print("refused")
asyncio.run(main())
""")
        == "refused\n"
    )


def test_loaders_of_yaml_in_python_still_work() -> None:
    text = "a: [1, 2.5, yes, 2026-11-16, null]"
    assert ask(f"import yaml; print(yaml.load({text!r}, Loader=yaml.SafeLoader))") == (
        "{'a': [1, 2.5, True, datetime.date(2026, 11, 16), None]}\n"
    )


def test_a_library_puts_nothing_off() -> None:
    text = (
        "import re, sys, amplihack; compile = re.compile; amplihack.parse_recipe; "
        "print(re.compile is compile, {type(sys.modules[name]) for name in ('ssl', 'inspect')})"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "True {<class 'module'>}\n"
