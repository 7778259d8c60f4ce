"""What a command puts off to start sooner is there as soon as somebody looks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ASK = """
import sys
from amplihack.cli.quick_start import quick_start
from amplihack.cli.stand_ins import LaterModule
quick_start()
import amplihack.documents.reader, asyncio
later = "ssl asyncio.sslproto asyncio.subprocess concurrent.futures inspect logging subprocess"
for name in later.split():
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


def test_what_a_function_is_can_be_asked_without_loading_the_module() -> None:
    assert ask("""
import functools
async def later(): ...
def now(): ...
def marked(): ...
marked._is_coroutine = asyncio.coroutines._is_coroutine
class Both:
    async def later(self): ...
    def now(self): ...
is_one = asyncio.iscoroutinefunction
print(is_one(later), is_one(now))
print(type(sys.modules["inspect"]).__name__)
print(is_one(functools.partial(later)), is_one(functools.partial(now)))
print(is_one(Both().later), is_one(Both().now))
print(is_one(marked))
""").splitlines() == ["True False", "LaterModule", "True False", "True False", "True"]


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


def test_processes_and_threads_of_asyncio_work() -> None:
    assert ask("""
async def main():
    process = await asyncio.create_subprocess_exec("echo", "started", stdout=asyncio.subprocess.PIPE)
    print((await process.communicate())[0], asyncio.iscoroutinefunction(asyncio.create_subprocess_shell))
    print(await asyncio.to_thread(lambda: "in a thread"))
    done, _ = await asyncio.wait([asyncio.create_task(asyncio.sleep(0))], return_when=asyncio.FIRST_COMPLETED)
    print(len(done))
asyncio.run(main())
import subprocess, concurrent.futures.thread
print(subprocess.run(["true"]).returncode, concurrent.futures.ThreadPoolExecutor.__module__)
""").splitlines() == ["b'started\\n' True", "in a thread", "1", "0 concurrent.futures.thread"]


def test_what_asyncio_has_to_say_is_logged() -> None:
    assert ask("""
import sys
async def main():
    asyncio.get_running_loop().call_exception_handler({"message": "something is wrong"})
sys.stderr = sys.stdout
asyncio.run(main())
print(type(sys.modules["logging"]) is LaterModule)
import logging, logging.handlers
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format="%(name)s %(message)s")
asyncio.run(asyncio.sleep(0))
print(logging.handlers.SysLogHandler.__name__, asyncio.log.logger.name, logging.getLogger().name)
""").splitlines() == [
        "something is wrong",
        "False",
        "asyncio Using selector: EpollSelector"
        if sys.platform == "linux"
        else "asyncio Using selector: KqueueSelector",
        "SysLogHandler asyncio root",
    ]


def test_debugging_shows_where_a_future_was_made() -> None:
    assert (
        ask("""
async def main():
    future = asyncio.get_running_loop().create_future()
    print(future._source_traceback[-2].name)
asyncio.run(main(), debug=True)
""")
        == "main\n"
    )


def test_what_is_set_on_a_module_is_set_on_the_real_one() -> None:
    assert (
        ask("""
import ssl
ssl._create_default_https_context = 1
import http.client
print(type(sys.modules["ssl"]) is LaterModule, sys.modules["ssl"]._create_default_https_context)
""")
        == "False 1\n"
    )


def test_a_module_in_c_and_one_of_a_moved_tree_are_found(tmp_path: Path) -> None:
    package = tmp_path / "old"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "part.py").write_text("def place(): return place.__code__.co_filename\n")
    look = "sys.path.insert(0, {!r}); import {}.part as part; print(part.place(), part.__cached__)"
    first = ask(look.format(str(tmp_path), "old"))
    package.rename(tmp_path / "new")
    assert ask(look.format(str(tmp_path), "new")) == first.replace("/old/", "/new/")
    assert ask("import select, math; print(select.__spec__.has_location, math.floor(1.5))").split()[1] == "1"


def test_loaders_of_yaml_in_python_still_work() -> None:
    text = "a: [1, 2.5, yes, 2026-11-16, null]"
    assert ask(f"import yaml; print(yaml.load({text!r}, Loader=yaml.SafeLoader))") == (
        "{'a': [1, 2.5, True, datetime.date(2026, 11, 16), None]}\n"
    )


def test_json_is_the_real_package_when_it_is_used() -> None:
    assert (
        ask("""
import json
print(type(json) is LaterModule, json.dumps({"a": [1, None]}), json.dumps is sys.modules["json"].dumps)
""")
        == 'True {"a": [1, null]} True\n'
    )
    assert ask("import json.decoder; print(json.decoder.JSONDecodeError.__name__)") == "JSONDecodeError\n"
    assert ask("from json import loads; print(loads('[1]'))") == "[1]\n"


def test_what_others_took_from_a_module_that_was_put_off_works() -> None:
    assert (
        ask("""
from pathlib import PurePosixPath
print(PurePosixPath("/a b").as_uri(), PurePosixPath("/ä").as_uri())
from urllib.parse import urlsplit
print(urlsplit("https://[::1]:8080/x").hostname)
""")
        == "file:///a%20b file:///%C3%A4\n::1\n"
    )
    assert (
        ask("""
from gettext import gettext, ngettext
import gettext as whole
print(gettext("options"), ngettext("a", "b", 1), ngettext("a", "b", 2), whole.NullTranslations.__name__)
""")
        == "options a b NullTranslations\n"
    )


def test_modules_that_are_found_at_once_know_where_they_are() -> None:
    assert (
        ask("""
import amplihack.recipes.check.recipe as module, amplihack.recipes.check as package, email.message
assert module.__file__ == module.__spec__.origin and module.__file__.endswith("check/recipe.py"), module
assert module.__cached__ and module.__package__ == "amplihack.recipes.check", module.__package__
assert package.__path__ == [package.__file__.removesuffix("/__init__.py")], package.__path__
import importlib.metadata, importlib.resources
print(importlib.resources.files("email").joinpath("message.py").is_file(), email.__path__[0] != "")
""")
        == "True True\n"
    )


def test_a_module_that_is_not_there_is_told_as_usual() -> None:
    assert ask("""
for name in ("amplihack.recipes.nothing", "email.nothing", "nothing_at_all", "json.nothing"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        print(error.name)
""").split() == ["amplihack.recipes.nothing", "email.nothing", "nothing_at_all", "json.nothing"]


def test_changed_source_is_read_again(tmp_path: Path) -> None:
    package = tmp_path / "changing"
    package.mkdir()
    (package / "__init__.py").write_text("")
    look = f"sys.path.insert(0, {str(tmp_path)!r}); import changing.part; print(changing.part.VALUE)"
    for value in (1, 22):
        (package / "part.py").write_text(f"VALUE = {value}\n")
        assert ask(look) == f"{value}\n"


def test_a_library_puts_nothing_off() -> None:
    text = (
        "import re, sys, amplihack; compile = re.compile; amplihack.parse_recipe; "
        "print(re.compile is compile, {type(sys.modules[name]) for name in ('ssl', 'inspect')})"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "True {<class 'module'>}\n"
