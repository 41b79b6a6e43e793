"""Statements, declarations and expressions: what they become."""

from __future__ import annotations

import pytest
from lowering import body, first, lower, opaques, param, parsed, shape, text

from loopxform.analysis.verdict import judge
from loopxform.errors import UnsupportedC
from loopxform.ir.nodes import Assign, Bin, Const, For, Return, Var
from loopxform.ir.printer import listing
from loopxform.ir.types import CHAR, DOUBLE, FLOAT, INT, LONG, UINT, ULONG, Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import loops, walk

MEANS = [
    ("a[0]++; --b[1];", "a[0] += 1; b[1] -= 1;"),
    ("n <<= 2; n %= 3;", "n <<= 2; n %= 3;"),
    ("b[n] = a[0]--; b[(int)a[2]++] = n;", "b[n] = a[0]; a[0] -= 1; b[(int)a[2]] = n; a[2] += 1;"),
    ("a[0] = b[0] = 0;", "b[0] = 0; a[0] = 0;"),
    ("a[0] = b[0] = 1000;", "b[0] = 1000; a[0] = b[0];"),
    ("a[0] = b[0] += n;", "b[0] += n; a[0] = b[0];"),
    ("a[0] = 1, b[0] = 2;", "a[0] = 1; b[0] = 2;"),
    ("*a = 1; *(a + n) = *(1 + b);", "a[0] = 1; a[n] = b[1];"),
    ("(a + 1)[2] = (&b[n])[1];", "a[1+2] = b[n+1];"),
    ("2[a] = *(b - 1 + n);", "a[2] = b[-1+n];"),
    ("if (n > 1) a[0] = 1; else { a[1] = 2; }", "if (n > 1) a[0] = 1; else a[1] = 2;"),
    ("if (0) a[0] = 1; a[1] = 2;", "a[1] = 2;"),
    ("if (3 > 2) a[0] = 1; else a[1] = 2;", "if (1) a[0] = 1;"),
    ("if (1 - 1) a[0] = 1; else a[1] = 2;", "if (1) a[1] = 2;"),
    ("if (0) for (int i = 0; i < n; i++) a[i] = 1;", "if (0) for (i = 0; i < n; i++) a[i] = 1;"),
    ("a[0] = n ? 1 : (float)n / 2;", "a[0] = n ? 1 : (float)n / 2;"),
    ("a[0] = !n && ~n || -n;", "a[0] = !n && ~n || -n;"),
    ("a[0] = sqrtf(b[0]) + fmax(b[1], 2);", "a[0] = sqrtf(b[0]) + fmax((double)b[1], (double)2);"),
    ("a[0] = 'a' + '\\n' + 0x10 + 1.5f + 2.;", "a[0] = 'a' + '\\n' + 0x10 + 1.5f + 2.;"),
    (";;; (void)n; n; 3;", ""),
    ("{ float n = 1; a[0] = n; }", "n_2 = 1; a[0] = n_2;"),
    ("{ int t = 1; a[0] = t; } { int t = 2; a[1] = t; }", "t = 1; a[0] = t; t_2 = 2; a[1] = t_2;"),
    ("float t[2] = {1}; a[0] = t[0];", "t[2]; t[0] = 1; t[1] = 0; a[0] = t[0];"),
    ("float t[2][1] = {{1}, {2}};", "t[2, 1]; t[0, 0] = 1; t[1, 0] = 2;"),
    ("float t[] = {4, 5};", "t[2]; t[0] = 4; t[1] = 5;"),
    ("static const int K = 2 << 1; a[K] = K;", "a[4] = 4;"),
    ("float t[n][2*n]; t[0][1] = 2;", "t[n, 2*n]; t[0, 1] = 2;"),
]


@pytest.mark.parametrize(("statements", "expected"), MEANS)
def test_means(statements: str, expected: str) -> None:
    assert text(statements) == expected


