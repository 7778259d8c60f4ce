"""A value in a file that the script writes and runs is told, however both are done; in data it is not."""

from __future__ import annotations

import os
import subprocess
from itertools import count
from pathlib import Path

import pytest

from amplihack.errors import TemplateError
from amplihack.recipes.templates.shell import hazards, render_shell

_RUN = """
exec 3> s.sh; echo {{v}} >&3; bash s.sh
exec {fd}> s.sh; echo {{v}} >&"${fd}"; bash s.sh
exec 4<> s.sh; echo {{v}} >&4; . ./s.sh
exec > s.sh; echo {{v}}; exec > /dev/null; sh s.sh
echo {{v}} 3> s.sh >&3; bash s.sh
echo {{v}} >& s.sh; bash s.sh
echo {{v}} | sort -o s.sh; bash s.sh
echo {{v}} | sort --output=s.sh; bash s.sh
curl -fsSL "https://x/{{v}}" -o s.sh && ./s.sh
curl -O "https://x/{{v}}/s.sh"; bash s.sh
wget "https://x/{{v}}/s.sh"; bash s.sh
wget -O s.sh "https://x/{{v}}"; sh s.sh
echo {{v}} | sudo tee /usr/local/bin/x; /usr/local/bin/x
echo {{v}} > p; patch s.sh < p; bash s.sh
echo {{v}} | patch -p1; bash s.sh
git apply <<< {{v}}; ./run.sh
ed s.sh <<< {{v}}; bash s.sh
V={{v}} envsubst < t > s.sh; bash s.sh
export V={{v}}; envsubst < t | bash
install -m 755 /dev/stdin s.sh <<< {{v}}
echo {{v}} > s.sh; sudo bash s.sh
echo {{v}} > s.sh; timeout 5 env A=b bash -x s.sh
echo {{v}} > s.sh; nohup ./s.sh &
echo {{v}} > s.sh; docker run -v "$PWD:/w" image bash /w/s.sh
echo {{v}} > s.sh; find . -name s.sh -exec bash {} \\;
echo {{v}} > s.sh; for f in *.sh; do bash "$f"; done
echo {{v}} > s.sh; ls *.sh | xargs bash
echo {{v}} > s.sh; at -f s.sh now
echo {{v}} > s.sh; crontab s.sh
echo {{v}} > a/s.sh; cd a; bash s.sh
d=out; echo {{v}} > out/s.sh; bash $d/s.sh
f=s.sh; echo {{v}} > s.sh; bash "$f"
t=$(mktemp); echo {{v}} > "$t"; chmod +x "$t"; "${t}"
t=$(mktemp -d); echo {{v}} > "$t/s.sh"; (cd "$t" && bash s.sh)
echo {{v}} > ~/bin/foo; chmod +x ~/bin/foo; foo
echo {{v}} > .git/hooks/pre-commit
echo "export X={{v}}" >> ~/.bashrc
echo {{v}} | sudo tee /etc/cron.d/x
echo {{v}} > Makefile; make
echo {{v}} > build.mk; make -f build.mk all
echo {{v}} > t; cp t a/s.sh; cd a; ./s.sh
f() { echo {{v}}; }; f > s.sh; bash s.sh
"""
_OTHER_LANGUAGES = """
echo {{v}} > x.py; python3 x.py  # python
echo {{v}} > x.py; uv run x.py  # python
echo {{v}} > x.py; chmod +x x.py; ./x.py  # python
printf '#!/usr/bin/env python3\\n%s' {{v}} > x; chmod +x x  # python
echo {{v}} > x.js; node x.js  # node
echo {{v}} > q.sql; psql -f q.sql  # SQL
echo {{v}} > q.sql; sqlite3 db < q.sql  # SQL
echo {{v}} > p.jq; jq -f p.jq f  # jq
echo {{v}} > p.awk; awk -f p.awk f  # awk
echo {{v}} > p.sed; sed -f p.sed f  # sed
"""
_DATA = """
echo {{v}} > out.txt; bash run.sh out.txt
echo {{v}} > out.txt; ./run.sh < out.txt
echo {{v}} > build/out.txt; ./build.sh
echo {{v}} > s.sh; bash -n s.sh
echo {{v}} > s.sh; shellcheck s.sh
echo {{v}} > key.pem; chmod 600 key.pem
echo {{v}} > dir/x.txt; chmod -R 755 dir
echo {{v}} > .env; docker compose up
echo {{v}} > Dockerfile; docker build .
echo {{v}} > data.json; python3 data.py
echo {{v}} > cfg.yaml; ./tool --config cfg.yaml
X={{v}} envsubst < t > out.yaml; kubectl apply -f out.yaml
exec > log.txt; echo {{v}}; bash s.sh
exec > >(tee log.txt) 2>&1; echo {{v}}; ./s.sh
exec 3> s.sh; echo ls >&3; git commit -m {{v}}; bash s.sh
echo x > s.sh; echo {{v}} 2>&1; bash s.sh
git apply fix.patch; echo {{v}}; ./test.sh
curl -fL -o tool.zip {{v}}; unzip tool.zip; chmod +x tool; ./tool
./configure --prefix={{v}} && make && make install
install -m 644 x y; echo {{v}} > y
tee -a ~/.ssh/known_hosts <<< {{v}}
curl -fsSL https://x/i.sh -o "{{v}}/i.sh"; bash "$HOME/i.sh"
gcc {{v}}.c -o prog && ./prog
go build -o app ./{{v}} && ./app
git apply {{v}}; ./test.sh
[ a = b -o "$m" = {{v}} ]; bash "$m"
g() { echo {{v}}; }; f() { echo ls; }; f > s.sh; bash s.sh
id={{v}}; o=$(getopt -o ab -- "$@"); eval set -- "$o"; echo "$id"
"""


