"""C that programs of measurements share."""

from __future__ import annotations

DEVICE = r"""/* The first GPU, else the first device. */
static cl_device_id chosen(void)
{
  const cl_device_type types[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ALL};
  cl_platform_id platforms[16];
  cl_uint platform_count = 0;
  cl_device_id device = NULL;
  clGetPlatformIDs(16, platforms, &platform_count);
  for (int type = 0; type < 2; type++)
    for (cl_uint which = 0; which < platform_count && which < 16; which++)
      if (clGetDeviceIDs(platforms[which], types[type], 1, &device, NULL) == CL_SUCCESS)
        return device;
  return NULL;
}"""
"""`chosen()`, the OpenCL device of a program."""
