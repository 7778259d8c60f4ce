"""A value that decides which command runs, or that is code, is told; one that is an argument is not."""

from __future__ import annotations

import pytest

from amplihack.recipes.templates.shell import hazards, render_shell

_COMMANDS = """
exec {{v}}
exec {{v}} arg
sudo {{v}}
sudo -u root {{v}}
env {{v}}
env FOO=1 {{v}}
env -i A=1 {{v}}
nohup {{v}}
nohup {{v}} &
xargs {{v}} < list
ls | xargs -n 1 {{v}}
ls | xargs -I{} {{v}} {}
docker run image {{v}}
docker exec c {{v}}
kubectl exec pod -- {{v}}
timeout 5 {{v}}
timeout -s KILL 5 {{v}}
time {{v}}
command {{v}}
builtin {{v}}
coproc {{v}}
! {{v}}
nice -n 5 {{v}}
setsid {{v}}
stdbuf -oL {{v}}
strace {{v}}
chroot /x {{v}}
find . -exec {{v}} {} ;
busybox {{v}}
flock f {{v}}
npx {{v}}
npx -c {{v}}
uvx {{v}}
npm exec {{v}}
uv run {{v}}
poetry run {{v}}
bundle exec {{v}}
pipx run {{v}}
conda run {{v}}
xvfb-run {{v}}
dbus-run-session {{v}}
runuser -u x -- {{v}}
gosu x {{v}}
tini -- {{v}}
dumb-init {{v}}
systemd-run {{v}}
git bisect run {{v}}
entr {{v}}
fd -x {{v}}
fd . -x {{v}} {}
gnome-terminal -- {{v}}
perf stat {{v}}
valgrind {{v}}
gtimeout 5 {{v}}
caffeinate {{v}}
arch -x86_64 {{v}}
doas {{v}}
pkexec {{v}}
unshare -r {{v}}
setpriv --x {{v}}
watchexec {{v}}
docker compose exec web {{v}}
docker compose run web {{v}}
multipass exec vm -- {{v}}
wsl {{v}}
mosh host -- {{v}}
lerna exec {{v}}
zellij run -- {{v}}
start-stop-daemon --start --exec {{v}}
lxc exec c -- {{v}}
if {{v}}; then echo; fi
while {{v}}; do echo; done
$({{v}})
x=$({{v}} a)
a | {{v}}
"""
_CODE = """
git -c {{v}} log  # bash
git -c alias.x={{v}} x  # bash
sqlite3 db {{v}}  # SQL
sqlite3 -cmd {{v}} db  # SQL
expect -c {{v}}  # Tcl
psql -c {{v}}  # SQL
psql db -c "{{v}}"  # SQL
mysql -e {{v}}  # SQL
awk {{v}} f  # awk
sed {{v}} f  # sed
sed -e {{v}} f  # sed
sed "s/a/{{v}}/" f  # sed
perl -e {{v}}  # perl
perl -pe "s/x/{{v}}/"  # perl
python -c {{v}}  # python
python3 -c "print('{{v}}')"  # python
ssh host {{v}}  # bash
ssh host "cd /x && {{v}}"  # bash
docker exec c sh -c {{v}}  # bash
make CC={{v}}  # bash
tmux send-keys {{v}} Enter  # bash
watch {{v}}  # bash
parallel {{v}} ::: a  # bash
su -c {{v}}  # bash
su root -c {{v}}  # bash
script -c {{v}} log  # bash
find . -exec sh -c {{v}} ;  # bash
flock f -c {{v}}  # bash
eval {{v}}  # bash
bash -c {{v}}  # bash
source {{v}}  # bash
. {{v}}  # bash
trap {{v}} EXIT  # bash
jq {{v}} f  # jq
jq ".x == \"{{v}}\"" f  # jq
node -e {{v}}  # node
ruby -e {{v}}  # ruby
php -r {{v}}  # php
lua -e {{v}}  # lua
osascript -e {{v}}  # AppleScript
pwsh -Command {{v}}  # bash
nix-shell --run {{v}}  # bash
screen -X stuff {{v}}  # bash
gdb -ex {{v}}  # bash
vim -c {{v}}  # bash
emacs --eval {{v}}  # Lisp
mongosh --eval {{v}}  # node
mongo --eval {{v}}  # node
clickhouse-client --query {{v}}  # SQL
duckdb db {{v}}  # SQL
duckdb -c {{v}}  # SQL
yq {{v}} f  # yq
gnuplot -e {{v}}  # gnuplot
octave --eval {{v}}  # octave
elixir -e {{v}}  # elixir
scala -e {{v}}  # scala
groovy -e {{v}}  # groovy
ssh -o ProxyCommand={{v}} host  # bash
rsync -e {{v}} a b  # bash
tar --to-command={{v}} -xf a  # bash
tar -I {{v}} -xf a  # bash
sort --compress-program={{v}}  # bash
man -P {{v}} x  # bash
git rebase --exec {{v}}  # bash
git submodule foreach {{v}}  # bash
git filter-branch --tree-filter {{v}}  # bash
rg --pre {{v}} x  # bash
vagrant ssh -c {{v}}  # bash
gcloud compute ssh x --command {{v}}  # bash
ansible all -a {{v}}  # bash
ansible all -m shell -a {{v}}  # bash
fzf --preview {{v}}  # bash
xterm -e {{v}}  # bash
hyperfine {{v}}  # bash
concurrently {{v}}  # bash
nodemon --exec {{v}}  # bash
entr -s {{v}}  # bash
heroku run {{v}}  # bash
fly ssh console -C {{v}}  # bash
git config alias.x {{v}}  # bash
git config --global core.pager {{v}}  # bash
gh alias set x {{v}}  # bash
ex -c {{v}} f  # bash
vim +{{v}} f  # bash
aws ssm send-command --parameters commands={{v}}  # bash
az vm run-command invoke --scripts {{v}}  # bash
sed "s/a/{{v}}/e" f  # bash
sed -i '' "s/a/{{v}}/" f  # sed
uv run python - <<< {{v}}  # python
python3 -W ignore -c {{v}}  # python
bash -euo pipefail -c {{v}}  # bash
ipython -c {{v}}  # python
dc -e {{v}}  # dc
PAGER={{v}} git log  # bash
EDITOR={{v}} git commit  # bash
env git config alias.x {{v}}  # bash
git config --global core.pager {{v}}  # bash
gh alias set x {{v}}  # bash
ex -c {{v}} f  # bash
vim +{{v}} f  # bash
aws ssm send-command --parameters commands={{v}}  # bash
az vm run-command invoke --scripts {{v}}  # bash
sed "s/a/{{v}}/e" f  # bash
sed -i '' "s/a/{{v}}/" f  # sed
uv run python - <<< {{v}}  # python
python3 -W ignore -c {{v}}  # python
bash -euo pipefail -c {{v}}  # bash
ipython -c {{v}}  # python
dc -e {{v}}  # dc
PAGER={{v}} git log  # bash
GIT_SSH={{v}} git fetch  # bash
GIT_ASKPASS={{v}} git fetch  # bash
KUBE_EDITOR={{v}} kubectl edit x  # bash
git config remote.x.uploadpack {{v}}  # bash
git config hook.x.command {{v}}  # bash
git -c protocol.ext.allow=always clone ext::{{v}}  # bash
git clone -u {{v}} host:x  # bash
git grep --open-files-in-pager={{v}} x  # bash
rails runner {{v}}  # ruby
bundle exec rails runner -e test {{v}}  # ruby
redis-cli -h x EVAL {{v}} 0  # lua
python manage.py shell -c {{v}}  # python
./manage.py shell --command={{v}}  # python
uv run manage.py shell -c {{v}}  # python
php artisan tinker --execute={{v}}  # php
wp eval {{v}}  # php
drush php:eval {{v}}  # php
R --no-save -e {{v}}  # R
ghc -e {{v}}  # Haskell
erl -noshell -eval {{v}}  # Erlang
mix run -e {{v}}  # elixir
iex -e {{v}}  # elixir
nix-instantiate --eval -E {{v}}  # nix
nix eval --expr {{v}}  # nix
npx tsx -e {{v}}  # node
sbcl --eval {{v}}  # Lisp
guile -c {{v}}  # Lisp
clojure -e {{v}}  # Lisp
emacsclient --eval {{v}}  # Lisp
jshell <<< {{v}}  # Java
irb <<< {{v}}  # ruby
sqlcmd -Q {{v}}  # SQL
bq query --format=json {{v}}  # SQL
cypher-shell -u me {{v}}  # SQL
trino --execute {{v}}  # SQL
cqlsh -e {{v}}  # SQL
autossh -M 0 host {{v}}  # bash
pdsh -w host {{v}}  # bash
pssh -h hosts {{v}}  # bash
salt x cmd.run {{v}}  # bash
minikube ssh {{v}}  # bash
cmd /c {{v}}  # bash
screen -S x -X exec {{v}}  # bash
docker run --health-cmd {{v}} image  # bash
docker run --entrypoint sh image -c {{v}}  # bash
docker run --entrypoint=python image -c {{v}}  # python
"""
_ARGUMENTS = """
sudo apt install {{v}}
bin={{v}}; "$bin" x; $bin/tool
sudo apt-get install -y "{{v}}"
sudo -u {{v}} ls
sudo systemctl restart {{v}}
env FOO={{v}} ls
env FOO=1 ls {{v}}
nohup ./server {{v}} &
xargs -n {{v}} rm < list
ls | xargs -I{} cp {} {{v}}
git -c user.name={{v}} commit -m {{v}}
git commit -m {{v}}
sqlite3 {{v}} "select 1"
sqlite3 {{v}}
psql -d {{v}} -c "select 1"
psql -U {{v}}
mysql -u {{v}} -e "select 1"
awk '{print $1}' {{v}}
awk -v x={{v}} '{print x}' f
sed -n 1p {{v}}
sed -i s/a/b/ {{v}}
perl -e 'print 1' {{v}}
python script.py {{v}}
python -m http.server {{v}}
python -c 'print(1)' {{v}}
ssh {{v}} uptime
ssh -i {{v}} host uptime
ssh -p {{v}} host
docker exec {{v}} ls
docker run -e X={{v}} image ls
docker run {{v}}
docker build -t {{v}} .
docker exec c ls {{v}}
docker run image ls {{v}}
kubectl exec {{v}} -- ls
kubectl get pod {{v}}
kubectl -n {{v}} get pods
timeout {{v}} ls
timeout 5 ls {{v}}
time ls {{v}}
command ls {{v}}
command -v {{v}}
builtin cd {{v}}
coproc cat {{v}}
nice -n {{v}} ls
nice ls {{v}}
exec ls {{v}}
exec > {{v}}
exec 3> {{v}}
setsid ls {{v}}
chroot {{v}} ls
find {{v}} -name x
find . -name {{v}}
find . -name {{v}} -exec rm {} ;
find . -exec grep {{v}} {} ;
flock {{v}} ls
make -C {{v}} all
make -j {{v}}
make {{v}}
tmux new -s {{v}}
tmux kill-session -t {{v}}
watch -n {{v}} ls
su {{v}} -c ls
script -q {{v}}
trap 'rm x' {{v}}
jq . {{v}}
jq --arg x {{v}} '.a == $x' f
node script.js {{v}}
npm install {{v}}
npm run build -- {{v}}
npx eslint {{v}}
uvx ruff check {{v}}
uv run pytest {{v}}
uv pip install {{v}}
poetry run pytest {{v}}
poetry add {{v}}
gh pr create --title {{v}}
curl -d {{v}} http://x
redis-cli set k {{v}}
redis-cli -h {{v}} ping
duckdb {{v}}
yq . {{v}}
strace -o {{v}} ls
xvfb-run ls {{v}}
stdbuf -oL ls {{v}}
git bisect good {{v}}
git bisect run make {{v}}
git submodule add {{v}}
fd {{v}}
fd -e {{v}}
rg {{v}}
ansible-playbook -i {{v}} site.yml
perf record -o {{v}} ls
just build {{v}}
rake build[{{v}}]
systemd-run --unit={{v}} ls
docker compose up {{v}}
docker compose exec {{v}} ls
bundle install {{v}}
bundle exec rake {{v}}
conda install {{v}}
conda run -n {{v}} ls
script log {{v}}
terraform apply -var x={{v}}
entr ls {{v}}
env -u {{v}} ls
env -C {{v}} ls
sudo --user={{v}} ls
sudo -E ls {{v}}
ssh host ls
bash build.sh -c {{v}}
sudo python3 -u tool.py -c {{v}}
python3 -m tool -c {{v}}
npx eslint -c {{v}} .
gh pr view {{v}} -c
git config merge.conflictstyle {{v}}
git config user.name {{v}}
git -c core.autocrlf={{v}} diff
rails generate model {{v}}
bundle exec rails db:migrate VERSION={{v}}
redis-cli eval 'return 1' 0 {{v}}
python manage.py migrate {{v}}
php artisan migrate --path={{v}}
wp post create --post_title={{v}}
mix run script.exs {{v}}
nix build {{v}}
bq query --project_id {{v}} 'select 1'
cypher-shell -u {{v}} 'match (n) return n'
R CMD build {{v}}
sudo chown -R {{v}} x
npx tsx watch {{v}}
autossh -M 0 {{v}} uptime
pdsh -w {{v}} uptime
minikube start --profile {{v}}
docker run --entrypoint sh image build.sh {{v}}
docker run -e X={{v}} --entrypoint sh image -c 'echo $X'
git clone -b {{v}} url x
echo "{{v}} * 2" | bc
bash "$script" {{v}}
"""