def _lines(text: str) -> list[str]:
    return text.strip().splitlines()


@pytest.mark.parametrize("template", _lines(_RUN))
def test_a_value_in_a_file_that_is_run_is_told(template: str) -> None:
    assert {(hazard.kind, hazard.detail) for hazard in hazards(template)} == {("source", "bash")}
    (warning,) = render_shell(template, {"v": "ls"}, token=lambda: "t").warnings
    assert warning == "the value of v is run as a bash program on line 1"


@pytest.mark.parametrize("template", _lines(_OTHER_LANGUAGES))
def test_a_file_in_another_language_is_told_with_it(template: str) -> None:
    script, _, language = template.rpartition("  # ")
    assert {(hazard.kind, hazard.detail) for hazard in hazards(script)} == {("source", language)}


@pytest.mark.parametrize("template", _lines(_DATA))
def test_a_value_in_a_file_of_data_is_no_finding(template: str) -> None:
    assert hazards(template) == ()
    assert render_shell(template, {"v": "ls"}, token=lambda: "t").warnings == ()


@pytest.mark.parametrize(
    "written",
    [
        'printf %s "$1"',
        'for ((i = 0; i < 1; i++)); do printf %s "$1"; done',
        'n=2; (( n > 1 )) && printf %s "$1"',
        'sleep $((RANDOM % 1)); [ -n "$1" ] && printf %s "$1"',
    ],
)
def test_a_script_that_calculates_only_with_its_own_numbers_takes_any_value(
    written: str, tmp_path: Path
) -> None:
    value = "$(touch canary) `x` <(y)"
    source = render_shell(
        f"echo '{written}' > s.sh; bash s.sh {{{{v}}}}", {"v": value}, token=lambda: "t"
    ).source
    assert _printed(source, value, tmp_path) == value
    assert not (tmp_path / "canary").exists()


_WRITES = "cat > count.sh <<'EOF'\necho $(( $1 ))\nEOF\n"


@pytest.mark.parametrize(
    "start",
    [
        "timeout 5 bash count.sh {{v}}",
        "env A=b bash count.sh {{v}}",
        "chmod +x count.sh; nohup ./count.sh {{v}}",
        "mkdir a; mv count.sh a/; cd a; bash count.sh {{v}}",
        'f=count.sh; bash "$f" {{v}}',
        "find . -name count.sh -exec bash {} {{v}} \\;",
        "for f in *.sh; do bash $f {{v}}; done",
        "exec bash ./count.sh {{v}}",
    ],
)
def test_a_script_that_is_started_in_some_other_way_evaluates_no_value_either(
    start: str, tmp_path: Path
) -> None:
    value, numbers = "a[$(touch canary)]", count()
    with pytest.raises(TemplateError, match="calculates with"):
        render_shell(_WRITES + start, {"v": value}, token=lambda: f"t{next(numbers)}")
    source = render_shell(_WRITES + start, {"v": "7"}, token=lambda: f"t{next(numbers)}").source
    assert _printed(source, "7", tmp_path) == "7\n"


@pytest.mark.parametrize(
    "template",
    [
        "echo '(( $1 ))' > t; cp t s.sh; bash s.sh {{v}}",
        "echo '(( $1 ))' > t; cat t > s.sh; bash s.sh {{v}}",
        "echo '(( $1 ))' > s.sh; bash -s {{v}} < s.sh",
        "echo '(( $1 ))' > s.sh; run() { \"$@\"; }; run bash s.sh {{v}}",
        "echo '(( $1 ))' > s.sh; c=(bash s.sh); \"${c[@]}\" {{v}}",
        "echo '(( $1 ))' > s.sh; c='bash s.sh'; $c {{v}}",
        "echo 'read n; (( n ))' > s.sh; echo {{v}} | bash s.sh",
        "echo 'n=$(cat f); (( n ))' > s.sh; echo {{v}} > f; bash s.sh",
        "echo 'n=$1' > s.sh; echo '(( n ))' >> s.sh; bash s.sh {{v}}",
        "{ echo 'n=$1'; echo '(( n ))'; } > s.sh; bash s.sh {{v}}",
    ],
)
def test_no_value_gets_to_a_calculation_in_a_written_script_on_any_way(template: str) -> None:
    with pytest.raises(TemplateError, match="calculates with"):
        render_shell(template, {"v": "a[$(touch canary)]"}, token=lambda: "t")


def _printed(source: str, value: str, folder: Path) -> str:
    environment = {"PATH": os.environ["PATH"], "RECIPE_VAR_v": value}
    return subprocess.run(
        ["bash", "-c", source], cwd=folder, env=environment, capture_output=True, text=True, check=False
    ).stdout
