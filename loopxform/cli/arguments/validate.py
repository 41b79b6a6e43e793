"""Options of `loopxform validate`."""

from __future__ import annotations

from loopxform.cli.arguments.common import add_preprocessor, add_project
from loopxform.cli.parser import Parser

EXAMPLES = (
    "validate build/mm.cl --from mm.c            prove that the kernel computes what mm.c does",
    "validate build/mm.cl --from mm.c --json -   the verdict, for programs",
)

FIRST = ("--from", "--host", "--json", "-q", "-I", "-D", "--cflags")


def options() -> Parser:
    p = Parser(
        prog="loopxform validate",
        description="Proves that written kernels, launched as the written host code launches them, "
        "compute what your C does, for all sizes that the host code accepts. It reads the texts "
        "alone and shares no code with what wrote them.",
        allow_abbrev=False,
    )
    p.examples, p.first = EXAMPLES, FIRST
    p.add_argument("kernels", metavar="OUT.cl", help="the kernels, as tile writes them")
    help = "the C that they were made from"
    p.add_argument("--from", dest="file", metavar="FILE.c", required=True, help=help)
    help = "the host code that launches them (OUT_opencl.c beside OUT.cl)"
    p.add_argument("--host", metavar="FILE.c", help=help)
    o = p.add_argument_group("output")
    o.add_argument("--json", metavar="FILE", help="write the verdict as JSON; - is standard output")
    o.add_argument("-q", "--quiet", action="store_true", help="only the exit status")
    add_preprocessor(p)
    add_project(p)
    return p
