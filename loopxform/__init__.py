"""Source-to-source loop transformation of C for OpenCL."""