REFUSED = [
    ("while (n) { a[0] = 1; }", "LX011", "a while loop"),
    ("do { a[0] = 1; } while (n);", "LX011", "a do loop"),
    ("switch (n) { case 1: a[0] = 1; case 2: a[0] = 2; }", "LX011", "a switch"),
    ("out: a[0] = 1; goto out;", "LX011", "the label 'out'"),
    ("for (int i = 0; i < n; i++) if (a[i] > 0) break;", "LX011", "a break"),
    ("do { if (n) return; } while (n);", "LX011", "a do loop"),
    ("a[0] = foo(n);", "LX012", "the effects of calling 'foo' are not known"),
    ("n = (n++, 2);", "LX017", "the comma operator"),
    ("a[n] = n++;", "LX017", "++ inside an expression"),
    ("n && a[n++];", "LX017", "++ inside an expression"),
    ("a[1] = n ? b[0]++ : 2;", "LX017", "++ inside an expression"),
    ("a[1] = sqrtf(b[0]++);", "LX017", "++ inside an expression"),
    ("a[1] = b[n]++;", "LX017", "++ inside an expression"),
    ("if (n > 1 && (n = 2)) a[0] = 1;", "LX017", "an assignment inside an expression"),
    ("if (n) a = b; *a = 1;", "LX014", "the pointer 'a' is changed"),
    ("a[0] = 1; a = b;", "LX014", "the pointer 'a' is changed"),
    ("float *p = 0; ", "LX014", "what the local pointer 'p' points to is not known"),
    ("float *p; p[0] = 1;", "LX014", "what the local pointer 'p' points to is not known"),
    ("n = a == b;", "LX014", "a pointer is computed or compared"),
    ("((char *)a)[0] = 1;", "LX014", "the pointer sees 'a' with another type"),
    ("a[b[0]] = 1;", "LX014", "the subscript is not an integer"),
    ("a[0][1] = 1;", "LX014", "'a' has 1 dimensions"),
    ("n[0] = 1;", "LX014", "'n' is not an array"),
    ("struct { int x; } s; s.x = 1;", "LX015", "'x' is a struct or union member"),
    ("a[0] = 1.0L;", "LX015", "the literal 1.0L"),
    ('a[0] = "x";', "LX015", "the literal"),
    ("long double d = 1; ", "LX015", "'d' has type long double"),
    ("typedef int own; static own c; c += 1;", "LX015", "keeps its value between calls"),
    ("volatile int v; v = 1;", "LX016", "'v' is volatile"),
    ('asm volatile ("nop");', "LX016", "inline assembly"),
    ("x = 1;", "LX018", "'x' is not declared"),
    ("float t[3] = {[1] = 2};", "LX010", "an initialiser with a designator"),
]


@pytest.mark.parametrize(("statements", "code", "reason"), REFUSED)
def test_refused(statements: str, code: str, reason: str) -> None:
    found = opaques(body(statements))[0]
    assert (found.code, found.loop) == (code, False)
    assert reason in found.reason
    assert found.origin.loc is not None


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("i - 1 < n", "unsigned difference may wrap"),
        ("m < n", "signed number is compared as unsigned"),
        ("i + 1 < n", None),
        ("m > 0 && i < 7", None),
        ("m >= 0 && m < n", None),
        ("m < 0 || m >= n", None),
        ("m > -1 && i < 7 && m < n", None),
        ("!(0 > m || i > 7) && m < n", None),
        ("(m < 0 || i > 7) && m < n", "signed number is compared as unsigned"),
        ("m >= 0 || m < n", "signed number is compared as unsigned"),
        ("m >= -1 && m < n", "signed number is compared as unsigned"),
        ("m < n && m >= 0", "signed number is compared as unsigned"),
        ("m + 1 >= 0 && m < n", "signed number is compared as unsigned"),
        ("x[i] - x[0] > 0", None),
    ],
)
def test_unsigned_conditions(condition: str, reason: str | None) -> None:
    params = "unsigned n, unsigned i, int m, unsigned *x, float *a"
    found = opaques(body(f"if ({condition}) a[0] = 1;", params))
    assert [o.reason for o in found if reason and reason in o.reason] == [o.reason for o in found]
    assert bool(found) == bool(reason)


def test_nested_loops_inside_what_is_refused_are_kept() -> None:
    fn = body("while (n) for (int i = 0; i < 3; i++) a[i] = 1;")
    assert any(isinstance(s, For) for _, s in walk(fn.body))


def test_a_declaration_survives_an_initialiser_that_is_refused() -> None:
    fn = body("float t = foo(); a[0] = t;")
    assert [type(s).__name__ for s in fn.body] == ["Decl", "Opaque", "Assign"]


def test_labels_are_in_text_order() -> None:
    fn = body("a[0] = 1; if (n) a[1] = 2; else a[2] = 3; while (n) a[3] = 4;")
    labels = [s.label for _, s in walk(fn.body) if isinstance(s, Assign)]
    assert labels == ["S0", "S1", "S2", "S3"]


