"""Kernels run from their OpenCL C text in this process, and every access is watched."""
