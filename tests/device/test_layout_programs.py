"""Layouts changed as others write it: each loop in parallel, and the results of the C."""

from __future__ import annotations

from pathlib import Path

from c_project import assert_file_prints_the_same, require_opencl

import loopxform as lx

FILE = """\
#include <stdio.h>
#include <stddef.h>

void im2col(const float *restrict im, int channels, int height, int width, int kh, int kw,
            int pad, int stride_h, int stride_w, float *restrict col)
{
  const int output_h = (height + 2*pad - kh) / stride_h + 1;
  const int output_w = (width + 2*pad - kw) / stride_w + 1;
  for (int c = 0; c < channels*kh*kw; ++c) {
    int w_offset = c % kw;
    int h_offset = (c / kw) % kh;
    int c_im = c / kh / kw;
    for (int h = 0; h < output_h; ++h)
      for (int w = 0; w < output_w; ++w) {
        int h_pad = h*stride_h - pad + h_offset;
        int w_pad = w*stride_w - pad + w_offset;
        if (h_pad >= 0 && h_pad < height && w_pad >= 0 && w_pad < width)
          col[(c*output_h + h)*output_w + w] = im[(c_im*height + h_pad)*width + w_pad];
        else
          col[(c*output_h + h)*output_w + w] = 0;
      }
  }
}

void unpack(int ny, int nx, double *restrict a, const double *restrict l, const double *restrict r)
{
  for (int j = 1; j < ny - 1; j++) {
    a[j*nx] = l[j];
    a[j*nx + nx - 1] = r[j];
  }
}

void to_planes(size_t N, size_t C, size_t H, size_t W, const float *restrict in,
               float *restrict out)
{
  for (size_t n = 0; n < N; n++)
    for (size_t h = 0; h < H; h++)
      for (size_t w = 0; w < W; w++)
        for (size_t c = 0; c < C; c++)
          out[((n*C + c)*H + h)*W + w] = in[((n*H + h)*W + w)*C + c];
}

int main(void)
{
  static float x[600], col[6000], out[600];
  static double a[60], l[20], r[20];
  for (int i = 0; i < 600; i++)
    x[i] = (float)(i * 37 % 101);
  for (int i = 0; i < 20; i++) {
    l[i] = i + 1;
    r[i] = -i - 1;
  }
  im2col(x, 3, 9, 11, 3, 2, 1, 2, 1, col);
  im2col(x, 0, 9, 11, 3, 2, 1, 2, 1, col + 3000);
  im2col(x, 1, 3, 3, 3, 3, 0, 1, 1, col + 5000);
  for (int nx = 1; nx < 5; nx++)
    unpack(9, nx, a, l, r);
  to_planes(2, 3, 5, 7, x, out);
  to_planes(1, 3, 0, 7, x, out + 300);
  double s = 0, t = 0;
  for (int i = 0; i < 6000; i++)
    s += (i % 97 + 1) * (double)col[i];
  for (int i = 0; i < 600; i++)
    t += (i % 89 + 1) * (double)out[i];
  printf("%g %g\\n", s, t);
  for (int i = 0; i < 60; i++)
    printf("%g ", a[i]);
  return 0;
}
"""


def test_programs_print_the_same(tmp_path: Path) -> None:
    require_opencl()
    (tmp_path / "layouts.c").write_text(FILE)
    done = lx.load(tmp_path / "layouts.c").offload(fp="strict")
    parallel = {
        r.region.name: [p.loops for p in r.done.parts if p.kind == "kernel"] for r in done.regions
    }
    assert parallel["im2col"] == [("c", "h", "w")]
    assert parallel["unpack"] == [("j",)]
    assert parallel["to_planes"] == [("n", "h", "w", "c")]
    said = assert_file_prints_the_same(tmp_path / "layouts.c", done, sanitized=True)
    ran = {line.split(": ")[2] for line in said if "on the device" in line}
    assert ran >= {"im2col", "unpack", "to_planes"}, said
