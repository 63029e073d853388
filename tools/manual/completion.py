"""Completion of the command line for bash, zsh and fish."""

from __future__ import annotations

import man
from tables import Option, Tables

# The kind of a value that is not one of a few words: completed as a file, as a folder, or not at all.
FILES = {"FILE", "JSON"}
FOLDERS = {"DIR", "PREFIX", "FOLDER", "DIR:..."}


def kind(option: Option) -> str:
    """none, file, folder, word, or the words themselves."""
    if not option.usage:
        return "none"
    if option.choices:
        return " ".join(option.choices)
    return "file" if option.usage in FILES else "folder" if option.usage in FOLDERS else "word"


def by_name(options: list[Option]) -> dict[str, Option]:
    return {name: option for option in options for name in option.names}


BASH_SHARED = """# Completes the value of an option: KIND CURRENT.
_heddle_value() {
  case $1 in
    none | word) COMPREPLY=() ;;
    file) mapfile -t COMPREPLY < <(compgen -f -- "$2") && compopt -o filenames 2>/dev/null ;;
    folder) mapfile -t COMPREPLY < <(compgen -d -- "$2") && compopt -o filenames 2>/dev/null ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2") ;;
  esac
  return 0
}
"""


def bash_table(name: str, options: list[Option]) -> str:
    rows = "".join(f"  [{n}]='{kind(o)}'\n" for n, o in by_name(options).items())
    return f"declare -gA {name}=(\n{rows})\n"


def bash_mpiexec(tables: Tables) -> str:
    several = "".join(f"  [{n}]={o.values}\n" for n, o in by_name(tables.mpiexec).items() if o.values > 1)
    return f"""# Completion of mpiexec and mpirun for bash. Generated.
{BASH_SHARED}
{bash_table("_heddle_mpiexec_options", tables.mpiexec)}
declare -gA _heddle_mpiexec_values=(
{several})

# The words before the cursor are walked over as mpiexec reads them: options with their values, then a program with its arguments.
_heddle_mpiexec() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} at=1 word kind values
  while ((at < COMP_CWORD)); do
    word=${{COMP_WORDS[at]}}
    [[ $word == --?* ]] && word=${{word#-}}
    kind=${{_heddle_mpiexec_options[$word]-}}
    if [[ $word != -?* ]]; then # the program
      if declare -F _command_offset >/dev/null; then
        _command_offset "$at"
      else
        _heddle_value file "$current"
      fi
      return 0
    fi
    ((at += 1))
    [[ -z $kind || $kind == none ]] && continue
    values=${{_heddle_mpiexec_values[$word]:-1}}
    [[ ${{COMP_WORDS[at]-}} == = ]] && ((at += 1)) # --name=value, which bash takes apart
    if ((COMP_CWORD < at + values)); then
      _heddle_value "$kind" "$current"
      return 0
    fi
    ((at += values))
  done
  if [[ $current == --* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "${{!_heddle_mpiexec_options[*]}}" -P - -- "${{current#-}}")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "${{!_heddle_mpiexec_options[*]}}" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current")
    compopt -o filenames 2>/dev/null
  fi
  return 0
}}
complete -F _heddle_mpiexec mpiexec mpirun
"""


C_WRAPPERS = ("mpicc", "mpicxx", "mpic++")
FORTRAN_WRAPPERS = ("mpifort", "mpif90", "mpif77")


def bash_wrapper(programs: tuple[str, ...], options: list[Option]) -> str:
    names = [n + (o.usage if o.usage == "" else o.usage[0]) for o in options for n in o.names if n.startswith("-")]
    return f"""# Completion of {", ".join(programs)} for bash. Generated.
_heddle_{programs[0]}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}}
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '{" ".join(names)}' -- "$current")
    [[ ${{COMPREPLY[0]-}} == *[=:] ]] && compopt -o nospace 2>/dev/null
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    compopt -o filenames 2>/dev/null
  fi
  return 0
}}
complete -F _heddle_{programs[0]} {" ".join(programs)}
"""


def commands(tables: Tables):
    """Every command of heddle, with its words."""
    pending = [tables.heddle]
    while pending:
        command = pending.pop(0)
        yield command
        pending += command.below


def positional(tables: Tables, words: list[str]) -> str:
    """The operands of a command: words that can be listed, or a file."""
    from heddle_tool.bench import criteria, papers, suite

    known = {"run": suite.BENCHMARKS, "criteria": criteria.SHEETS, "paper": papers.PAPERS}
    return " ".join(known[words[-1]]) if words[-1] in known else "file"


def bash_heddle(tables: Tables) -> str:
    options: dict[str, str] = {}
    cases = []
    for command in commands(tables):
        path = " ".join(command.words)
        words = " ".join(c.words[-1] for c in command.below) or positional(tables, command.words)
        cases.append(f"    '{path}') options='{' '.join(by_name(command.options))}' words='{words}' ;;")
        options |= {name: kind(o) for name, o in by_name(command.options).items()}
    rows = "".join(f"  [{name}]='{what}'\n" for name, what in options.items())
    below = " ".join(f"'{' '.join(c.words)}'" for c in commands(tables) if len(c.words) > 1)
    nl = "\n"
    return f"""# Completion of heddle for bash. Generated.
{BASH_SHARED}
declare -gA _heddle_options=(
{rows})

_heddle() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} path=heddle at word options='' words=''
  for ((at = 1; at < COMP_CWORD; ++at)); do
    for word in {below}; do
      [[ $word == "$path ${{COMP_WORDS[at]}}" ]] && path=$word && break
    done
  done
  case $path in
{nl.join(cases)}
  esac
  if [[ $before == -* && ${{_heddle_options[$before]-none}} != none ]]; then
    _heddle_value "${{_heddle_options[$before]}}" "$current"
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  else
    _heddle_value "$words" "$current"
  fi
  return 0
}}
complete -F _heddle heddle
"""


