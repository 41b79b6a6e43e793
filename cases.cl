/*
 * middle from /tmp/w/sr/cases.c, transformed by loopxform 0.1.0
 * derivation:
 *   interchange i j
 *   parallelise k
 *   parallelise j
 *   dispatch k (2 variants)
 * lx_middle: launch: ceil((m - 1) / 64) x ceil(l / Ty) x ceil(n / Tx) groups, each 1 x Ty x Tx = 256 work-items
 * lx_middle_2: launch: ceil((m + 62) / 64 / 16) x ceil(l / Ty) x ceil(n / Tx) groups, each 1 x Ty x Tx = 256 work-items
 * lx_middle_3: launch: ceil(l / Ty) x ceil(n / Tx) groups, each Ty x Tx = 256 work-items
 * lx_middle_4: launch: ceil((m + 62) / 64 / 16) x ceil(l / Ty) x ceil(n / Tx) groups, each 1 x Ty x Tx = 256 work-items
 * lx_middle_5: launch: ceil((m - 1) / 64) x ceil(l / Ty) x ceil(n / Tx) groups, each 1 x Ty x Tx = 256 work-items
 * lx_middle_6: launch: ceil(l / Ty) x ceil(n / Tx) groups, each Ty x Tx = 256 work-items
 */
#pragma OPENCL FP_CONTRACT ON

#define Ty 16
#define Tx 16
__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))
void lx_middle(const int l, const int m, const int n, __global const int *restrict a,
               __global uint *restrict y_last_part)
{
  const int local_x = (int)get_local_id(0), local_y = (int)get_local_id(1);
  const int ii = 1 + (int)get_group_id(2) * 64, kk = (int)get_group_id(1) * Ty;
  const int jj = (int)get_group_id(0) * Tx, k = kk + local_y, j = jj + local_x;
  if (k < l && j < n) {
    uint y_last_own;
    y_last_own = 0u;
    for (int i = ii; i < min(m, ii + 64); ++i)
      y_last_own = y_last_own + a[((ptrdiff_t)k*m + i)*n + j];
    y_last_part[((ptrdiff_t)((ii - 1) / 64)*max(l, 1) + k)*max(n, 1) + j] = y_last_own;
  }
}

__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))
void lx_middle_2(const int l, const int m, const int n, __global const uint *restrict y_last_part,
                 __global uint *restrict y_last_part_2)
{
  const int local_x = (int)get_local_id(0), local_y = (int)get_local_id(1);
  const int ii_c_o = (int)get_group_id(2) * 16, k_2_t = (int)get_group_id(1) * Ty;
  const int j_2_t = (int)get_group_id(0) * Tx, k_2 = k_2_t + local_y, j_2 = j_2_t + local_x;
  if (k_2 < l && j_2 < n) {
    uint y_last_own_2;
    y_last_own_2 = 0u;
    for (int ii_c = ii_c_o; ii_c < min((m + 62) / 64, ii_c_o + 16); ++ii_c) {
      uint y_last_next;
      y_last_next = y_last_part[((ptrdiff_t)ii_c*max(l, 1) + k_2)*max(n, 1) + j_2];
      y_last_own_2 += y_last_next;
    }
    y_last_part_2[((ptrdiff_t)(ii_c_o / 16)*max(l, 1) + k_2)*max(n, 1) + j_2] = y_last_own_2;
  }
}

__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))
void lx_middle_3(const int l, const int m, const int n, __global const int *restrict y,
                 __global uint *restrict y_last_part_2)
{
  const int local_x = (int)get_local_id(0), local_y = (int)get_local_id(1);
  const int k_3_t = (int)get_group_id(1) * Ty, j_3_t = (int)get_group_id(0) * Tx;
  const int k_3 = k_3_t + local_y, j_3 = j_3_t + local_x;
  if (k_3 < l && j_3 < n) {
    int y_last = 0;
    if (1 < m)
      y_last = y[((ptrdiff_t)k_3*m + 0)*n + j_3];
    for (int ii_c_o_c = 0; ii_c_o_c < ((m + 62) / 64 + 15) / 16; ++ii_c_o_c) {
      uint y_last_next_2;
      y_last_next_2 = y_last_part_2[((ptrdiff_t)ii_c_o_c*max(l, 1) + k_3)*max(n, 1) + j_3];
      y_last_part_2[((ptrdiff_t)ii_c_o_c*max(l, 1) + k_3)*max(n, 1) + j_3] = y_last;
      y_last += y_last_next_2;
    }
  }
}

__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))
void lx_middle_4(const int l, const int m, const int n, __global uint *restrict y_last_part,
                 __global const uint *restrict y_last_part_2)
{
  const int local_x = (int)get_local_id(0), local_y = (int)get_local_id(1);
  const int ii_c_o_2 = (int)get_group_id(2) * 16, k_4_t = (int)get_group_id(1) * Ty;
  const int j_4_t = (int)get_group_id(0) * Tx, k_4 = k_4_t + local_y, j_4 = j_4_t + local_x;
  if (k_4 < l && j_4 < n) {
    int y_last_run_2;
    y_last_run_2 = y_last_part_2[((ptrdiff_t)(ii_c_o_2 / 16)*max(l, 1) + k_4)*max(n, 1) + j_4];
    for (int ii_c_2 = ii_c_o_2; ii_c_2 < min((m + 62) / 64, ii_c_o_2 + 16); ++ii_c_2) {
      uint y_last_next;
      y_last_next = y_last_part[((ptrdiff_t)ii_c_2*max(l, 1) + k_4)*max(n, 1) + j_4];
      y_last_part[((ptrdiff_t)ii_c_2*max(l, 1) + k_4)*max(n, 1) + j_4] = y_last_run_2;
      y_last_run_2 += y_last_next;
    }
  }
}

__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))
void lx_middle_5(const int l, const int m, const int n, __global const int *restrict a,
                 __global int *restrict y, __global const uint *restrict y_last_part)
{
  const int local_x = (int)get_local_id(0), local_y = (int)get_local_id(1);
  const int ii_2 = 1 + (int)get_group_id(2) * 64, k_5_t = (int)get_group_id(1) * Ty;
  const int j_5_t = (int)get_group_id(0) * Tx, k_5 = k_5_t + local_y, j_5 = j_5_t + local_x;
  if (k_5 < l && j_5 < n) {
    int y_last_run;
    y_last_run = y_last_part[((ptrdiff_t)((ii_2 - 1) / 64)*max(l, 1) + k_5)*max(n, 1) + j_5];
    for (int i_2 = ii_2; i_2 < min(m, ii_2 + 64); ++i_2) {
      y_last_run = y_last_run + a[((ptrdiff_t)k_5*m + i_2)*n + j_5];
      y[((ptrdiff_t)k_5*m + i_2)*n + j_5] = y_last_run;
    }
  }
}

__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))
void lx_middle_6(const int l, const int m, const int n, __global const int *restrict a,
                 __global int *restrict y)
{
  const int local_x = (int)get_local_id(0), local_y = (int)get_local_id(1);
  const int kk = (int)get_group_id(1) * Ty, jj = (int)get_group_id(0) * Tx, k = kk + local_y;
  const int j = jj + local_x;
  if (k < l && j < n) {
    int y_last = 0;
    if (1 < m)
      y_last = y[((ptrdiff_t)k*m + 0)*n + j];
    for (int i = 1; i < m; ++i) {
      y_last = y_last + a[((ptrdiff_t)k*m + i)*n + j];
      y[((ptrdiff_t)k*m + i)*n + j] = y_last;
    }
  }
}
