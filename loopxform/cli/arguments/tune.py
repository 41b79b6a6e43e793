"""Options of `loopxform tune`."""

from __future__ import annotations

from loopxform.cli.arguments import running, tiling
from loopxform.cli.arguments.common import add_dask, add_floating_point, parser
from loopxform.cli.parser import Parser
from loopxform.schedule import tiling_options
from loopxform.schedule.params import RECIPES

EXAMPLES = (
    "tune mm.c --size M=1024,U=1024,N=1024              writes mm.tuning, which tile and run read",
    "tune mm.c --sizes M=U=N=512,2048 --budget 40       two sets of sizes, 40 measurements",
    "tune mm.c --size M=N=U=512 --tune stages,vector    sizes and two options",
    "tune heat.c --size steps=1000,n=4096               several nests, or a loop over time",
    "tune mm.c --size M=N=U=512 --plan                  what would be measured; runs nothing",
    "tune rows.c --sizes n=1,64,4096 --sizes m=64,4096 --thresholds   which versions run when",
    "tune merge mm.shard*.jsonl                         what runs of --shard have measured",
)

BUDGET = "5%"

FIRST = (
    *("--size", "--sizes", "--budget", "--device", "--recipe", "--limit", "--plan", "-o"),
    *("--json", "--fresh"),
)


def options() -> Parser:
    p = parser(
        "tune",
        "Finds the tile sizes that are quickest on a device, and writes them to NAME.tuning next "
        "to NAME.c; tile, offload and run read it. It compares each candidate with your own C "
        "before it times it, in a process of its own, so that one that hangs or crashes does no "
        "harm. It writes nothing that is slower than the defaults. Ctrl-C keeps the best so far.",
        examples=EXAMPLES,
        first=FIRST,
    )
    g = p.add_argument_group("what is tuned")
    running.add_size(g)
    running.add_sizes(g)
    g.add_argument(
        "--recipe", choices=("auto", *RECIPES), default="auto", help=tiling_options.RECIPE
    )
    help = (
        "tune the function as offload maps it: the tiles of its pipelines and of its loops over "
        "time (the default where tile refuses the function); with --thresholds, --tree or --dot: "
        "its versions there"
    )
    g.add_argument("--offload", action="store_true", help=help)
    help = f"options to vary besides sizes, or all: {', '.join(tiling_options.TUNED)}"
    g.add_argument("--tune", metavar="NAME,...", help=help)
    _add_how(p)
    _add_sharing(p)
    o = p.add_argument_group("output")
    o.add_argument("-o", dest="output", metavar="DIR", help="where to write (next to FILE.c)")
    help = "also write the result as an entry of loopxform/targets/tuned, for you to contribute"
    o.add_argument("--contribute", metavar="FILE.toml", help=help)
    o.add_argument("--json", metavar="FILE", help="save every measurement; - prints them")
    tiling.add_sizes(p)
    tiling.add_details(p)
    add_floating_point(tiling.titled(p, tiling.NUMBERS), "(contract)")
    tiling.add_device(p)
    return p


def _add_how(p: Parser) -> None:
    h = p.add_argument_group("how")
    help = (
        "how much to measure: N candidates, P%% of the legal ones, or what takes N seconds or "
        "minutes (5%%, at least 20 candidates)"
    )
    h.add_argument("--budget", default=BUDGET, metavar="N|P%|Ns|Nm", help=help)
    help = "time for a candidate, compilation included (20)"
    h.add_argument("--limit", default="20", metavar="SECONDS", help=help)
    help = "processes that build kernels side by side, while tune measures nothing (1)"
    h.add_argument("-j", "--jobs", default="1", metavar="N", help=help)
    h.add_argument("--repeat", default="5", metavar="N", help="timed launches of a candidate (5)")
    h.add_argument("--warmup", default="1", metavar="N", help="launches before the timed ones (1)")
    help = "what stands for the times of a candidate (auto: median on GPUs, faster-half on CPUs)"
    h.add_argument(
        "--statistic", choices=("auto", "median", "faster-half", "min"), default="auto", help=help
    )
    h.add_argument("--fresh", action="store_true", help="measure again what was measured before")
    h.add_argument("--plan", action="store_true", help="count the candidates; run nothing")
    help = "tune the thresholds of versions instead of tile sizes"
    h.add_argument("--thresholds", action="store_true", help=help)
    help = "print the forest of thresholds, with the parallelism of each set of sizes; run nothing"
    h.add_argument("--tree", action="store_true", help=help)
    h.add_argument("--dot", action="store_true", help="the same as a graph for Graphviz")
    running.add_inputs(h)


def _add_sharing(p: Parser) -> None:
    m = p.add_argument_group("several processes and machines")
    help = (
        "measure one share of the candidates: 1/2, the first of two, writes NAME.shard1of2.jsonl, "
        "which tune merge reads"
    )
    m.add_argument("--shard", metavar="I/N", help=help)
    help = "a folder in which processes with the same command line share the work"
    m.add_argument("--shared", metavar="DIR", help=help)
    add_dask(m, "measure, each on a device of its own")
