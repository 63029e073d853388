"""Manual pages, in the language of man(7)."""

from __future__ import annotations

from tables import Command, Option, Tables, Variable


def plain(text: str) -> str:
    escaped = text.replace("…", "...").replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "")
    return "\\&" + escaped if escaped.startswith(".") else escaped


def bold(text: str) -> str:
    return f"\\fB{plain(text)}\\fR"


def italic(text: str) -> str:
    """A line may be broken after each of several choices."""
    return f"\\fI{plain(text)}\\fR".replace("|", "|\\:")


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("." if text else "")


def header(name: str, version: str, about: str) -> list[str]:
    names = ", ".join(plain(n) for n in name.split())
    return [f'.TH {name.split()[0].upper()} 1 "" "Heddle {version}" "Heddle"', ".nh", ".SH NAME", f"{names} \\- {about}"]


def items(pairs: list[tuple[str, str]]) -> list[str]:
    lines = []
    for what, text in pairs:
        lines += [".TP", what, text]
    return lines


def option_items(options: list[Option]) -> list[str]:
    return items([(", ".join(bold(n) for n in o.names) + separated(o.usage), plain(sentence(o.help))) for o in options])


def separated(usage: str) -> str:
    if not usage:
        return ""
    return italic(usage) if usage[0] in "=:" else " " + italic(usage)


def variable_items(variables: list[Variable]) -> list[str]:
    return items([(f"{bold(v.name)}={italic(v.values)}", f"{plain(v.help)}. Default: {plain(v.default)}.") for v in variables])


def section(title: str, *paragraphs: str) -> list[str]:
    lines = [f".SH {title}"]
    for number, paragraph in enumerate(paragraphs):
        lines += [".PP", paragraph] if number else [paragraph]
    return lines


def example(command: str, about: str) -> list[str]:
    return [".PP", plain(about), ".PP", ".RS 4", ".nf", plain(command), ".fi", ".RE"]


