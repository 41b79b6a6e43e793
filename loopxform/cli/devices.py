"""`loopxform devices`: what kernels can run on and be fitted to."""

from __future__ import annotations

from loopxform.cli.parser import Parser
from loopxform.errors import DeviceError
from loopxform.recipes.limits import PROFILES


def main(argv: list[str]) -> int:
    p = Parser(prog="loopxform devices", description="Lists OpenCL devices and named profiles.")
    p.add_argument("--profiles", action="store_true", help="only the profiles; needs no OpenCL")
    args = p.parse_args(argv)
    failure: DeviceError | None = None
    if not args.profiles:
        from loopxform.runtime.device import devices

        try:
            for d in devices():
                print(f"{d.place:<5} {d}")
                print(
                    f"      {d.type}, {d.compute_units} units, {d.max_group_size} work-items a "
                    f"group, {d.local_bytes} bytes local, fp64 {'yes' if d.fp64 else 'no'}"
                )
        except DeviceError as e:
            failure = e
    print("profiles (--profile NAME):")
    for limits in PROFILES.values():
        print(
            f"  {limits.name:<10} {limits.group_size} work-items a group, {limits.local_bytes} "
            f"bytes local, {limits.registers} registers"
        )
    if failure:
        raise failure
    return 0
