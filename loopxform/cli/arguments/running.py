"""What `run` and `bench` share: sizes and inputs."""

from __future__ import annotations

import argparse

SEED = 20200608


def add_size(p: argparse._ActionsContainer) -> None:
    """`--size`."""
    p.add_argument(
        "--size",
        action="append",
        default=[],
        metavar="M=513,U=129",
        help="values of scalar parameters",
    )


def add_sizes(p: argparse._ActionsContainer) -> None:
    """`--sizes`."""
    p.add_argument(
        "--sizes",
        action="append",
        default=[],
        metavar="SIZES",
        help="several sets: M=512,1024; M=N=512,1024 (equal numbers); a file with one set a "
        "line, or JSON; thesis: 16 nearly square ones. Several options form all combinations",
    )


def add_inputs(p: argparse._ActionsContainer) -> None:
    """`--seed` and `--input`."""
    p.add_argument(
        "--seed", default=str(SEED), metavar="N", help=f"random seed of the inputs ({SEED})"
    )
    p.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=LOW:HIGH",
        help="values of an array, HIGH exclusive; 0:nnz:sorted for row pointers",
    )