LITERALS: list[tuple[str, int | float, Scalar]] = [
    ("1", 1, INT),
    ("2147483648", 2147483648, LONG),
    ("0x80000000", 0x80000000, UINT),
    ("0xFFFFFFFFFFFFFFFF", 0xFFFFFFFFFFFFFFFF, ULONG),
    ("1u", 1, UINT),
    ("1UL", 1, ULONG),
    ("1l", 1, LONG),
    ("010", 8, INT),
    ("0b11", 3, INT),
    ("'\\x41'", 65, INT),
    ("'\\377'", -1, INT),
    ("1.0f", 1.0, FLOAT),
    ("0.1f", 0.10000000149011612, FLOAT),
    ("1e3", 1000.0, DOUBLE),
    ("0x1p-2", 0.25, DOUBLE),
]


@pytest.mark.parametrize(("literal", "value", "type"), LITERALS)
def test_literals(literal: str, value: int | float, type: Scalar) -> None:
    s = first(body(f"a[0] = {literal};"), Assign)
    assert isinstance(s, Assign)
    assert s.value == Const(value, type)


@pytest.mark.parametrize(
    ("expression", "type"),
    [
        ("c + c", INT),
        ("u + 1", UINT),
        ("u + 1L", LONG),
        ("f * 2", FLOAT),
        ("f * 2.0", DOUBLE),
        ("c ? f : 1", FLOAT),
        ("(char)u", CHAR),
        ("sqrtf(d)", FLOAT),
        ("erf(d)", DOUBLE),
        ("abs(c)", INT),
        ("c < u", INT),
        ("sizeof(double)", ULONG),
    ],
)
def test_types_are_those_of_c(expression: str, type: Scalar) -> None:
    fn = body(f"d = {expression};", "char c, unsigned u, float f, double d")
    s = first(fn, Assign)
    assert isinstance(s, Assign)
    assert type_of(s.value, symbols(fn)) == type


def test_return() -> None:
    fn = lower("double f(float x) { return x; }")
    assert fn.returns == DOUBLE
    assert isinstance(fn.body[0], Return)
    assert lower("void f(void) { return; }").body == (Return(None),)


def test_parameters() -> None:
    fn = lower(
        """
        typedef double real;
        typedef float vec3[3];
        void f(const int n, real A[restrict static n][2*n], const float *restrict B,
               float (*C)[n], vec3 *D, unsigned char E[], float F[const n]) { A[0][0] = 1; }
        """
    )
    assert [p.name for p in fn.params] == list("nABCDEF")
    assert shape(fn, "A") == ["n", "2*n"]
    assert (param(fn, "A").restrict, param(fn, "A").static) == (True, True)
    assert (param(fn, "B").const, param(fn, "B").restrict, param(fn, "B").flat) == (True,) * 3
    assert shape(fn, "C") == [None, "n"]
    assert shape(fn, "D") == [None, "3"]
    assert shape(fn, "E") == [None]
    assert shape(fn, "F") == ["n"]
    assert param(fn, "n").const
    assert fn.signature == (
        "void f(const int n, double A[restrict static n][2*n], const float *restrict B, "
        "float (*C)[n], float (*D)[3], unsigned char E[], float F[const n])"
    )


@pytest.mark.parametrize(
    ("prototype", "signature"),
    [
        ("int f()", "int f(void)"),
        ("static inline float f(register int n)", "float f(int n)"),
        ("void f(int n, ...)", "void f(int n, ...)"),
        ("void f(float **a, char *const *b)", "void f(float **a, char *const *b)"),
        ("void f(int (*g)(int, float *))", "void f(int (*g)(int, float *))"),
        ("float *f(unsigned long int n)", "float *f(unsigned long n)"),
        ("void f(short unsigned n, long long m)", "void f(unsigned short n, long long m)"),
    ],
)
def test_signature(prototype: str, signature: str) -> None:
    assert lower(f"{prototype} {{ }}").signature == signature


def test_parameters_outside_the_model_are_refused_where_they_are() -> None:
    fn = lower("int main(int argc, char **argv) { return 0; }")
    (found,) = opaques(fn)
    assert found.reason == "'argv' has type char **"
    assert str(found.origin.loc) == "t.c:1:27"
    assert [p.name for p in fn.params] == ["argc"]


def test_jagged_arrays_are_refused_at_their_use() -> None:
    fn = lower("void f(int n, float **a) {\n  a[1][2] = 0;\n}")
    found = opaques(fn)[1]
    assert (found.code, str(found.origin.loc)) == ("LX014", "t.c:2:3")
    assert "float a[M][N]" in found.help


