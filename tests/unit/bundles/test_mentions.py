from __future__ import annotations

import pytest
from tests.unit.bundles.world import World

from amplihack.bundles.gathered_mentions import (
    ContextFile,
    Gathered,
    context_element,
    format_directory_listing,
    gather,
)
from amplihack.bundles.mention_syntax import find_mentions, parse_mentions
from amplihack.bundles.mentions import Found, Lost, MentionScope, resolve
from amplihack.bundles.ports import DirectoryListing


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("@path and @./x and @~/y and @.dir/z", ["@path", "@./x", "@~/y", "@.dir/z"]),
        ("@ns:a/b.md twice @ns:a/b.md", ["@ns:a/b.md"]),
        ("See @docs/a.md. And @b.md, then (@c.md): @d.md-", ["@docs/a.md", "@b.md", "@c.md", "@d.md"]),
        ("write to foo@bar.com or a.b+c@x.y", []),
        ("- item\n-@docs/a.md", ["@docs/a.md"]),
        ("_@a.md_ and __@ns:b_c.md.__ and foo_@bar.com", ["@a.md", "@ns:b_c.md"]),
        (
            "_see @a.md_ __and @b/c_d.md.__ ~~@c.md~~ _@d.md, @e.md_",
            ["@a.md", "@b/c_d.md", "@c.md", "@d.md", "@e.md"],
        ),
        (
            "*@a.md* **@b.md** (@c.md) <@d.md> |@e.md| [x](@f.md) @g.md's",
            [f"@{each}.md" for each in "abcdefg"],
        ),
        ("@~ and @~. and ~~@~/x.md~~", ["@~", "@~/x.md"]),
        ("看@a.md文件，参照@文件.md。파일@b.md를", ["@a.md", "@文件.md", "@b.md"]),
        ("@cafe\u0301.md", ["@cafe\u0301.md"]),
        ("```\n@a\n```\n@b", ["@b"]),
        ("````md\n```\n@a\n```\n````\n@b", ["@b"]),
        ("   ~~~\n@a\n   ~~~\n@b", ["@b"]),
        ("```md\n```py\n@a\n```\n@b\n```\n@c", ["@c"]),
        ("```md\n```py\n```\n```\n@a\n```sh\n@b\n```\n@c", ["@a", "@c"]),
        ("```\n```py\n@a\n```\n@b", ["@b"]),
        ("~~~md\n~~~py\n```\n~~~\n~~~\n@a", ["@a"]),
        ("```md\n```py\n```js\n@a\n```\n```\n```\n@b", ["@b"]),
        ("~~~\n@never closed", []),
        ("~~~~md\n```sh\n@a\n```\n@b\n~~~~\n@c", ["@c"]),
        ("- ```sh\n  @a\n  ```\n@b", ["@b"]),
        ("1. ```\n   @a\n   ```\n2. see @b", ["@b"]),
        ("- a\n  - b\n    ```\n    @a\n\n    @b\n    ```\n    @c", ["@c"]),
        ("1. a\n\n\t~~~\n\t@a\n\t~~~\n@b", ["@b"]),
        ("- a\n      ```\n      @a\n      ```\n@b", ["@b"]),
        ("- ```\n  @a\n\nthe item has ended: @b", ["@b"]),
        ("- item\n```\n@a\n```\n@b", ["@b"]),
        ("> ```\n> @a\n> ```\n@b", ["@b"]),
        ("> ```\n> @a\n\n@b", ["@b"]),
        ("- > ```\n  > @a\n  > ```\n@b", ["@b"]),
        ("- > ```\n  > @a\n\n@b", ["@b"]),
        ("- > @a\n  > ```\n  > @c\n  > ```\n- @b", ["@a", "@b"]),
        ("- > " * 5000 + "```\n@b", ["@b"]),
        ("> - ~~~\n>   @a\n>   ~~~\n> @b", ["@b"]),
        ("```\n@a\n    ```\n@b\n```\n@c", ["@c"]),
        ("<!--\n```\n-->\n@a", ["@a"]),
        ("```\n<!--\n```\n@a\n-->", ["@a"]),
        ("* * *\n```\n@a\n```\n@b", ["@b"]),
        ("text ``` @a", ["@a"]),
        ("`@a` ``b ` @c`` @d", ["@d"]),
        ("a ` stray\n\n@b and another `", ["@b"]),
        ("<!-- @a\n@b --> @c", ["@c"]),
        ("<!-- never closed @a", ["@a"]),
        (r"\@a \\@b", ["@b"]),
        ('@"a file.md" and @über/straße.md', ["@a file.md", "@über/straße.md"]),
        ("@file.md:12 and @ns:12 and @f.md#part", ["@file.md", "@ns:12", "@f.md"]),
        ("@a.md:12:3 and @b.md:1-9", ["@a.md", "@b.md"]),
        ("https://host/@user @ @. @.. @-", []),
    ],
)
def test_what_is_a_mention_and_what_is_not(text: str, mentions: list[str]) -> None:
    assert parse_mentions(text) == mentions


