"""What the standard headers declare, as far as loop nests need it: no header files are read.

A name is known only where one of its headers was included, so that a user's own `M_PI` or `uint`
keeps its meaning. Types are those of an LP64 host, like `ir.types`.
"""

from __future__ import annotations

from loopxform.ir.functions import CLASSES, GENERIC, REAL

_STDDEF = {"size_t": "unsigned long", "ptrdiff_t": "long", "wchar_t": "int"}
_STDINT = {
    "int8_t": "signed char",
    "int16_t": "short",
    "int32_t": "int",
    "int64_t": "long",
    "uint8_t": "unsigned char",
    "uint16_t": "unsigned short",
    "uint32_t": "unsigned int",
    "uint64_t": "unsigned long",
    "int_least8_t": "signed char",
    "int_least16_t": "short",
    "int_least32_t": "int",
    "int_least64_t": "long",
    "uint_least8_t": "unsigned char",
    "uint_least16_t": "unsigned short",
    "uint_least32_t": "unsigned int",
    "uint_least64_t": "unsigned long",
    "int_fast8_t": "signed char",
    "int_fast16_t": "long",
    "int_fast32_t": "long",
    "int_fast64_t": "long",
    "uint_fast8_t": "unsigned char",
    "uint_fast16_t": "unsigned long",
    "uint_fast32_t": "unsigned long",
    "uint_fast64_t": "unsigned long",
    "intptr_t": "long",
    "uintptr_t": "unsigned long",
    "intmax_t": "long",
    "uintmax_t": "unsigned long",
}
_UNISTD = {
    "size_t": "unsigned long",
    "ssize_t": "long",
    "off_t": "long",
    "pid_t": "int",
    "uid_t": "unsigned int",
    "gid_t": "unsigned int",
    "useconds_t": "unsigned int",
    "intptr_t": "long",
}
_STAT = {
    "dev_t": "unsigned long",
    "ino_t": "unsigned long",
    "mode_t": "unsigned int",
    "nlink_t": "unsigned long",
    "uid_t": "unsigned int",
    "gid_t": "unsigned int",
    "off_t": "long",
    "time_t": "long",
    "blksize_t": "long",
    "blkcnt_t": "long",
}
_SYS_TYPES = {
    **{name: t for name, t in _UNISTD.items() if name != "intptr_t"},
    **_STAT,
    "clock_t": "long",
    "id_t": "unsigned int",
    "key_t": "int",
    "suseconds_t": "long",
    "int8_t": "signed char",
    "int16_t": "short",
    "int32_t": "int",
    "int64_t": "long",
    "u_int8_t": "unsigned char",
    "u_int16_t": "unsigned short",
    "u_int32_t": "unsigned int",
    "u_int64_t": "unsigned long",
    "uint": "unsigned int",
    "ushort": "unsigned short",
    "ulong": "unsigned long",
    "u_char": "unsigned char",
    "u_int": "unsigned int",
    "u_long": "unsigned long",
}
_FILE = {"FILE": "struct _IO_FILE", "va_list": "struct __va_list_tag", "fpos_t": "struct _fpos"}
_SIZE = {"size_t": "unsigned long"}
_PTHREAD = {
    "pthread_t": "unsigned long",
    "pthread_key_t": "unsigned int",
    "pthread_once_t": "int",
    **{
        f"pthread_{what}_t": f"struct _pthread_{what}"
        for what in (
            *("attr", "mutex", "mutexattr", "cond", "condattr"),
            *("rwlock", "rwlockattr", "barrier", "barrierattr", "spinlock"),
        )
    },
}
_CL = {
    "cl_char": "signed char",
    "cl_uchar": "unsigned char",
    "cl_short": "short",
    "cl_ushort": "unsigned short",
    "cl_int": "int",
    "cl_uint": "unsigned int",
    "cl_long": "long",
    "cl_ulong": "unsigned long",
    "cl_float": "float",
    "cl_double": "double",
    "cl_bool": "unsigned int",
    "cl_mem": "struct _cl_mem *",
    "cl_context": "struct _cl_context *",
    "cl_kernel": "struct _cl_kernel *",
    "cl_program": "struct _cl_program *",
    "cl_event": "struct _cl_event *",
    "cl_command_queue": "struct _cl_command_queue *",
    "cl_device_id": "struct _cl_device_id *",
    "cl_platform_id": "struct _cl_platform_id *",
    "cl_sampler": "struct _cl_sampler *",
    "cl_context_properties": "long",
    "cl_bitfield": "unsigned long",
    "cl_device_type": "unsigned long",
    "cl_device_info": "unsigned int",
    "cl_mem_flags": "unsigned long",
    "cl_half": "unsigned short",
}

_COMPILERS = {
    name: f"struct {name}"
    for name in ("_Float16", "__fp16", "__bf16", "__float128", "__int128_t", "__uint128_t")
}
"""Types that the parser does not know as such. `_Float16` is a type here (see `ctype`); what uses
the others is refused where it does."""

