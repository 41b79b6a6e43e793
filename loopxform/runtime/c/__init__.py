"""Kernels as C: the OpenCL C that was written, compiled by the system's C compiler and run on the
CPU, where a sanitizer can watch it."""