def zsh_quoted(text: str) -> str:
    return text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def zsh_value(option: Option) -> str:
    what = kind(option)
    action = {"none": "", "file": "_files", "folder": "_files -/", "word": " "}.get(what, f"({what})")
    return "".join(f":{zsh_quoted(word)}:{action}" for word in option.usage.split())


def zsh_specs(options: list[Option]) -> list[str]:
    return [f"'*{name}[{zsh_quoted(o.help)}]{zsh_value(o)}'" for name, o in by_name(options).items() if name != "-?"]


def zsh_mpiexec(tables: Tables) -> str:
    specs = " \\\n  ".join(zsh_specs(tables.mpiexec))
    return f"#compdef mpiexec mpirun\n# Generated.\n_arguments -S \\\n  {specs} \\\n  '(-)1:program:_command_names -e' '*::arguments:_normal'\n"


def zsh_wrapper(programs: tuple[str, ...], options: list[Option]) -> str:
    names = " ".join(f"'{n}[{zsh_quoted(o.help)}]'" for o in options for n in o.names if n.startswith("-"))
    return f"#compdef {' '.join(programs)}\n# Generated.\n_arguments {names} '*:file:_files'\n"


def zsh_heddle(tables: Tables) -> str:
    cases = []
    for command in man.leaves(tables.heddle):
        specs = " \\\n      ".join([*zsh_specs(command.options), "'*:name:(" + positional(tables, command.words) + ")'"])
        cases.append(f"  '{' '.join(command.words[1:])}')\n    shift 2 words\n    (( CURRENT -= 2 ))\n    _arguments \\\n      {specs}\n    ;;")
    parts = " ".join(c.words[-1] for c in man.leaves(tables.heddle))
    nl = "\n"
    return f"""#compdef heddle
# Generated.
case "$words[2] $words[3]" in
{nl.join(cases)}
  *)
    if (( CURRENT == 2 )); then
      _arguments {" ".join(zsh_specs(tables.heddle.options))} '1:command:({" ".join(c.words[-1] for c in tables.heddle.below)})'
    elif (( CURRENT == 3 )); then
      compadd {parts}
    fi
    ;;
esac
"""


def fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_options(program: str, options: list[Option], condition: str = "") -> list[str]:
    lines = []
    for name, option in by_name(options).items():
        plain = name.lstrip("-")
        flag = "-l" if name.startswith("--") else "-s" if len(plain) == 1 else "-o"
        what = kind(option)
        takes = {"none": "", "file": " -r -F", "folder": " -x -a '(__fish_complete_directories)'", "word": " -x"}.get(
            what, f" -x -a {fish_quoted(what)}")
        when = f" -n {fish_quoted(condition)}" if condition else ""
        lines.append(f"complete -c {program}{when} {flag} {fish_quoted(plain)}{takes} -d {fish_quoted(option.help)}")
    return lines


def fish_mpiexec(tables: Tables) -> str:
    return "\n".join(["# Generated.", *fish_options("mpiexec", tables.mpiexec), "complete -c mpirun -w mpiexec"]) + "\n"


def fish_wrapper(programs: tuple[str, ...], table: list[Option]) -> str:
    first, *others = programs
    options = [Option([n], "", o.help) for o in table for n in o.names if n.startswith("-")]
    return "\n".join(["# Generated.", *fish_options(first, options), *(f"complete -c {o} -w {first}" for o in others)]) + "\n"


def fish_heddle(tables: Tables) -> str:
    lines = ["# Generated.", "complete -c heddle -f"]
    lines += fish_options("heddle", tables.heddle.options, "__fish_use_subcommand")
    for command in commands(tables):
        parent = command.words[:-1]
        if parent:
            condition = " ; and ".join(f"__fish_seen_subcommand_from {w}" for w in parent[1:]) or "__fish_use_subcommand"
            lines.append(f"complete -c heddle -n {fish_quoted(condition)} -a {command.words[-1]} -d {fish_quoted(command.help)}")
        if parent and not command.below:
            lines += fish_options("heddle", command.options, f"__fish_seen_subcommand_from {command.words[-1]}")
    return "\n".join(lines) + "\n"


def files(tables: Tables) -> dict[str, str]:
    """Path below share -> content. Names are those that each shell looks for."""
    bash, zsh, fish = "bash-completion/completions", "zsh/site-functions", "fish/vendor_completions.d"
    found = {f"{bash}/{name}": bash_mpiexec(tables) for name in ("mpiexec", "mpirun")}
    for programs, options in ((C_WRAPPERS, tables.wrapper), (FORTRAN_WRAPPERS, tables.fortran_wrapper)):
        found |= {f"{bash}/{name}": bash_wrapper(programs, options) for name in programs}
        found[f"{zsh}/_{programs[0]}"] = zsh_wrapper(programs, options)
        found[f"{fish}/{programs[0]}.fish"] = fish_wrapper(programs, options)
    found[f"{bash}/heddle"] = bash_heddle(tables)
    for name, in_zsh, in_fish in (("mpiexec", zsh_mpiexec, fish_mpiexec), ("heddle", zsh_heddle, fish_heddle)):
        found[f"{zsh}/_{name}"] = in_zsh(tables)
        found[f"{fish}/{name}.fish"] = in_fish(tables)
    return found