def page(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def mpiexec(tables: Tables) -> str:
    lines = header("mpiexec mpirun", tables.version, "start the ranks of MPI programs")
    lines += section("SYNOPSIS", f"{bold('mpiexec')} [{italic('options')}] {bold('-n')} {italic('N')} {italic('program')} "
                     f"[{italic('arguments')}] [{bold(':')} [{italic('options')}] {bold('-n')} {italic('N')} "
                     f"{italic('program')} ...]")
    lines += section(
        "DESCRIPTION",
        plain("Starts N ranks of a program on this machine, passes on their output, and ends when all have ended. If one fails, the "
              "others are ended, and mpiexec says which rank it was, how it died and in which call."),
        plain("Options are those of MPICH's and Open MPI's mpiexec. One or two dashes are the same, and --name=value is "
              "--name value. The first word that is no option is the program; what follows belongs to it, up to a colon of its own, "
              "which begins another program of the same job."))
    lines += [".SH OPTIONS", *option_items(tables.mpiexec)]
    lines += [".SH ENVIRONMENT",
              plain("Ranks inherit the environment, and read these when they initialize MPI. A name that begins with HEDDLE_ and is "
                    "none of Heddle's is told of."), *variable_items(tables.variables_of("library")),
              *items([(f"{bold('MPIEXEC_TIMEOUT')}={italic('SECONDS')}", plain("The same as -timeout."))])]
    lines += [".SH EXIT STATUS",
              plain("That of the first rank that failed; 128 plus the number of the signal that killed it; 0 if all succeeded. "
                    "1: output cannot be written, or a limit of the machine is met. 2: the command line is wrong. 124: the time was up "
                    "(-timeout). 126 or 127: a program cannot be run or found.")]
    lines += [".SH EXAMPLES", *example("mpiexec -n 4 ./program", "Four ranks:")[1:],
              *example("mpiexec -n 1 ./master : -n 3 ./worker", "Four ranks of two programs:"),
              *example("mpiexec --ranks threads -n 4 ./program", "Four ranks that are threads of one process:"),
              *example("HEDDLE_REPORT=1 mpiexec -n 2 ./program", "Report the threads' use of the library, for each rank:"),
              *example("mpiexec --timeout 60 -n 4 ./program", "After a minute, where each thread is, and the end:")]
    lines += section("SEE ALSO", f"{bold('mpicc')}(1), {bold('heddle')}(1)")
    return page(lines)


def mpicc(tables: Tables) -> str:
    lines = header("mpicc mpicxx mpic++", tables.version, "compile and link MPI programs")
    lines += section("SYNOPSIS", f"{bold('mpicc')} [{italic('arguments of the compiler')}]",
                     f"{bold('mpicxx')} [{italic('arguments of the compiler')}]")
    lines += section("DESCRIPTION",
                     plain("Calls the C compiler (mpicc) or the C++ compiler (mpicxx, mpic++) with its arguments and with what finds "
                           "mpi.h and the library. The program then finds the library where it was when it was linked; "
                           "LD_LIBRARY_PATH may name another library of the standard ABI."))
    lines += [".SH OPTIONS", *option_items([o for o in tables.wrapper if o.names[0].startswith("-")]),
              ".PP", plain("Everything else goes to the compiler as it came. mpicxx has -cxx where mpicc has -cc.")]
    lines += [".SH ENVIRONMENT", *variable_items([v for v in tables.variables_of("compiler") if v.name != "HEDDLE_FC"]),
              *items([(f"{bold('MPICC_CC')}, {bold('MPICH_CC')}, {bold('OMPI_CC')}, {bold('I_MPI_CC')}",
                       plain("The same as HEDDLE_CC, as other MPIs call it; for C++ MPICXX_CXX, MPICH_CXX, OMPI_CXX, I_MPI_CXX."))])]
    lines += [".SH EXIT STATUS", plain("That of the compiler; 127 if there is no compiler.")]
    lines += [".SH EXAMPLES", *example("mpicc -O2 program.c -o program", "Compile and link:")[1:],
              *example("mpicc -cc=clang -c program.c", "With another compiler:"),
              *example("mpicc -show program.c", "Print the commands without running them:")]
    lines += section("SEE ALSO", f"{bold('mpiexec')}(1), {bold('heddle')}(1)")
    return page(lines)


def mpifort(tables: Tables) -> str:
    lines = header("mpifort mpif90 mpif77", tables.version, "compile and link MPI programs in Fortran")
    lines += section("SYNOPSIS", f"{bold('mpifort')} [{italic('arguments of the compiler')}]")
    lines += section("DESCRIPTION",
                     plain("Calls the Fortran compiler with its arguments and with what finds the modules mpi_f08 and mpi, mpif.h, and the "
                           "libraries: Fortran's own and, below it, that of the standard ABI, for which LD_LIBRARY_PATH may name "
                           "another library. The three names are the same. Modules are for compilers that read the format in which "
                           "they were written; the wrapper says so if there are none for the compiler."))
    lines += [".SH OPTIONS", *option_items([o for o in tables.fortran_wrapper if o.names[0].startswith("-")]),
              ".PP", plain("Everything else goes to the compiler as it came. Without -i8 (or -fdefault-integer-8) INTEGER has 4 bytes; "
                           "with it, compile and link with it.")]
    lines += [".SH ENVIRONMENT", *variable_items([v for v in tables.variables_of("compiler") if v.name == "HEDDLE_FC"]),
              *items([(f"{bold('MPIFORT_FC')}, {bold('MPICH_FC')}, {bold('OMPI_FC')}, {bold('I_MPI_FC')}",
                      plain("The same, as other MPIs call it."))])]
    lines += [".SH EXIT STATUS", plain("That of the compiler; 1 if there are no modules for it; 127 if there is no compiler.")]
    lines += [".SH EXAMPLES", *example("mpifort -O2 program.f90 -o program", "Compile and link:")[1:],
              *example("mpifort -i8 program.f90 -o program", "With INTEGERs of 8 bytes:"),
              *example("mpifort -show program.f90", "Print the commands without running them:")]
    lines += section("SEE ALSO", f"{bold('mpicc')}(1), {bold('mpiexec')}(1)")
    return page(lines)


def heddle(tables: Tables) -> str:
    lines = header("heddle", tables.version, tables.heddle.help)
    lines += [".SH SYNOPSIS"]
    for command in leaves(tables.heddle):
        words = " ".join(bold(w) for w in command.words)
        names = "".join(f" [{italic(name)}]" for name, _ in command.arguments)
        lines += [f"{words}{names} [{italic('options')}]" if command.options else words + names, ".br"]
    lines.pop()
    lines += section("DESCRIPTION", plain("Measures what Heddle, and other MPIs beside it, do with threads. Everything that is needed is "
                                          "compiled or installed into the user's cache first."))
    lines += [".SH OPTIONS", *option_items(tables.heddle.options)]
    shared = shared_options(tables.heddle)
    lines += [".SH COMMANDS"]
    for command in leaves(tables.heddle):
        own = [o for o in command.options if o.names[-1] not in shared and "--help" not in o.names]
        lines += [f".SS {plain(' '.join(command.words))}", plain(sentence(command.help))]
        lines += items([(italic(name), plain(sentence(about))) for name, about in command.arguments if about])
        lines += option_items(own)
    takers = [c.words[-1] for c in leaves(tables.heddle) if any(o.names[-1] in shared for o in c.options)]
    lines += [".SS " + plain("Options that several commands have"), plain(f"For {', '.join(takers[:-1])} and {takers[-1]}."),
              *option_items(list(shared.values()))]
    lines += [".SH ENVIRONMENT", *variable_items(tables.variables_of("tool"))]
    lines += [".SH EXIT STATUS", plain("0: measured. 1: something was lost, missed or failed. 2: the command line is wrong. "
                                       "130: interrupted; what was measured is kept.")]
    lines += [".SH EXAMPLES", *example("heddle bench list", "List the benchmarks:")[1:],
              *example("heddle bench run latency message-rate --threads 1,4 --against mpich", "Beside MPICH:"),
              *example("heddle bench run message-rate --settings HEDDLE_WAIT=busy,passive", "Values of a variable:")]
    lines += section("SEE ALSO", f"{bold('mpiexec')}(1), {bold('mpicc')}(1)")
    return page(lines)


def shared_options(command: Command) -> dict[str, Option]:
    """By name: those that mean the same for several commands."""
    found: dict[str, list[Option]] = {}
    for option in (o for leaf in leaves(command) for o in leaf.options if "--help" not in o.names):
        found.setdefault(option.names[-1], []).append(option)
    return {name: options[0] for name, options in found.items() if len(options) > 1 and all(o == options[0] for o in options)}


def leaves(command: Command) -> list[Command]:
    return [leaf for below in command.below for leaf in leaves(below)] if command.below else [command]


def pages(tables: Tables) -> dict[str, str]:
    """Name of the file -> its content."""
    return {"mpiexec.1": mpiexec(tables), "mpirun.1": ".so man1/mpiexec.1\n", "mpicc.1": mpicc(tables),
            "mpicxx.1": ".so man1/mpicc.1\n", "mpic++.1": ".so man1/mpicc.1\n",
            "mpifort.1": mpifort(tables), "mpif90.1": ".so man1/mpifort.1\n", "mpif77.1": ".so man1/mpifort.1\n", "heddle.1": heddle(tables)}