TYPES: dict[str, dict[str, str]] = {
    "stddef.h": _STDDEF,
    "stdint.h": _STDINT,
    "inttypes.h": _STDINT,
    "stdio.h": {**_SIZE, **_FILE, "ssize_t": "long", "off_t": "long"},
    "stdlib.h": {**_SYS_TYPES, **_STDDEF, "div_t": "struct _div", "ldiv_t": "struct _ldiv"},
    "string.h": _SIZE,
    "strings.h": _SIZE,
    "time.h": {**_SIZE, "time_t": "long", "clock_t": "long"},
    "unistd.h": _UNISTD,
    "stdarg.h": {"va_list": "struct __va_list_tag"},
    "math.h": {"float_t": "float", "double_t": "double"},
    "sys/types.h": _SYS_TYPES,
    "sys/time.h": _SYS_TYPES,
    "sys/stat.h": _STAT,
    "sys/mman.h": {**_SIZE, "off_t": "long", "mode_t": "unsigned int"},
    "fcntl.h": {**_STAT, "pid_t": "int"},
    "malloc.h": {**_STDDEF, **_FILE},
    "setjmp.h": {"jmp_buf": "struct _jmp_buf", "sigjmp_buf": "struct _jmp_buf"},
    "signal.h": {**_SIZE, "sig_atomic_t": "int", "sigset_t": "struct _sigset", "pid_t": "int"},
    "locale.h": {},
    "wchar.h": {"size_t": "unsigned long", "wchar_t": "int", "wint_t": "unsigned int"},
    "uchar.h": {"char16_t": "unsigned short", "char32_t": "unsigned int"},
    "omp.h": {**_SIZE, "omp_lock_t": "struct _omp_lock", "omp_nest_lock_t": "struct _omp_nest"},
    "pthread.h": {**_SIZE, **_PTHREAD},
    "CL/cl.h": {**_STDDEF, **_CL},
    "CL/opencl.h": {**_STDDEF, **_CL},
}

_NULL = {"NULL": "((void *)0)"}
_LIMITS = {
    "CHAR_BIT": "8",
    "SCHAR_MIN": "(-128)",
    "SCHAR_MAX": "127",
    "UCHAR_MAX": "255",
    "CHAR_MIN": "(-128)",
    "CHAR_MAX": "127",
    "SHRT_MIN": "(-32768)",
    "SHRT_MAX": "32767",
    "USHRT_MAX": "65535",
    "INT_MIN": "(-2147483647 - 1)",
    "INT_MAX": "2147483647",
    "UINT_MAX": "4294967295U",
    "LONG_MIN": "(-9223372036854775807L - 1L)",
    "LONG_MAX": "9223372036854775807L",
    "ULONG_MAX": "18446744073709551615UL",
    "LLONG_MIN": "(-9223372036854775807LL - 1LL)",
    "LLONG_MAX": "9223372036854775807LL",
    "ULLONG_MAX": "18446744073709551615ULL",
}
_STDINT_LIMITS = {
    "INT8_MIN": "(-128)",
    "INT8_MAX": "127",
    "UINT8_MAX": "255",
    "INT16_MIN": "(-32768)",
    "INT16_MAX": "32767",
    "UINT16_MAX": "65535",
    "INT32_MIN": "(-2147483647 - 1)",
    "INT32_MAX": "2147483647",
    "UINT32_MAX": "4294967295U",
    "INT64_MIN": "(-9223372036854775807L - 1L)",
    "INT64_MAX": "9223372036854775807L",
    "UINT64_MAX": "18446744073709551615UL",
    "SIZE_MAX": "18446744073709551615UL",
    "INTMAX_MAX": "9223372036854775807L",
    "UINTMAX_MAX": "18446744073709551615UL",
    "INT8_C(x)": "x",
    "UINT8_C(x)": "x",
    "INT16_C(x)": "x",
    "UINT16_C(x)": "x",
    "INTMAX_C(x)": "x ## L",
    "UINTMAX_C(x)": "x ## UL",
    "INT64_C(x)": "x ## L",
    "UINT64_C(x)": "x ## UL",
    "INT32_C(x)": "x",
    "UINT32_C(x)": "x ## U",
}
_WIDTHS = {
    "8": ("", "hh"),
    "16": ("", "h"),
    "32": ("", ""),
    "64": ("l", "l"),
    "MAX": ("l", "l"),
    "PTR": ("l", "l"),
}
"""What printf and scanf call an integer of a width."""

