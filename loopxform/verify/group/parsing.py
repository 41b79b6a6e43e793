"""From the words of OpenCL C to its tree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from loopxform.verify.group.fault import NotModelled
from loopxform.verify.group.syntax import (
    Assembly,
    Assignment,
    Binary,
    Block,
    Branch,
    Call,
    Conditional,
    Conversion,
    Declaration,
    Evaluation,
    Expression,
    Field,
    FunctionText,
    Jump,
    Loop,
    MemberOf,
    Name,
    Number,
    Parameter,
    ProgramText,
    Statement,
    Subscript,
    TypeName,
    Unary,
)
from loopxform.verify.group.tokens import Token, preprocessed

SPACES = {f"{pad}{name}": name for pad in ("", "__") for name in ("global", "local", "constant")}
SPACES |= {"__private": "private"}
_IGNORED = {"restrict", "volatile", "static", "inline", "__kernel", "kernel"}
_SCALARS = "void bool char uchar short ushort int uint long ulong half float double"
NAMED = {*_SCALARS.split(), "size_t", "ptrdiff_t"}
_VECTOR = re.compile(r"(?:u?(?:char|short|int|long)|float|double)(?:2|4|8|16)")
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_ASSIGNED = {f"{op}=": op for op in ("", *"+-*/%&|^", "<<", ">>")}


def parse(text: str, defines: Mapping[str, str]) -> ProgramText:
    """The tree of a program; `defines` are the macros it is built with. Raises NotModelled."""
    return _Parser(preprocessed(text, defines)).program()


class _Words:
    """The words that are left to read."""

    def __init__(self, tokens: list[Token]) -> None:
        last = tokens[-1].line if tokens else 1
        self.tokens = [*tokens, Token("end", "", last)]
        self.at = 0
        self.types = set(NAMED)
        self.sub_group = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    @property
    def line(self) -> int:
        return self.next.line

    def peek(self, n: int) -> str:
        return self.tokens[min(self.at + n, len(self.tokens) - 1)].text

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1].text

    def accept(self, text: str) -> bool:
        if self.next.text != text or self.next.kind == "end":
            return False
        self.at += 1
        return True

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise NotModelled(f"'{self.next.text}' where '{text}' was expected", self.line)

    def begins_type(self, n: int = 0) -> bool:
        word = self.peek(n)
        known = word in self.types or word in SPACES or word in _IGNORED or word == "const"
        return known or bool(_VECTOR.fullmatch(word))


class _Expressions(_Words):
    def type_name(self) -> TypeName:
        name, space, const = "", "", False
        while self.begins_type() and not (name and self.peek(0) in self.types):
            word = self.take()
            const = const or (word == "const" and not name)
            space = SPACES.get(word, space)
            if word not in SPACES and word not in _IGNORED and word != "const":
                name = word
        if not name:
            raise NotModelled(f"'{self.next.text}' where a type was expected", self.line)
        pointers = 0
        while self.next.text == "*" or self.next.text in ("restrict", "const"):
            pointers += self.take() == "*"
        return TypeName(name, pointers, space, const)

    def expression(self) -> Expression:
        test = self.binary(0)
        if not self.accept("?"):
            return test
        then = self.expression()
        self.expect(":")
        return Conditional(test, then, self.expression())

    def binary(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.next.kind == "mark" and self.next.text in _LEVELS[level]:
            op = self.take()
            left = Binary(op, left, self.binary(level + 1))
        return left

    def unary(self) -> Expression:
        if self.next.kind == "mark" and self.next.text in ("-", "+", "!", "~", "*", "&"):
            op = self.take()
            return Unary(op, self.unary())
        if self.next.text == "(" and self.begins_type(1):
            self.take()
            to = self.type_name()
            self.expect(")")
            if _VECTOR.fullmatch(to.name) and not to.pointers and self.accept("("):
                return self.postfix(Conversion(to, self.listed(")")))
            return Conversion(to, (self.unary(),))
        return self.postfix(self.primary())

    def primary(self) -> Expression:
        t = self.next
        if t.kind == "number" or (t.kind == "string" and t.text.startswith("'")):
            return Number(self.take())
        if t.kind == "name":
            name = self.take()
            return Call(name, self.listed(")")) if self.accept("(") else Name(name)
        self.expect("(")
        inner = self.expression()
        self.expect(")")
        return inner

    def postfix(self, base: Expression) -> Expression:
        while True:
            if self.accept("["):
                base = Subscript(base, self.expression())
                self.expect("]")
            elif self.next.text in (".", "->"):
                arrow = self.take() == "->"
                base = MemberOf(base, self.take(), arrow)
            else:
                return base

    def listed(self, end: str) -> tuple[Expression, ...]:
        parts: list[Expression] = []
        while not self.accept(end):
            parts.append(self.expression())
            if not self.accept(","):
                self.expect(end)
                break
        return tuple(parts)

    def attributes(self) -> None:
        while self.accept("__attribute__"):
            depth = 0
            while True:
                word = self.take()
                depth += (word == "(") - (word == ")")
                if word == "intel_reqd_sub_group_size":
                    self.sub_group = int(self.tokens[self.at + 1].text)
                if not depth:
                    break

    def extents(self) -> tuple[Expression, ...]:
        sizes: list[Expression] = []
        while self.accept("["):
            sizes.append(self.expression())
            self.expect("]")
        return tuple(sizes)


class _Parser(_Expressions):
    # ------------------------------------------------------------ statements

    def block(self) -> Block:
        line = self.line
        if not self.accept("{"):
            inner = self.statement()
            return Block(line, () if inner is None else (inner,))
        statements: list[Statement] = []
        while not self.accept("}"):
            if self.next.kind == "end":
                raise NotModelled("a block that does not end", line)
            if self.begins_type():
                statements += self.declarations()
                continue
            inner = self.statement()
            if inner is not None:
                statements.append(inner)
        return Block(line, tuple(statements))

    def statement(self) -> Statement | None:
        line, word = self.line, self.next.text
        if self.accept(";"):
            return None
        match word:
            case "{":
                return self.block()
            case "if":
                return self._if()
            case "for" | "while" | "do":
                return self._loop()
            case "break" | "continue" | "return":
                self.take()
                value = None if self.next.text == ";" else self.expression()
                self.expect(";")
                return Jump(line, word, value)
            case "asm":
                return self._assembly()
        plain = self.simple()
        self.expect(";")
        return plain

    def declarations(self) -> Iterator[Declaration]:
        """`const int a = 1, b = 2;`"""
        first = self.declaration()
        yield first
        while self.accept(","):
            yield self.declarator(first.line, first.type)
        self.expect(";")

    def declaration(self) -> Declaration:
        line, kind = self.line, self.type_name()
        return self.declarator(line, kind)

    def declarator(self, line: int, kind: TypeName) -> Declaration:
        name, extents = self.take(), self.extents()
        self.attributes()
        value: Expression | tuple[Expression, ...] | None = None
        if self.accept("="):
            value = self.listed("}") if self.accept("{") else self.expression()
        return Declaration(line, kind, name, extents, value)

    def simple(self) -> Statement:
        """An assignment, maybe in parentheses, or a call."""
        line, start = self.line, self.at
        if self.accept("("):
            inner = self.simple()
            if isinstance(inner, Assignment) and self.accept(")"):
                return inner
            self.at = start
        if self.next.text in ("++", "--"):
            op = self.take()[0]
            return Assignment(line, op, self.unary(), Number("1"))
        target = self.expression()
        word = self.next.text
        if word in ("++", "--"):
            self.take()
            return Assignment(line, word[0], target, Number("1"))
        if word in _ASSIGNED:
            self.take()
            return Assignment(line, _ASSIGNED[word], target, self.expression())
        return Evaluation(line, target)

    def _if(self) -> Branch:
        line = self.line
        self.take()
        self.expect("(")
        test = self.expression()
        self.expect(")")
        then = self.block()
        orelse = self.block() if self.accept("else") else Block(line, ())
        return Branch(line, test, then, orelse)

    def _loop(self) -> Loop:
        line, word = self.line, self.take()
        if word == "do":
            body = self.block()
            self.expect("while")
            self.expect("(")
            test = self.expression()
            self.expect(")")
            self.expect(";")
            return Loop(line, None, test, (), body, at_end=True)
        self.expect("(")
        if word == "while":
            test = self.expression()
            self.expect(")")
            return Loop(line, None, test, (), self.block())
        first = None
        if not self.accept(";"):
            first = self.declaration() if self.begins_type() else self.simple()
            self.expect(";")
        asked = None if self.next.text == ";" else self.expression()
        self.expect(";")
        after: list[Statement] = []
        while not self.accept(")"):
            after.append(self.simple())
            self.accept(",")
        return Loop(line, first, asked, tuple(after), self.block())

    def _assembly(self) -> Assembly:
        line = self.line
        self.take()
        self.accept("volatile")
        self.expect("(")
        text = ""
        while self.next.kind == "string":
            text += self.take()[1:-1]
        operands: list[Expression] = []
        while not self.accept(")"):
            if self.next.kind == "string":
                self.take()
                if self.accept("("):
                    operands.append(self.expression())
                    self.expect(")")
            else:
                self.take()
        self.expect(";")
        return Assembly(line, text, tuple(operands))

    # ------------------------------------------------------------ files

    def program(self) -> ProgramText:
        structs: list[tuple[str, tuple[Field, ...]]] = []
        constants: list[Declaration] = []
        functions: list[FunctionText] = []
        while self.next.kind != "end":
            if self.accept("typedef"):
                self.expect("struct")
                fields = self._fields()
                name = self.take()
                self.types.add(name)
                structs.append((name, fields))
                self.expect(";")
            elif SPACES.get(self.next.text) == "constant":
                constants.append(self.declaration())
                self.expect(";")
            else:
                functions.append(self._function())
        return ProgramText(tuple(structs), tuple(constants), tuple(functions))

    def _fields(self) -> tuple[Field, ...]:
        self.expect("{")
        fields: list[Field] = []
        while not self.accept("}"):
            kind = self._fields() if self.accept("struct") else self.type_name()
            fields.append(Field(kind, self.take(), self.extents()))
            self.expect(";")
        return tuple(fields)

    def _function(self) -> FunctionText:
        line, is_kernel, self.sub_group = self.line, False, 0
        while True:
            self.attributes()
            if self.next.text not in ("__kernel", "kernel"):
                break
            self.take()
            is_kernel = True
        returns = self.type_name()
        self.attributes()
        name = self.take()
        self.expect("(")
        parameters: list[Parameter] = []
        while not self.accept(")"):
            kind = self.type_name()
            if kind.name != "void" or kind.pointers:
                parameters.append(Parameter(kind, self.take()))
            self.accept(",")
        head = line, name, returns, tuple(parameters)
        return FunctionText(*head, self.block(), is_kernel, self.sub_group)