def _lines(text: str) -> list[str]:
    return text.strip().splitlines()


@pytest.mark.parametrize("template", _lines(_COMMANDS))
def test_a_value_in_place_of_a_command_is_told(template: str) -> None:
    assert [hazard.kind for hazard in hazards(template)] == ["command"]


@pytest.mark.parametrize("template", _lines(_CODE))
def test_a_value_that_is_code_is_told_with_its_language(template: str) -> None:
    script, _, language = template.rpartition("  # ")
    assert [(hazard.kind, hazard.detail) for hazard in hazards(script)] == [("source", language)]


@pytest.mark.parametrize("template", _lines(_ARGUMENTS))
def test_a_value_that_is_an_argument_is_no_finding(template: str) -> None:
    assert hazards(template) == ()


@pytest.mark.parametrize(
    ("template", "launcher"),
    [
        ("sudo -u root {{v}}", "sudo"),
        ("true\nsudo env A=1 timeout 5 {{v}} x", "timeout"),
        ('exec "{{v}}"', "exec"),
        ("ls | xargs -n 1 {{v}}", "xargs"),
        ("npx {{v}}", "npx"),
        ("c={{v}}; sudo $c", "the script"),
        ("c={{v}}; d=$c; $d x", "the script"),
    ],
)
def test_a_run_warns_of_a_value_that_is_launched(template: str, launcher: str) -> None:
    (warning,) = render_shell(template, {"v": "ls"}, token=lambda: "t").warnings
    line = template.count("\n") + 1
    assert warning == f"the value of v is the command that {launcher} runs on line {line}"
