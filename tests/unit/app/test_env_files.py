"""Variables of files: which value counts, and what is said of the others."""

from __future__ import annotations

from pathlib import Path

from amplihack.app.env_files import add_env_files


def test_every_value_that_loses_is_told(tmp_path: Path) -> None:
    first, second = tmp_path / "a.env", tmp_path / "b.env"
    first.write_text("TOKEN=1\nPORT=80\nTOKEN=2\nPORT=80\n")
    second.write_text("PORT=81\nHOST=x\n")
    environment, notes = add_env_files({"HOST": "y"}, {"a.env": first, "b.env": second})
    assert environment == {"TOKEN": "2", "PORT": "81", "HOST": "y"}
    assert [(str(each.where or ""), each.severity, each.what) for each in notes] == [
        ("a.env:3:1", "warning", "TOKEN has another value before, which is lost: this one counts"),
        ("", "note", "--env-file: b.env replaces PORT of an earlier file"),
        ("", "note", "--env-file: the environment has another value for HOST, which counts"),
    ]


def test_a_reference_that_stays_as_it_is_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.env"
    file.write_text(
        "NAME=x\nURL=http://$NAME\nBIN=\"$HOME/bin\"\nPASS=pa$word\nASIS='$NAME'\nTO=${OTHER}\nPATH=$PATH:/x\n"
    )
    environment, notes = add_env_files({"HOME": "/home/me", "PATH": "/bin"}, {"a.env": file})
    assert environment["URL"] == "http://$NAME"
    assert [(str(each.where or ""), each.severity, each.what) for each in notes] == [
        ("a.env:2:1", "warning", "$NAME stays in URL as it is: nothing in an env file is filled in"),
        ("a.env:3:1", "warning", "$HOME stays in BIN as it is: nothing in an env file is filled in"),
        ("a.env:6:1", "warning", "${…} stays in TO as it is: nothing in an env file is filled in"),
        ("", "note", "--env-file: the environment has another value for PATH, which counts"),
    ]
