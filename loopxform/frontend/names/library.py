"""What functions of the C library do besides giving a value, and those that do nothing besides."""

from __future__ import annotations

from loopxform.ir.functions import is_known
from loopxform.ir.nodes import LIBRARY_CALL, Param, Routine
from loopxform.ir.types import DOUBLE, FLOAT, INT, LLONG, LONG, UINT, ULLONG, ULONG, USHORT, Scalar

_WRITES = """printf fprintf vprintf vfprintf dprintf puts fputs putchar putc fputc fwrite write
    perror fflush putchar_unlocked putwchar wprintf fwprintf"""
_READS = """scanf fscanf getchar getc fgetc fgets gets fread read getline getdelim ungetc
    fseek rewind ftell feof ferror fopen fclose"""
_GENERATORS = "rand srand random srandom drand48 srand48 lrand48 mrand48 strtok"
_STATE = f"{_GENERATORS} erand48"
_TIME = "time clock gettimeofday clock_gettime difftime localtime gmtime ctime asctime strftime"
_ENVIRONMENT = "getenv setenv putenv unsetenv setlocale"
_MEMORY = "malloc calloc realloc free alloca aligned_alloc posix_memalign strdup strndup"
_BYTES = "memset memcpy memmove mempcpy memccpy bzero bcopy"
_FORMATS = "sprintf snprintf vsprintf vsnprintf"
_STRINGS = "strcpy strncpy strcat strncat stpcpy stpncpy strlcpy strlcat"
_COMPARES = """strlen strnlen strcmp strncmp strcasecmp strncasecmp strcoll strchr strrchr strstr
    strspn strcspn strpbrk memcmp memchr atoi atol atoll atof strtol strtoll strtoul strtoull
    strtof strtod sscanf"""
_SORTS = "qsort bsearch"
_NO_COUNTERPART = """ilogb ilogbf j0 j0f j1 j1f jn jnf y0 y0f y1 y1f yn ynf modf modff frexp frexpf
    remquo remquof sincos sincosf nan nanf nexttoward nexttowardf scalbln scalblnf exp10 exp10f
    pow10 drem significand lgamma_r lgammaf_r fpclassify isunordered islessgreater"""
_ENDS = "exit abort _exit _Exit quick_exit longjmp assert __assert_fail __builtin_trap"

Text = tuple[str, str]
"""A reason with a place for the name, and a remedy."""

ENDS: Text = (f"{LIBRARY_CALL} '{{}}' may end the program", "set a flag, and look at it later")
_TEXTS: dict[str, Text] = {
    _WRITES: (
        f"{LIBRARY_CALL} '{{}}': the order of output would change",
        "write the values into an array, and print that in a loop of its own",
    ),
    _READS: (
        f"{LIBRARY_CALL} '{{}}': the order of input and of file positions matters",
        "read into an array first, in a loop of its own",
    ),
    _STATE: (
        f"{LIBRARY_CALL} '{{}}': it keeps a state from one call to the next",
        "give each iteration a state of its own",
    ),
    _TIME: (
        f"{LIBRARY_CALL} '{{}}': the time of a call matters, or it gives memory of its own",
        "call it before or after the loops",
    ),
    _ENVIRONMENT: (
        f"{LIBRARY_CALL} '{{}}': it looks at the environment of the program, or changes it",
        "call it before the loops",
    ),
    _MEMORY: (
        f"{LIBRARY_CALL} '{{}}': which memory it manages is not known here",
        "allocate once, before the loops",
    ),
    _BYTES: (
        f"{LIBRARY_CALL} '{{}}' sets or copies bytes that are no whole numbers, or how many is not"
        " known",
        "write a loop of assignments",
    ),
    _FORMATS: (
        f"{LIBRARY_CALL} '{{}}' writes text into an array: how much is not known",
        "write the values into an array, and format them in a loop of its own",
    ),
    _STRINGS: (
        f"{LIBRARY_CALL} '{{}}' copies text up to its end, which is not known",
        "move the call out of the loops",
    ),
    _COMPARES: (
        f"{LIBRARY_CALL} '{{}}' reads memory up to a place that is not known",
        "write a loop that reads the elements, or move the call out of the loops",
    ),
    _SORTS: (
        f"{LIBRARY_CALL} '{{}}' calls a function through a pointer",
        "move the call out of the loops",
    ),
    _NO_COUNTERPART: (
        f"{LIBRARY_CALL} '{{}}' has no counterpart in OpenCL C",
        "write it with other functions of <math.h>",
    ),
    _ENDS: ENDS,
}
_LONG_DOUBLE = (
    f"{LIBRARY_CALL} '{{}}' computes in long double, which OpenCL C lacks",
    "call the function for double",
)
_KNOWN = {name: why for names, why in _TEXTS.items() for name in names.split()}
_INLINE = "write out what it computes, or move the call out of the loops"
_PREFIX = "__builtin_"


def effect(name: str) -> Text:
    """Why a call of a function that the file does not define is not modelled, and what to write."""
    plain = name.removeprefix(_PREFIX)
    if name.endswith("l") and is_known(name[:-1]):
        found = _LONG_DOUBLE
    else:
        unknown = ("the effects of calling '{}' are not known", _INLINE)
        found = _KNOWN.get(name) or _KNOWN.get(plain) or unknown
    return found[0].format(name), found[1]


_IN_ORDER = frozenset(f"{_WRITES} {_READS} {_GENERATORS}".split())
"""What must happen in the order of the program; a clock tells the time whatever the order."""


_COLLECTIVE = """MPI_Allgather MPI_Allgatherv MPI_Allreduce MPI_Alltoall MPI_Alltoallv MPI_Barrier
    MPI_Bcast MPI_Comm_dup MPI_Comm_split MPI_Exscan MPI_Gather MPI_Gatherv MPI_Reduce
    MPI_Reduce_scatter MPI_Scan MPI_Scatter MPI_Scatterv"""