def test_globals() -> None:
    fn = lower(
        """
        enum { ROWS = 4, COLS = ROWS << 1, LAST };
        const int K = COLS + LAST;
        static float A[ROWS][COLS];
        double w[] = {1, 2, 3};
        extern float *p;
        int unused, count;
        void f(void) { A[K][LAST] = w[0] + count; p[ROWS] = 1; }
        """
    )
    assert [p.name for p in fn.globals] == ["A", "w", "p", "count"]
    assert shape(fn, "A") == ["4", "8"]
    assert shape(fn, "w") == ["3"]
    assert shape(fn, "p") == [None]
    assert all(p.is_global for p in fn.globals)
    from loopxform.ir.printer import listing

    assert listing(fn) == "A[17, 9] = w[0] + count;\np[4] = 1;\n"


def test_a_pointer_of_the_file_may_point_to_a_local_whose_address_is_taken() -> None:
    fn = lower("float *p; void f(int n) { float s = 0; g(&s); p[n] = 1; s = 2; }")
    assert opaques(fn)[1].reason == "'p' may point to 's', whose address is taken"


def test_sizes_that_change_are_refused() -> None:
    fn = body("n = 3; a[0] = 1; for (int i = 0; i < 3; i++) a[i] = 1;", "int n, float a[n]")
    (outer,) = fn.body
    assert opaques(fn)[0].reason == "'n', in the size of 'a', is modified"
    assert len(loops(fn)) == 1
    assert outer is opaques(fn)[0]
    assert not opaques(body("int m = n; m = 2; float t[m]; t[0] = m;"))


def test_functions_in_order_and_calls_of_them_are_refused() -> None:
    out = parsed("int sq(int x) { return x < 2 ? x : sq(x - 1); } int f(int x) { return sq(x); }")
    assert [f.name for f in out.unit.functions] == ["sq", "f"]
    assert "inline the body of 'sq'" in opaques(out.unit.functions[1])[0].help


def test_a_user_function_hides_the_one_of_the_library() -> None:
    out = parsed("double sqrt(double x) { return 1; } void f(double *a) { a[0] = sqrt(a[1]); }")
    assert listing(out.unit.functions[1]) == "a[0] = (double)1;\n"
    out = parsed("int n; double sqrt(double x) { again: if (n) { n--; goto again; } return n; } "
                 "void f(double *a) { a[0] = sqrt(a[1]); }")  # fmt: skip
    assert opaques(out.unit.functions[1])[0].code == "LX012"


def test_long_sums_are_read_and_too_long_ones_refused() -> None:
    s = first(body(f"a[0] = {' + '.join(['n'] * 100)};"), Assign)
    assert isinstance(s, Assign)
    assert isinstance(s.value, Bin)
    assert s.value.right == Var("n")
    assert first(body(f"a[0] = {' + '.join(['n'] * 200)};"), Assign).target == Var("a_part")
    with pytest.raises(UnsupportedC, match="nested too deeply"):
        body(f"a[0] = {' + '.join(['n'] * 5000)};")


@pytest.mark.parametrize("size", ["N", "(A) > (B) ? (A) : (B)"])
def test_what_uses_an_array_of_unknown_size_is_not_modelled(size: str) -> None:
    use = "for (int i = 0; i < n; i++) { t[i] = x[i]; a[i] = t[i] + s.m[i]; }"
    body = f"float t[{size}]; struct {{ float m[{size}]; }} s; {use}"
    fn = lower(f"void f(int n, int *a, double *x) {{ {body} }}")
    assert [v.parallel for v in judge(fn)] == ["unknown"]
    assert {o.reason for o in opaques(fn)} >= {"the size of 't' is not modelled"}


@pytest.mark.parametrize("size", ["N", "N/2*2+1"])
def test_rows_of_unknown_length_in_an_array_of_the_file_are_not_modelled(size: str) -> None:
    """Of the first dimension nothing has to be known."""
    text = f"double u[4][{size}], v[{size}][4];\n"
    text += "void f(int n) { for (int i = 0; i < n; i++) u[i][0] = i; }\n"
    text += "void g(int n) { for (int i = 0; i < n; i++) v[i][0] = i; }\n"
    f, g = parsed(text).unit.functions
    assert [o.reason for o in opaques(f)] == ["the size of 'u' is not modelled"]
    assert [v.parallel for v in judge(f)] == ["unknown"]
    assert [v.parallel for v in judge(g)] == ["yes"]


def test_literals_beyond_a_double() -> None:
    """They are infinite, as compilers have them."""
    text = "void f(double *a) { a[0] = 0x1p1024; a[1] = 1e999; a[2] = 0x1p-2000; }"
    (fn,) = parsed(text).unit.functions
    values = [
        s.value.value for s in fn.body if isinstance(s, Assign) and isinstance(s.value, Const)
    ]
    assert values == [float("inf"), float("inf"), 0.0]
