"""Programs of other processes are built by this one, and found in PoCL's cache."""

from __future__ import annotations

from pathlib import Path

import program_server
import pytest
from c_project import cc, require_opencl, run_app

MAIN = """
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
int main(int count, char **words)
{
  char text[200], log[4000] = "";
  const char *source = text;
  cl_platform_id platform;
  cl_device_id device;
  snprintf(text, sizeof text, "__kernel void k(__global int *a) { a[0] = %s; }", words[count - 1]);
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
  const cl_int status = clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL);
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  printf("%d %s", status, log);
  return 0;
}
"""


def test_a_process_asks_before_it_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_opencl()
    if not program_server.settings():
        pytest.skip("the first device is not PoCL's")
    (tmp_path / "main.c").write_text(MAIN)
    assert not cc(tmp_path, "main.c", "-o", "app", "-lOpenCL").returncode
    asked: list[tuple[bytes, str]] = []
    build = program_server._build

    def noted(context: object, options: bytes, source: str) -> None:
        asked.append((options, source))
        build(context, options, source)

    monkeypatch.setattr(program_server, "_build", noted)
    for value, fails in (("7", False), ("no_name", True)):
        done = run_app(tmp_path / "app", value)
        assert done.stdout.startswith("0 ") != fails
        assert ("no_name" in done.stdout) == fails
    options, sources = {x for x, _ in asked}, [x for _, x in asked]
    assert [x.split()[0] for x in options] == [b"-cl-std=CL1.2"]
    assert ["= 7;" in x for x in sources] == [True, False]