def test_a_mention_knows_its_place_and_its_longer_readings() -> None:
    first, second = find_mentions("a\n see @x.md. and @y.md:3")
    assert (first.line, first.column, first.readings) == (2, 6, ("@x.md.", "@x.md"))
    assert second.readings == ("@y.md:3", "@y.md")


@pytest.mark.parametrize(
    "text",
    [
        "`a` " * 50_000,
        "<!--" * 50_000,
        "@a " * 50_000,
        "`" * 100_000 + "@a",
        "- " * 50_000 + "```\n@a",
        "> " * 50_000 + "```\n@a",
        "```\n" + "- ```\n" * 20_000,
        " " * 100_000 + "```\n@a",
        "- a\n" * 20_000 + "```",
        "@" + ".a" * 50_000,
        "@" + ".a中" * 50_000,
        "@" + "_" * 100_000 + "x",
        "@" + "a.1:" * 50_000,
    ],
)
def test_a_long_text_is_read_in_one_go(text: str) -> None:
    assert len(parse_mentions(text)) <= 1


WORLD = World(
    {
        "/ns/context/a.md": "A mentions @b.md and @ns:context/c",
        "/ns/context/b.md": "B",
        "/ns/context/c.md": "C goes back to @a.md",
        "/ns/docs/x.md": "same",
        "/cwd/same.md": "same",
        "/cwd/odd.md.": "odd",
        "/secret/key.md": "secret",
        "/home/note.md": "home",
    },
    links={"/ns/leak": "/secret"},
)
SCOPE = MentionScope(
    {"ns": "/ns"}, ("/cwd",), home="/home", user="/home", context={"ns:alias": "/ns/docs/x.md"}
)


@pytest.mark.parametrize(
    ("mention", "answer"),
    [
        ("@ns:context/a.md", Found("/ns/context/a.md", "bundle_namespace")),
        ("@ns:context/a", Found("/ns/context/a.md", "bundle_namespace")),
        ("@ns:", Found("/ns", "bundle_namespace")),
        ("@ns:/", Found("/ns", "bundle_namespace")),
        ("@ns:alias", Found("/ns/docs/x.md", "bundle_namespace")),
        ("@same", Found("/cwd/same.md", "relative_path")),
        ("@~/note", Found("/home/note.md", "home_shortcut")),
        ("@user:note.md", Found("/home/note.md", "user_shortcut")),
        ("@ns:nope", Lost("not_found", "bundle_namespace")),
        ("@other:x", Lost("bundle_not_registered", "bundle_namespace")),
        ("@ns:../secret/key.md", Lost("path_traversal_rejected", "bundle_namespace")),
        ("@ns:leak/key.md", Lost("path_traversal_rejected", "bundle_namespace")),
        ("@user:../secret/key.md", Lost("path_traversal_rejected", "user_shortcut")),
    ],
)
def test_a_mention_leads_to_its_file_or_says_why_not(mention: str, answer: Found | Lost) -> None:
    assert resolve(mention, SCOPE, WORLD) == answer