_FORMATS = {
    f"{head}{letter}{least}{bits}": f'"{lengths[head == "SCN"]}{letter}"'
    for head, letters in (("PRI", "dioxXu"), ("SCN", "dioxu"))
    for letter in letters
    for bits, lengths in _WIDTHS.items()
    for least in (("", "LEAST") if bits.isdigit() else ("",))
}
_FORMATS |= {
    f"{head}{letter}FAST{bits}": f'"{_WIDTHS[bits if bits == "8" else "64"][k]}{letter}"'
    for k, (head, letters) in enumerate((("PRI", "dioxXu"), ("SCN", "dioxu")))
    for letter in letters
    for bits in ("8", "16", "32", "64")
}
_FLOAT_LIMITS = {
    "FLT_MAX": "3.40282346638528859811704183484516925e+38F",
    "FLT_MIN": "1.17549435082228750796873653722224568e-38F",
    "FLT_EPSILON": "1.19209289550781250000000000000000000e-7F",
    "DBL_MAX": "1.79769313486231570814527423731704357e+308",
    "DBL_MIN": "2.22507385850720138309023271733240406e-308",
    "DBL_EPSILON": "2.22044604925031308084726333618164062e-16",
    "FLT_DIG": "6",
    "DBL_DIG": "15",
    "FLT_MANT_DIG": "24",
    "DBL_MANT_DIG": "53",
}
_MATH = {
    "M_E": "2.7182818284590452354",
    "M_LOG2E": "1.4426950408889634074",
    "M_LOG10E": "0.43429448190325182765",
    "M_LN2": "0.69314718055994530942",
    "M_LN10": "2.30258509299404568402",
    "M_PI": "3.14159265358979323846",
    "M_PI_2": "1.57079632679489661923",
    "M_PI_4": "0.78539816339744830962",
    "M_1_PI": "0.31830988618379067154",
    "M_2_PI": "0.63661977236758134308",
    "M_2_SQRTPI": "1.12837916709551257390",
    "M_SQRT2": "1.41421356237309504880",
    "M_SQRT1_2": "0.70710678118654752440",
    "HUGE_VAL": "__builtin_huge_val()",
    "HUGE_VALF": "__builtin_huge_valf()",
    "isgreater(x, y)": "((x) > (y))",
    "isgreaterequal(x, y)": "((x) >= (y))",
    "isless(x, y)": "((x) < (y))",
    "islessequal(x, y)": "((x) <= (y))",
    "INFINITY": "__builtin_inff()",
    "NAN": '__builtin_nanf("")',
}
_GENERIC = {
    f"{name}({given})": f"{GENERIC}{name}({given})"
    for name, given in ((n, ", ".join("xyz"[: len(types)])) for n, types in REAL.items())
    if name not in CLASSES
}
_ASSERT = {"assert(x)": "((void)(x))"}
_ASSERT_OFF = {"assert(x)": "((void)0)"}

MACROS: dict[str, dict[str, str]] = {
    "stddef.h": _NULL,
    "stdio.h": {**_NULL, "EOF": "(-1)", "BUFSIZ": "8192"},
    "stdlib.h": {
        **_NULL,
        "EXIT_SUCCESS": "0",
        "EXIT_FAILURE": "1",
        "RAND_MAX": "2147483647",
    },
    "string.h": _NULL,
    "time.h": {**_NULL, "CLOCKS_PER_SEC": "1000000L"},
    "unistd.h": _NULL,
    "stdbool.h": {"bool": "_Bool", "true": "1", "false": "0"},
    "stdint.h": _STDINT_LIMITS,
    "inttypes.h": {**_STDINT_LIMITS, **_FORMATS},
    "limits.h": _LIMITS,
    "float.h": _FLOAT_LIMITS,
    "values.h": {**_LIMITS, **_FLOAT_LIMITS},
    "math.h": _MATH,
    "tgmath.h": {**_MATH, **_GENERIC},
    "assert.h": _ASSERT,
    "complex.h": {"complex": "_Complex", "I": "(__extension__ 1.0iF)"},
    "stdarg.h": {},
    "threads.h": {"thread_local": "_Thread_local"},
    "malloc.h": _NULL,
    "CL/cl.h": {**_NULL, **_LIMITS},
}

# What every compiler of an LP64 host predefines and portable code asks for.
PREDEFINED: dict[str, str] = {
    "__STDC__": "1",
    "__STDC_VERSION__": "201710L",
    "__STDC_HOSTED__": "1",
    "__LP64__": "1",
    "__CHAR_BIT__": "8",
    "__SIZEOF_INT__": "4",
    "__SIZEOF_LONG__": "8",
    "__SIZEOF_POINTER__": "8",
    "__SIZEOF_FLOAT__": "4",
    "__SIZEOF_DOUBLE__": "8",
    "__INT_MAX__": "2147483647",
    "__LONG_MAX__": "9223372036854775807L",
    "__FLT16_MANT_DIG__": "11",
    "__FLT16_MAX__": "6.55040000000000000000000000000000000e+4F16",
}

# Computed by the preprocessor itself.
DYNAMIC = frozenset(["__FILE__", "__LINE__", "__DATE__", "__TIME__", "__COUNTER__", "__PCPP__"])


def macros_of(header: str, *, ndebug: bool) -> dict[str, str]:
    """The macros a system header defines, as `name` or `name(x)` -> replacement."""
    if header == "assert.h" and ndebug:
        return _ASSERT_OFF
    return MACROS.get(header, {})


def typedefs(headers: tuple[str, ...], used: frozenset[str]) -> str:
    """C text that declares the types of `headers` which occur among `used`."""
    known = dict(_COMPILERS)
    for header in headers:
        known.update(TYPES.get(header, {}))
    return " ".join(f"typedef {known[n]} {n};" for n in sorted(used & known.keys()))
