"""Hold what each shell loads to complete our commands.

Each script only asks the program, by `completions SHELL --words …`, and shows what it answers: a line that
says which paths the shell adds, then a line for each word, with its meaning behind a tab for zsh and fish.
"""

from __future__ import annotations

from typing import Final

_BASH = """\
# amplihack and recipe-runner in bash: eval "$(amplihack completions bash)", in ~/.bashrc for every shell.
_amplihack() {
  local line kind= program=${1/#\\~\\//$HOME/} typed=${COMP_LINE:0:COMP_POINT}
  program=${program/%recipe-runner/amplihack}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then
      kind=$line
    else
      COMPREPLY+=("$line")
      [[ $line == *[=/:] ]] && compopt -o nospace 2>/dev/null
    fi
  done < <("$program" PROGRAM --words "$typed" "$COMP_WORDBREAKS" 2>/dev/null)
  case $kind in
    files | directories)
      local flag=-f
      [[ $kind == directories ]] && flag=-d
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$flag" -- "${2#=}")
      ;;
  esac
}
complete -F _amplihack amplihack recipe-runner
"""

_ZSH = """\
#compdef amplihack recipe-runner
# amplihack in zsh: eval "$(amplihack completions zsh)", in ~/.zshrc after compinit; or save it
# as _amplihack in a directory of $fpath.
_amplihack() {
  local line kind= program=${words[1]/%recipe-runner/amplihack}
  local -a values shown open open_shown
  while IFS= read -r line; do
    if [[ -z $kind ]]; then
      kind=$line
    elif [[ ${line%%$'\\t'*} == *[=/:] ]]; then
      open+=("${line%%$'\\t'*}")
      open_shown+=("${line/$'\\t'/  -- }")
    else
      values+=("${line%%$'\\t'*}")
      shown+=("${line/$'\\t'/  -- }")
    fi
  done < <(${~program} PROGRAM --words "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
  (( $#values )) && compadd -l -d shown -a values
  (( $#open )) && compadd -S '' -l -d open_shown -a open
  [[ $kind == (files|directories) ]] && compset -P '*='
  case $kind in
    files) _files ;;
    directories) _files -/ ;;
  esac
}
if [[ $funcstack[1] == _amplihack ]]; then
  _amplihack "$@"
else
  compdef _amplihack amplihack recipe-runner
fi
"""

_FISH = """\
# amplihack in fish: amplihack completions fish | source, in ~/.config/fish/config.fish; or save it
# as ~/.config/fish/completions/amplihack.fish.
function __amplihack_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct | string unescape)
    set -l program (string replace -r '^~/' "$HOME/" -- $before[1])
    set program (string replace -r 'recipe-runner$' amplihack -- $program)
    set -l answer (command $program PROGRAM --words $before "$current" 2>/dev/null)
    for line in $answer[2..-1]
        echo -- $line
    end
    switch "$answer[1]"
        case files
            __fish_complete_path "$current"
        case directories
            __fish_complete_directories "$current"
    end
end
complete -c amplihack -f -k -a '(__amplihack_complete)'
complete -c recipe-runner -f -k -a '(__amplihack_complete)'
"""

SCRIPTS: Final = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def script(shell: str) -> str:
    """Return what a shell loads."""
    return SCRIPTS[shell].replace("PROGRAM", f"completions {shell}")