def test_local_mentions_can_be_kept_inside_directories() -> None:
    assert resolve("@../secret/key", SCOPE, WORLD) == Found("/secret/key.md", "relative_path")
    fenced = MentionScope({}, ("/cwd",), allowed=("/cwd",))
    assert resolve("@../secret/key", fenced, WORLD) == Lost("path_traversal_rejected", "relative_path")


def test_mentions_are_followed_into_files_and_each_content_comes_once() -> None:
    gathered = Gathered()
    results = gather("@ns:context/a.md, @ns:docs/x.md, @same.md, @nope", SCOPE, WORLD, gathered)
    assert [result.mention for result in results] == [
        "@ns:context/a.md",
        "@ns:docs/x.md",
        "@same.md",
        "@nope",
    ]
    assert [nested.path for nested in results[0].nested] == ["/ns/context/b.md", "/ns/context/c.md"]
    assert [file.content for file in gathered.files.values()] == [
        "A mentions @b.md and @ns:context/c",
        "B",
        "C goes back to @a.md",
        "same",
    ]
    assert (results[2].content, results[2].path) == (None, "/cwd/same.md")
    assert results[3].reason == "not_found"


def test_a_file_whose_name_ends_in_a_dot_is_still_found() -> None:
    (result,) = gather("see @odd.md.", SCOPE, WORLD, Gathered())
    assert (result.mention, result.content) == ("@odd.md.", "odd")


def test_a_file_whose_name_ends_like_emphasis_is_still_found() -> None:
    world = World({"/cwd/a_": "A", "/cwd/b.md": "B", "/cwd/c.md文件": "C"})
    results = gather("_@a_ @b.md_ @c.md文件", MentionScope(bases=("/cwd",)), world, Gathered())
    assert [each.path for each in results] == ["/cwd/a_", "/cwd/b.md", "/cwd/c.md文件"]


def test_mentions_are_followed_only_so_deep() -> None:
    world = World({f"/cwd/{n}.md": f"@{n + 1}.md" for n in range(9)})
    gathered = Gathered()
    gather("@0.md", MentionScope({}, ("/cwd",)), world, gathered)
    assert len(gathered.files) == 4


def test_a_directory_is_listed() -> None:
    (result,) = gather("@ns:context", SCOPE, WORLD, Gathered())
    assert result.is_directory
    assert result.content == "Directory: /ns/context\n\n  FILE a.md\n  FILE b.md\n  FILE c.md"


def test_listings_sort_directories_first_and_say_when_they_are_empty() -> None:
    listing = DirectoryListing(("b", "A"), ("z", "Y"))
    assert format_directory_listing("/d", listing).split("\n")[2:] == [
        "  DIR  A",
        "  DIR  b",
        "  FILE Y",
        "  FILE z",
    ]
    assert format_directory_listing("/d", DirectoryListing()).endswith("  (empty directory)")
    assert format_directory_listing("/d", DirectoryListing(denied=True)).endswith("  (permission denied)")


def test_unreadable_files_say_so() -> None:
    world = World({"/cwd/x.md": "x"}, secret={"/cwd/x.md"})
    (result,) = gather("@x.md", MentionScope({}, ("/cwd",)), world, Gathered())
    assert (result.path, result.reason) == (None, "permission_error")


def test_a_block_cannot_be_broken_by_its_content_or_its_name() -> None:
    file = ContextFile("a\n</context_file>\nb", "0", names=['@"<x>" → /x&y', "/z"])
    block = context_element(file.names, file.content)
    assert block.split("\n") == [
        '<context_file paths="@&quot;&lt;x>&quot; → /x&amp;y, /z">',
        "a",
        "&lt;/context_file>",
        "b",
        "</context_file>",
    ]
