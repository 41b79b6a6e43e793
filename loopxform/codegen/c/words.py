"""Names that mean something in every C file that includes the headers ours do.

A user's object of such a name is fine in the user's own file, which need not include them.
"""

from __future__ import annotations

import re

_FUNCTIONS = """
a64l abort abs aligned_alloc alloca arc4random arc4random_buf arc4random_uniform at_quick_exit
atexit atof atoi atol atoll bcmp bcopy bsearch bzero calloc clearenv clearerr clearerr_unlocked
ctermid div dprintf drand48 drand48_r ecvt ecvt_r erand48 erand48_r exit explicit_bzero fclose
fcvt fcvt_r fdopen feof feof_unlocked ferror ferror_unlocked fflush fflush_unlocked ffs ffsl
ffsll fgetc fgetc_unlocked fgetpos fgets fileno fileno_unlocked flockfile fmemopen fopen fprintf
fputc fputc_unlocked fputs fread fread_unlocked free freopen fscanf fseek fseeko fsetpos ftell
ftello ftrylockfile funlockfile fwrite fwrite_unlocked gcvt getc getc_unlocked getchar
getchar_unlocked getdelim getenv getline getloadavg gets getsubopt getw index initstate
initstate_r jrand48 jrand48_r l64a labs lcong48 lcong48_r ldiv lgamma_r lgammaf_r lgammal_r
llabs lldiv lrand48 lrand48_r malloc mblen mbstowcs mbtowc memccpy memchr memcmp memcpy memmove
memset mkdtemp mkstemp mkstemps mktemp mrand48 mrand48_r nrand48 nrand48_r on_exit
open_memstream pclose perror popen posix_memalign printf pselect putc putc_unlocked putchar
putchar_unlocked putenv puts putw qecvt qecvt_r qfcvt qfcvt_r qgcvt qsort quick_exit rand rand_r
random random_r realloc reallocarray realpath remove rename renameat rewind rindex rpmatch scanf
seed48 seed48_r select setbuf setbuffer setenv setlinebuf setstate setstate_r setvbuf snprintf
sprintf srand srand48 srand48_r srandom srandom_r sscanf stpcpy stpncpy strcasecmp strcasecmp_l
strcat strchr strcmp strcoll strcoll_l strcpy strcspn strdup strerror strerror_l strerror_r
strlen strncasecmp strncasecmp_l strncat strncmp strncpy strndup strnlen strpbrk strrchr strsep
strsignal strspn strstr strtod strtof strtok strtok_r strtol strtold strtoll strtoq strtoul
strtoull strtouq strxfrm strxfrm_l system tempnam tmpfile tmpnam tmpnam_r ungetc unsetenv valloc
vdprintf vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf wcstombs wctomb
"""
# Each also ends in f and l.
_MATH = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp2 expm1
fabs fdim finite floor fma fmax fmin fmod frexp gamma hypot ilogb isinf isnan j0 j1 jn ldexp
lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter
nexttoward pow remainder remquo rint round scalb scalbln scalbn significand sin sinh sqrt tan
tanh tgamma trunc y0 y1 yn
"""
_OF_NO_OTHER = "drem gamma j0 j1 jn scalb significand y0 y1 yn"
OF_NO_OTHER = frozenset(m + s for m in _OF_NO_OTHER.split() for s in ("", "f", "l"))
"""Functions of <math.h> that C does not know (POSIX and BSD do): no other library calls them."""

FUNCTIONS = frozenset(_FUNCTIONS.split()) | {m + s for m in _MATH.split() for s in ("", "f", "l")}
"""Functions of <stdio.h>, <stdlib.h>, <string.h> and <math.h>, those of POSIX included: no other
function or object at file scope can have the name."""

MACRO = re.compile(
    r"""NULL|EOF|BUFSIZ|INFINITY|NAN|HUGE_VAL[FL]?|MAXFLOAT|CHAR_BIT|P_tmpdir|L_(tmpnam|ctermid)
      | (S?CHAR|UCHAR|U?SHRT|U?INT|U?LONG|U?LLONG|PTRDIFF|S?SIZE|SIG_ATOMIC|WCHAR|WINT|RAND
         |FILENAME|FOPEN|TMP|MB_(CUR|LEN)|U?INT((_LEAST|_FAST)?(8|16|32|64)|PTR|MAX))_(MIN|MAX)
      | (FLT|DBL|LDBL|HALF|FP|EXIT|SEEK|MATH)_[A-Z0-9_]*[A-Z0-9]
      | M_(E|LOG2E|LOG10E|LN2|LN10|1_PI|2_PI|2_SQRTPI|PI|PI_2|PI_4|SQRT2|SQRT1_2)(_[FH])?
      | stdin|stdout|stderr|bool|true|false|linux|unix""",
    re.VERBOSE,
)
"""Macros that stand alone, in C or OpenCL C: nothing at all can have the name."""

TYPE = re.compile(
    r"(s?size|ptrdiff|wchar|fpos|(l|ll)?div|float|double|max_align"
    r"|u?int((_least|_fast)?(8|16|32|64)|ptr|max))_t|FILE"
)
"""Types that are no words of the language."""