_ONE_OF_SEVERAL = "MPI_Testany MPI_Testsome MPI_Waitany MPI_Waitsome"
_MESSAGES = {
    **dict.fromkeys(_COLLECTIVE.split(), "all processes must make such calls in one order"),
    **dict.fromkeys(_ONE_OF_SEVERAL.split(), "it completes what earlier calls have left"),
}
"""MPI 4.0, sections 3.7.5 and 6.14. To whom a single message goes may differ for each iteration:
nothing is said of those."""


def effect_on_order(name: str) -> str | None:
    """What would change if two calls of a function of the library changed places; None where
    nothing would, or it is not known."""
    if name in _MESSAGES:
        return _MESSAGES[name]
    return effect(name)[0].partition(": ")[2] if name in _IN_ORDER else None


def leaves_variables(name: str) -> bool:
    """Whether a function of the library modifies no variable but those it is given."""
    return name in _LEAVES


_BLOCKING = f"""{_COLLECTIVE} {_ONE_OF_SEVERAL} MPI_Comm_rank MPI_Comm_size MPI_Get_count
    MPI_Init MPI_Initialized MPI_Finalized MPI_Iprobe MPI_Probe MPI_Recv MPI_Send MPI_Ssend
    MPI_Sendrecv MPI_Sendrecv_replace MPI_Test MPI_Testall MPI_Wait MPI_Waitall"""
"""What calls of MPI are done with when they return (MPI 4.0, section 2.4); the names are MPI's
(section 2.6.2)."""

BORROWING = frozenset(
    f"""{_BLOCKING} scanf fscanf sscanf fread gettimeofday clock_gettime getrusage time modf modff
    frexp frexpf remquo posix_memalign""".split()
)
"""What gives no address back, and keeps none: it sets what it is given, and returns a number.
`strtol` gives one back, that of where the number ends."""

_FORGETTING = f"{_WRITES} {_READS} {_STATE} {_TIME} {_MEMORY} {_FORMATS} {_NO_COUNTERPART} {_ENDS}"
_KEEPING = frozenset(["strtok", "strtol", "strtoll", "strtoul", "strtoull", "strtof", "strtod"])
_FORGETS = frozenset(_FORGETTING.split()) - _KEEPING | BORROWING


def keeps_no_address(name: str) -> bool:
    """Whether a function of the library forgets the addresses that it is given."""
    return name in _FORGETS or is_known(name)


def pure(name: str, *, declared: bool) -> Routine | None:
    """A function of the library that works on numbers alone. One that the text declares may be
    another, where its name is not reserved in all programs."""
    return None if declared and name not in _CLASSES.split() else PURE.get(name)


_LEAVES = _KNOWN.keys() - set(_SORTS.split())

_CLASSES = """isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace
    isupper isxdigit tolower toupper"""


def _numbers(names: str, returns: Scalar, *params: Scalar) -> dict[str, Routine]:
    given = tuple(Param(f"x{n}", t) for n, t in enumerate(params))
    why = f"{LIBRARY_CALL} '{{}}' has no counterpart in OpenCL C"
    return {n: Routine(n, given, returns, (), unwritten=why.format(n)) for n in names.split()}


def bits_function(t: Scalar, *, back: bool = False) -> str:
    """The name of the function that gives the bits of a floating-point number, or the number."""
    return f"{t.c} of bits" if back else f"bits of {t.c}"


def _bits(t: Scalar, unsigned: Scalar) -> dict[str, Routine]:
    here, back = bits_function(t), bits_function(t, back=True)
    return {
        here: Routine(here, (Param("x", t),), unsigned, ()),
        back: Routine(back, (Param("x", unsigned),), t, ()),
    }


PURE: dict[str, Routine] = {
    **_bits(FLOAT, UINT),
    **_bits(DOUBLE, ULONG),
    **_numbers(_CLASSES, INT, INT),
    **_numbers("ilogb", INT, DOUBLE),
    **_numbers("ilogbf", INT, FLOAT),
    **_numbers("j0 j1 y0 y1 exp10 pow10 significand", DOUBLE, DOUBLE),
    **_numbers("j0f j1f y0f y1f exp10f", FLOAT, FLOAT),
    **_numbers("jn yn", DOUBLE, INT, DOUBLE),
    **_numbers("jnf ynf", FLOAT, INT, FLOAT),
    **_numbers("drem", DOUBLE, DOUBLE, DOUBLE),
    **_numbers("scalbln", DOUBLE, DOUBLE, LONG),
    **_numbers("scalblnf", FLOAT, FLOAT, LONG),
    **_numbers("difftime", DOUBLE, LONG, LONG),
    **_numbers("ffs __builtin_ffs", INT, INT),
    **_numbers("__builtin_ffsl", INT, LONG),
    **_numbers("__builtin_ffsll", INT, LLONG),
    **_numbers("__builtin_clz __builtin_ctz __builtin_popcount __builtin_parity", INT, UINT),
    **_numbers("__builtin_clzl __builtin_ctzl __builtin_popcountl", INT, ULONG),
    **_numbers("__builtin_clzll __builtin_ctzll __builtin_popcountll", INT, ULLONG),
    **_numbers("htons ntohs __builtin_bswap16", USHORT, USHORT),
    **_numbers("htonl ntohl __builtin_bswap32", UINT, UINT),
    **_numbers("__builtin_bswap64", ULONG, ULONG),
}
"""Functions whose value depends on their arguments alone (and on the locale, which no such call
changes), but that kernels do not define. Some have no name in C."""
