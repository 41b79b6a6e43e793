/*
 * sat1 from /tmp/w/sr/cases.c, transformed by loopxform 0.1.0
 * derivation:
 *   defer-update s j
 *   privatise r i
 *   distribute i j_2
 *   rename i#2 i_2
 *   parallelise i
 *   interchange i_2 j_2
 *   parallelise j_2
 *   dispatch i (4 variants)
 *   dispatch j_2 (2 variants)
 * lx_sat1: launch: m*ceil(n / 2304) groups, each Tx = 256 work-items
 * lx_sat1: local memory of a group: 1088 bytes: r_own_part[Tx], r_own_part_2[16]
 * lx_sat1_2: launch: m groups, each 256 = 256 work-items
 * lx_sat1_2: local memory of a group: 10308 bytes: r[1], r_part_2[256], r_part_3[16], r_part_own[2304]
 * lx_sat1_3: launch: m*ceil(n / 2304) groups, each 256 = 256 work-items
 * lx_sat1_3: local memory of a group: 19520 bytes: r_run_part[256], a_loc[2304], r_run_part_2[16], s_own[2304]
 * lx_sat1_4: launch: m groups, each 256 = 256 work-items
 * lx_sat1_4: launch: m groups, each 32 = 32 work-items
 * lx_sat1_4: local memory of a group: 2452 to 19524 bytes: r[1], r_part[256], a_loc[2304], r_part_2[16], s_own[2304]
 * lx_sat1_5: launch: ceil(m / Tx) groups, each Tx = 32 work-items
 * lx_sat1_5: local memory of a group: 16896 bytes: a_loc[Tk, Tx + 1]
 * lx_sat1_6: launch: ceil(m / (64*Ty)) x ceil(n / Tx) groups, each Ty x Tx = 256 work-items
 * lx_sat1_7: launch: ceil((m + 63) / 64 / (16*Ty)) x ceil(n / Tx) groups, each Ty x Tx = 256 work-items
 * lx_sat1_8: launch: ceil(n / (Tx*Ty)) groups, each Tx*Ty = 256 work-items
 * lx_sat1_9: launch: ceil((m + 63) / 64 / (16*Ty)) x ceil(n / Tx) groups, each Ty x Tx = 256 work-items
 * lx_sat1_10: launch: ceil(m / (64*Ty)) x ceil(n / Tx) groups, each Ty x Tx = 256 work-items
 * lx_sat1_11: launch: ceil(n / (Tx*Ty)) groups, each Tx*Ty = 256 work-items
 */
#pragma OPENCL FP_CONTRACT ON
#define LX_UNROLL _Pragma("unroll")

#define Tx 256
__kernel __attribute__((reqd_work_group_size(Tx, 1, 1)))
void lx_sat1(const int m, const int n, __global const int *restrict a,
             __global uint *restrict r_part_4)
{
  __local uint r_own_part[Tx] __attribute__((aligned(16)));
  __local uint r_own_part_2[16] __attribute__((aligned(16)));
  const int local_x = (int)get_local_id(0), i = (int)(get_group_id(0) / ((n + 2303) / 2304));
  const int jj = (int)(get_group_id(0) % ((n + 2303) / 2304)) * 2304, j_t = local_x;
  const int j_t_c_t = local_x, once = local_x;
  {
    uint r_own_own;
    r_own_own = 0u;
    for (int j = jj + j_t; j < min(n, jj + 2304); j += Tx)
      r_own_own += a[(ptrdiff_t)i*n + j];
    r_own_part[local_x] = r_own_own;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (local_x < 16) {
    uint r_own_own_2;
    r_own_own_2 = 0u;
    for (int j_t_c = j_t_c_t; j_t_c < Tx; j_t_c += 16)
      r_own_own_2 += r_own_part[j_t_c];
    r_own_part_2[local_x] = r_own_own_2;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (local_x < 1) {
    uint r_own;
    r_own = 0u;
    for (int j_t_c_t_c = 0; j_t_c_t_c < 16; ++j_t_c_t_c)
      r_own += r_own_part_2[j_t_c_t_c];
    r_part_4[(ptrdiff_t)i*max((n + 2303) / 2304, 1) + jj / 2304] = r_own;
  }
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void lx_sat1_2(const int m, const int n, __global uint *restrict r_part_4)
{
  __local int r[1] __attribute__((aligned(16)));
  __local uint r_part_2[256] __attribute__((aligned(16)));
  __local uint r_part_3[16] __attribute__((aligned(16)));
  __local uint r_part_own[2304] __attribute__((aligned(16)));
  const int local_x = (int)get_local_id(0), i_3 = (int)get_group_id(0), once_3 = local_x;
  const int jj_c_o_2_c_o = 16*local_x, once_2 = local_x, jj_c_o_2_c_o_2 = 16*local_x;
  const int jj_c_2_t = local_x;
  if (local_x < 1)
    r[0] = 0;
  for (int jj_c_o = 0; jj_c_o < (n + 2303) / 2304; jj_c_o += 2304) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (jj_c_o + 2304 <= (n + 2303) / 2304) {
      {
        const int jj_c_o_2 = jj_c_o + 9*local_x;
        {
          uint r_own_2;
          r_own_2 = 0u;
          for (int jj_c = jj_c_o_2; jj_c < jj_c_o_2 + 9; ++jj_c) {
            uint r_next;
            r_next = r_part_4[(ptrdiff_t)i_3*max((n + 2303) / 2304, 1) + jj_c];
            r_own_2 += r_next;
          }
          r_part_2[local_x] = r_own_2;
        }
      }
    } else {
      {
        const int jj_c_o_2 = jj_c_o + 9*local_x;
        if (jj_c_o_2 < (n + 2303) / 2304) {
          uint r_own_2;
          r_own_2 = 0u;
          for (int jj_c = jj_c_o_2; jj_c < min((n + 2303) / 2304, jj_c_o_2 + 9); ++jj_c) {
            uint r_next;
            r_next = r_part_4[(ptrdiff_t)i_3*max((n + 2303) / 2304, 1) + jj_c];
            r_own_2 += r_next;
          }
          r_part_2[local_x] = r_own_2;
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (jj_c_o + 2304 <= (n + 2303) / 2304) {
      if (local_x < 16) {
        uint r_own_3;
        r_own_3 = 0u;
        for (int jj_c_o_2_c = jj_c_o_2_c_o; jj_c_o_2_c < jj_c_o_2_c_o + 16; ++jj_c_o_2_c) {
          uint r_next_2;
          r_next_2 = r_part_2[jj_c_o_2_c];
          r_own_3 += r_next_2;
        }
        r_part_3[local_x] = r_own_3;
      }
    } else {
      if (local_x < 16 && jj_c_o_2_c_o < ((n + 2303) / 2304 - jj_c_o + 8) / 9) {
        uint r_own_3;
        r_own_3 = 0u;
        for (int jj_c_o_2_c = jj_c_o_2_c_o; jj_c_o_2_c < min(((n + 2303) / 2304 - jj_c_o + 8) / 9, jj_c_o_2_c_o + 16); ++jj_c_o_2_c) {
          uint r_next_2;
          r_next_2 = r_part_2[jj_c_o_2_c];
          r_own_3 += r_next_2;
        }
        r_part_3[local_x] = r_own_3;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (jj_c_o + 2304 <= (n + 2303) / 2304) {
      if (local_x < 1)
        for (int jj_c_o_2_c_o_c = 0; jj_c_o_2_c_o_c < 16; ++jj_c_o_2_c_o_c) {
          uint r_next_3;
          r_next_3 = r_part_3[jj_c_o_2_c_o_c];
          r_part_3[jj_c_o_2_c_o_c] = r[0];
          r[0] += r_next_3;
        }
    } else {
      if (local_x < 1)
        for (int jj_c_o_2_c_o_c = 0; jj_c_o_2_c_o_c < min((((n + 2303) / 2304 - jj_c_o + 8) / 9 + 15) / 16, 16); ++jj_c_o_2_c_o_c) {
          uint r_next_3;
          r_next_3 = r_part_3[jj_c_o_2_c_o_c];
          r_part_3[jj_c_o_2_c_o_c] = r[0];
          r[0] += r_next_3;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (jj_c_o + 2304 <= (n + 2303) / 2304) {
      if (local_x < 16) {
        int r_run_3;
        r_run_3 = r_part_3[local_x];
        for (int jj_c_o_2_c_2 = jj_c_o_2_c_o_2; jj_c_o_2_c_2 < jj_c_o_2_c_o_2 + 16; ++jj_c_o_2_c_2) {
          uint r_next_2;
          r_next_2 = r_part_2[jj_c_o_2_c_2];
          r_part_2[jj_c_o_2_c_2] = r_run_3;
          r_run_3 += r_next_2;
        }
      }
    } else {
      if (local_x < 16 && jj_c_o_2_c_o_2 < ((n + 2303) / 2304 - jj_c_o + 8) / 9) {
        int r_run_3;
        r_run_3 = r_part_3[local_x];
        for (int jj_c_o_2_c_2 = jj_c_o_2_c_o_2; jj_c_o_2_c_2 < min(((n + 2303) / 2304 - jj_c_o + 8) / 9, jj_c_o_2_c_o_2 + 16); ++jj_c_o_2_c_2) {
          uint r_next_2;
          r_next_2 = r_part_2[jj_c_o_2_c_2];
          r_part_2[jj_c_o_2_c_2] = r_run_3;
          r_run_3 += r_next_2;
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (jj_c_o + 2304 <= (n + 2303) / 2304) {
      {
        const int jj_c_o_2_2 = jj_c_o + 9*local_x;
        {
          int r_run_2;
          r_run_2 = r_part_2[local_x];
          for (int jj_c_3 = jj_c_o_2_2; jj_c_3 < jj_c_o_2_2 + 9; ++jj_c_3) {
            uint r_next;
            r_next = r_part_4[(ptrdiff_t)i_3*max((n + 2303) / 2304, 1) + jj_c_3];
            r_part_own[jj_c_3 - jj_c_o] = r_run_2;
            r_run_2 += r_next;
          }
        }
      }
    } else {
      {
        const int jj_c_o_2_2 = jj_c_o + 9*local_x;
        if (jj_c_o_2_2 < (n + 2303) / 2304) {
          int r_run_2;
          r_run_2 = r_part_2[local_x];
          for (int jj_c_3 = jj_c_o_2_2; jj_c_3 < min((n + 2303) / 2304, jj_c_o_2_2 + 9); ++jj_c_3) {
            uint r_next;
            r_next = r_part_4[(ptrdiff_t)i_3*max((n + 2303) / 2304, 1) + jj_c_3];
            r_part_own[jj_c_3 - jj_c_o] = r_run_2;
            r_run_2 += r_next;
          }
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (jj_c_o + 2304 <= (n + 2303) / 2304) {
      for (int jj_c_2 = jj_c_o + jj_c_2_t; jj_c_2 < jj_c_o + 2304; jj_c_2 += Tx)
        r_part_4[(ptrdiff_t)i_3*max((n + 2303) / 2304, 1) + jj_c_2] = r_part_own[jj_c_2 - jj_c_o];
    } else {
      for (int jj_c_2 = jj_c_o + jj_c_2_t; jj_c_2 < min((n + 2303) / 2304, jj_c_o + 2304); jj_c_2 += Tx)
        r_part_4[(ptrdiff_t)i_3*max((n + 2303) / 2304, 1) + jj_c_2] = r_part_own[jj_c_2 - jj_c_o];
    }
  }
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void lx_sat1_3(const int m, const int n, __global const int *restrict a, __global int *restrict s,
               __global const uint *restrict r_part_4)
{
  __local uint r_run_part[256] __attribute__((aligned(16)));
  __local int a_loc[2304] __attribute__((aligned(16)));
  __local uint r_run_part_2[16] __attribute__((aligned(16)));
  __local int s_own[2304] __attribute__((aligned(16)));
  const int local_x = (int)get_local_id(0);
  const uint item = (uint)get_local_id(0);
  const int i_4 = (int)(get_group_id(0) / ((n + 2303) / 2304));
  const int jj_2 = (int)(get_group_id(0) % ((n + 2303) / 2304)) * 2304, j_3_o = jj_2 + 9*local_x;
  const int j_3_o_c_o = 16*local_x, once_4 = local_x, j_3_o_c_o_2 = 16*local_x;
  const int j_3_o_2 = jj_2 + 9*local_x, j_3_2_t = local_x;
  if (jj_2 + 2304 <= n) {
    /* a_loc = a[i_4, jj_2 : jj_2 + 2304] */
    LX_UNROLL for (uint r = 0; r < 9; ++r) {
      const uint at = r * (256) + item;
      const int c0 = (int)(at);
      a_loc[c0] = a[(ptrdiff_t)i_4*n + (jj_2 + c0)];
    }
  } else {
    /* a_loc = a[i_4, jj_2 : jj_2 + 2304] */
    LX_UNROLL for (uint r = 0; r < 9; ++r) {
      const uint at = r * (256) + item;
      const int c0 = (int)(at);
      a_loc[c0] = a[(ptrdiff_t)i_4*n + min(jj_2 + c0, n - 1)];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (jj_2 + 2304 <= n) {
    {
      uint r_run_own;
      r_run_own = 0u;
      for (int j_3 = j_3_o; j_3 < j_3_o + 9; ++j_3)
        r_run_own += a_loc[j_3 - jj_2];
      r_run_part[local_x] = r_run_own;
    }
  } else {
    if (j_3_o < n) {
      uint r_run_own;
      r_run_own = 0u;
      for (int j_3 = j_3_o; j_3 < min(n, j_3_o + 9); ++j_3)
        r_run_own += a_loc[j_3 - jj_2];
      r_run_part[local_x] = r_run_own;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (jj_2 + 2304 <= n) {
    if (local_x < 16) {
      uint r_run_own_2;
      r_run_own_2 = 0u;
      for (int j_3_o_c = j_3_o_c_o; j_3_o_c < j_3_o_c_o + 16; ++j_3_o_c) {
        uint r_run_next;
        r_run_next = r_run_part[j_3_o_c];
        r_run_own_2 += r_run_next;
      }
      r_run_part_2[local_x] = r_run_own_2;
    }
  } else {
    if (local_x < 16 && j_3_o_c_o < (n - jj_2 + 8) / 9) {
      uint r_run_own_2;
      r_run_own_2 = 0u;
      for (int j_3_o_c = j_3_o_c_o; j_3_o_c < min((n - jj_2 + 8) / 9, j_3_o_c_o + 16); ++j_3_o_c) {
        uint r_run_next;
        r_run_next = r_run_part[j_3_o_c];
        r_run_own_2 += r_run_next;
      }
      r_run_part_2[local_x] = r_run_own_2;
    }
  }
  int r_run = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (jj_2 + 2304 <= n) {
    if (local_x < 1) {
      r_run = r_part_4[(ptrdiff_t)i_4*max((n + 2303) / 2304, 1) + jj_2 / 2304];
      for (int j_3_o_c_o_c = 0; j_3_o_c_o_c < 16; ++j_3_o_c_o_c) {
        uint r_run_next_2;
        r_run_next_2 = r_run_part_2[j_3_o_c_o_c];
        r_run_part_2[j_3_o_c_o_c] = r_run;
        r_run += r_run_next_2;
      }
    }
  } else {
    if (local_x < 1) {
      r_run = r_part_4[(ptrdiff_t)i_4*max((n + 2303) / 2304, 1) + jj_2 / 2304];
      for (int j_3_o_c_o_c = 0; j_3_o_c_o_c < min(((n - jj_2 + 8) / 9 + 15) / 16, 16); ++j_3_o_c_o_c) {
        uint r_run_next_2;
        r_run_next_2 = r_run_part_2[j_3_o_c_o_c];
        r_run_part_2[j_3_o_c_o_c] = r_run;
        r_run += r_run_next_2;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (jj_2 + 2304 <= n) {
    if (local_x < 16) {
      int r_run_run_2;
      r_run_run_2 = r_run_part_2[local_x];
      for (int j_3_o_c_2 = j_3_o_c_o_2; j_3_o_c_2 < j_3_o_c_o_2 + 16; ++j_3_o_c_2) {
        uint r_run_next;
        r_run_next = r_run_part[j_3_o_c_2];
        r_run_part[j_3_o_c_2] = r_run_run_2;
        r_run_run_2 += r_run_next;
      }
    }
  } else {
    if (local_x < 16 && j_3_o_c_o_2 < (n - jj_2 + 8) / 9) {
      int r_run_run_2;
      r_run_run_2 = r_run_part_2[local_x];
      for (int j_3_o_c_2 = j_3_o_c_o_2; j_3_o_c_2 < min((n - jj_2 + 8) / 9, j_3_o_c_o_2 + 16); ++j_3_o_c_2) {
        uint r_run_next;
        r_run_next = r_run_part[j_3_o_c_2];
        r_run_part[j_3_o_c_2] = r_run_run_2;
        r_run_run_2 += r_run_next;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (jj_2 + 2304 <= n) {
    {
      int r_run_run;
      r_run_run = r_run_part[local_x];
      for (int j_3_3 = j_3_o_2; j_3_3 < j_3_o_2 + 9; ++j_3_3) {
        r_run_run += a_loc[j_3_3 - jj_2];
        s_own[j_3_3 - jj_2] = r_run_run;
      }
    }
  } else {
    if (j_3_o_2 < n) {
      int r_run_run;
      r_run_run = r_run_part[local_x];
      for (int j_3_3 = j_3_o_2; j_3_3 < min(n, j_3_o_2 + 9); ++j_3_3) {
        r_run_run += a_loc[j_3_3 - jj_2];
        s_own[j_3_3 - jj_2] = r_run_run;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (jj_2 + 2304 <= n) {
    for (int j_3_2 = jj_2 + j_3_2_t; j_3_2 < jj_2 + 2304; j_3_2 += Tx)
      s[(ptrdiff_t)(i_4 + 1)*n + j_3_2] = s_own[j_3_2 - jj_2];
  } else {
    for (int j_3_2 = jj_2 + j_3_2_t; j_3_2 < min(n, jj_2 + 2304); j_3_2 += Tx)
      s[(ptrdiff_t)(i_4 + 1)*n + j_3_2] = s_own[j_3_2 - jj_2];
  }
}

/* lx_sat1_4 with Tx=256 LX_1=2304 LX_2=16 LX_3=16 LX_4=15 */
/* lx_sat1_4 with Tx=32 LX_1=288 LX_2=4 LX_3=8 LX_4=7 */
#define LX_1 2304
#define LX_2 16
#define LX_3 16
#define LX_4 15
__kernel __attribute__((reqd_work_group_size(Tx, 1, 1)))
void lx_sat1_4(const int m, const int n, __global const int *restrict a, __global int *restrict s)
{
  __local int r[1] __attribute__((aligned(16)));
  __local uint r_part[Tx] __attribute__((aligned(16)));
  __local int a_loc[LX_1] __attribute__((aligned(16)));
  __local uint r_part_2[LX_2] __attribute__((aligned(16)));
  __local int s_own[LX_1] __attribute__((aligned(16)));
  const int local_x = (int)get_local_id(0);
  const uint item = (uint)get_local_id(0);
  const int i = (int)get_group_id(0), once_2 = local_x, jjj_c_o = LX_3*local_x, once = local_x;
  const int jjj_c_o_2 = LX_3*local_x, j_3_t = local_x;
  if (local_x < 1)
    r[0] = 0;
  for (int jj = 0; jj < n; jj += LX_1) {
    if (jj + LX_1 <= n) {
      /* a_loc = a[i, jj : jj + LX_1] */
      LX_UNROLL for (uint r_ = 0; r_ < 9; ++r_) {
        const uint at = r_ * (Tx) + item;
        const int c0 = (int)(at);
        a_loc[c0] = a[(ptrdiff_t)i*n + (jj + c0)];
      }
    } else {
      /* a_loc = a[i, jj : jj + LX_1] */
      LX_UNROLL for (uint r_ = 0; r_ < 9; ++r_) {
        const uint at = r_ * (Tx) + item;
        const int c0 = (int)(at);
        a_loc[c0] = a[(ptrdiff_t)i*n + min(jj + c0, n - 1)];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (jj + LX_1 <= n) {
      {
        const int jjj = jj + 9*local_x;
        {
          uint r_own;
          r_own = 0u;
          for (int j = jjj; j < jjj + 9; ++j)
            r_own += a_loc[j - jj];
          r_part[local_x] = r_own;
        }
      }
    } else {
      {
        const int jjj = jj + 9*local_x;
        if (jjj < n) {
          uint r_own;
          r_own = 0u;
          for (int j = jjj; j < min(n, jjj + 9); ++j)
            r_own += a_loc[j - jj];
          r_part[local_x] = r_own;
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (jj + LX_1 <= n) {
      if (local_x < LX_2) {
        uint r_own_2;
        r_own_2 = 0u;
        for (int jjj_c = jjj_c_o; jjj_c < jjj_c_o + LX_3; ++jjj_c) {
          uint r_next;
          r_next = r_part[jjj_c];
          r_own_2 += r_next;
        }
        r_part_2[local_x] = r_own_2;
      }
    } else {
      if (local_x < LX_2 && jjj_c_o < (n - jj + 8) / 9) {
        uint r_own_2;
        r_own_2 = 0u;
        for (int jjj_c = jjj_c_o; jjj_c < min((n - jj + 8) / 9, jjj_c_o + LX_3); ++jjj_c) {
          uint r_next;
          r_next = r_part[jjj_c];
          r_own_2 += r_next;
        }
        r_part_2[local_x] = r_own_2;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (jj + LX_1 <= n) {
      if (local_x < 1)
        for (int jjj_c_o_c = 0; jjj_c_o_c < LX_2; ++jjj_c_o_c) {
          uint r_next_2;
          r_next_2 = r_part_2[jjj_c_o_c];
          r_part_2[jjj_c_o_c] = r[0];
          r[0] += r_next_2;
        }
    } else {
      if (local_x < 1)
        for (int jjj_c_o_c = 0; jjj_c_o_c < min(((n - jj + 8) / 9 + LX_4) / LX_3, LX_2); ++jjj_c_o_c) {
          uint r_next_2;
          r_next_2 = r_part_2[jjj_c_o_c];
          r_part_2[jjj_c_o_c] = r[0];
          r[0] += r_next_2;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (jj + LX_1 <= n) {
      if (local_x < LX_2) {
        int r_run_2;
        r_run_2 = r_part_2[local_x];
        for (int jjj_c_2 = jjj_c_o_2; jjj_c_2 < jjj_c_o_2 + LX_3; ++jjj_c_2) {
          uint r_next;
          r_next = r_part[jjj_c_2];
          r_part[jjj_c_2] = r_run_2;
          r_run_2 += r_next;
        }
      }
    } else {
      if (local_x < LX_2 && jjj_c_o_2 < (n - jj + 8) / 9) {
        int r_run_2;
        r_run_2 = r_part_2[local_x];
        for (int jjj_c_2 = jjj_c_o_2; jjj_c_2 < min((n - jj + 8) / 9, jjj_c_o_2 + LX_3); ++jjj_c_2) {
          uint r_next;
          r_next = r_part[jjj_c_2];
          r_part[jjj_c_2] = r_run_2;
          r_run_2 += r_next;
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (jj + LX_1 <= n) {
      {
        const int jjj_2 = jj + 9*local_x;
        {
          int r_run;
          r_run = r_part[local_x];
          for (int j_4 = jjj_2; j_4 < jjj_2 + 9; ++j_4) {
            r_run += a_loc[j_4 - jj];
            s_own[j_4 - jj] = r_run;
          }
        }
      }
    } else {
      {
        const int jjj_2 = jj + 9*local_x;
        if (jjj_2 < n) {
          int r_run;
          r_run = r_part[local_x];
          for (int j_4 = jjj_2; j_4 < min(n, jjj_2 + 9); ++j_4) {
            r_run += a_loc[j_4 - jj];
            s_own[j_4 - jj] = r_run;
          }
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (jj + LX_1 <= n) {
      for (int j_3 = jj + j_3_t; j_3 < jj + LX_1; j_3 += Tx)
        s[(ptrdiff_t)(i + 1)*n + j_3] = s_own[j_3 - jj];
    } else {
      for (int j_3 = jj + j_3_t; j_3 < min(n, jj + LX_1); j_3 += Tx)
        s[(ptrdiff_t)(i + 1)*n + j_3] = s_own[j_3 - jj];
    }
  }
}

#undef Tx
#define Tx 32
#define Tk 128
__kernel __attribute__((reqd_work_group_size(Tx, 1, 1)))
void lx_sat1_5(const int m, const int n, __global const int *restrict a, __global int *restrict s)
{
  __local int a_loc[Tk][Tx + 1] __attribute__((aligned(16)));
  const int local_x = (int)get_local_id(0);
  const uint item = (uint)get_local_id(0);
  const int ii = (int)get_group_id(0) * Tx, i = ii + local_x;
  int r;
  r = 0;
  for (int jj = 0; jj < n / Tk * Tk; jj += Tk) {
    barrier(CLK_LOCAL_MEM_FENCE);
    /* a_loc = a[ii : ii + Tx, jj : jj + Tk] */
    LX_UNROLL for (uint r_ = 0; r_ < 128; ++r_) {
      const uint at = r_ * (Tx) + item;
      const int c0 = (int)(at / Tk), c1 = (int)(at % Tk);
      a_loc[c1][c0] = a[(ptrdiff_t)min(ii + c0, m - 1)*n + (jj + c1)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < m)
      LX_UNROLL for (int j = 0; j < Tk; ++j) {
        r += a_loc[j][local_x];
        s[(ptrdiff_t)(i + 1)*n + (jj + j)] = r;
      }
  }
  for (int jj = n / Tk * Tk; jj < n; jj += Tk) {
    barrier(CLK_LOCAL_MEM_FENCE);
    /* a_loc = a[ii : ii + Tx, jj : jj + Tk] */
    LX_UNROLL for (uint r_ = 0; r_ < 128; ++r_) {
      const uint at = r_ * (Tx) + item;
      const int c0 = (int)(at / Tk), c1 = (int)(at % Tk);
      a_loc[c1][c0] = a[(ptrdiff_t)min(ii + c0, m - 1)*n + min(jj + c1, n - 1)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < m)
      LX_UNROLL for (int j = 0; j < Tk; ++j)
        if (jj + j < n) {
          r += a_loc[j][local_x];
          s[(ptrdiff_t)(i + 1)*n + (jj + j)] = r;
        }
  }
}

#define Ty 16
#undef Tx
#define Tx 16
__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))
void lx_sat1_6(const int m, const int n, __global const int *restrict s,
               __global uint *restrict s_last_part)
{
  const int local_x = (int)get_local_id(0), local_y = (int)get_local_id(1);
  const int i_2_o_t = (int)get_group_id(1) * (64*Ty), j_2_t = (int)get_group_id(0) * Tx;
  const int i_2_o = i_2_o_t + 64*local_y, j_2 = j_2_t + local_x;
  if (i_2_o < m && j_2 < n) {
    uint s_last_own;
    s_last_own = 0u;
    for (int i_2 = i_2_o; i_2 < min(m, i_2_o + 64); ++i_2)
      s_last_own = s_last_own + s[(ptrdiff_t)(i_2 + 1)*n + j_2];
    s_last_part[(ptrdiff_t)(i_2_o / 64)*max(n, 1) + j_2] = s_last_own;
  }
}

__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))
void lx_sat1_7(const int m, const int n, __global const uint *restrict s_last_part,
               __global uint *restrict s_last_part_2)
{
  const int local_x = (int)get_local_id(0), local_y = (int)get_local_id(1);
  const int i_2_o_c_o_t = (int)get_group_id(1) * (16*Ty), j_2_2_t = (int)get_group_id(0) * Tx;
  const int i_2_o_c_o = i_2_o_c_o_t + 16*local_y, j_2_2 = j_2_2_t + local_x;
  if (i_2_o_c_o < (m + 63) / 64 && j_2_2 < n) {
    uint s_last_own_2;
    s_last_own_2 = 0u;
    for (int i_2_o_c = i_2_o_c_o; i_2_o_c < min((m + 63) / 64, i_2_o_c_o + 16); ++i_2_o_c) {
      uint s_last_next;
      s_last_next = s_last_part[(ptrdiff_t)i_2_o_c*max(n, 1) + j_2_2];
      s_last_own_2 += s_last_next;
    }
    s_last_part_2[(ptrdiff_t)(i_2_o_c_o / 16)*max(n, 1) + j_2_2] = s_last_own_2;
  }
}

__kernel __attribute__((reqd_work_group_size(Tx*Ty, 1, 1)))
void lx_sat1_8(const int m, const int n, __global const int *restrict s,
               __global uint *restrict s_last_part_2)
{
  const int local_x = (int)get_local_id(0), j_2_3_t = (int)get_group_id(0) * (Tx*Ty);
  const int j_2_3 = j_2_3_t + local_x;
  if (j_2_3 < n) {
    int s_last = 0;
    if (0 < m)
      s_last = s[(ptrdiff_t)0*n + j_2_3];
    for (int i_2_o_c_o_c = 0; i_2_o_c_o_c < ((m + 63) / 64 + 15) / 16; ++i_2_o_c_o_c) {
      uint s_last_next_2;
      s_last_next_2 = s_last_part_2[(ptrdiff_t)i_2_o_c_o_c*max(n, 1) + j_2_3];
      s_last_part_2[(ptrdiff_t)i_2_o_c_o_c*max(n, 1) + j_2_3] = s_last;
      s_last += s_last_next_2;
    }
  }
}

__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))
void lx_sat1_9(const int m, const int n, __global uint *restrict s_last_part,
               __global const uint *restrict s_last_part_2)
{
  const int local_x = (int)get_local_id(0), local_y = (int)get_local_id(1);
  const int i_2_o_c_o_2_t = (int)get_group_id(1) * (16*Ty), j_2_4_t = (int)get_group_id(0) * Tx;
  const int i_2_o_c_o_2 = i_2_o_c_o_2_t + 16*local_y, j_2_4 = j_2_4_t + local_x;
  if (i_2_o_c_o_2 < (m + 63) / 64 && j_2_4 < n) {
    int s_last_run_2;
    s_last_run_2 = s_last_part_2[(ptrdiff_t)(i_2_o_c_o_2 / 16)*max(n, 1) + j_2_4];
    for (int i_2_o_c_2 = i_2_o_c_o_2; i_2_o_c_2 < min((m + 63) / 64, i_2_o_c_o_2 + 16); ++i_2_o_c_2) {
      uint s_last_next;
      s_last_next = s_last_part[(ptrdiff_t)i_2_o_c_2*max(n, 1) + j_2_4];
      s_last_part[(ptrdiff_t)i_2_o_c_2*max(n, 1) + j_2_4] = s_last_run_2;
      s_last_run_2 += s_last_next;
    }
  }
}

__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))
void lx_sat1_10(const int m, const int n, __global int *restrict s,
                __global const uint *restrict s_last_part)
{
  const int local_x = (int)get_local_id(0), local_y = (int)get_local_id(1);
  const int i_2_o_2_t = (int)get_group_id(1) * (64*Ty), j_2_5_t = (int)get_group_id(0) * Tx;
  const int i_2_o_2 = i_2_o_2_t + 64*local_y, j_2_5 = j_2_5_t + local_x;
  if (i_2_o_2 < m && j_2_5 < n) {
    int s_last_run;
    s_last_run = s_last_part[(ptrdiff_t)(i_2_o_2 / 64)*max(n, 1) + j_2_5];
    for (int i_2_2 = i_2_o_2; i_2_2 < min(m, i_2_o_2 + 64); ++i_2_2) {
      s_last_run = s_last_run + s[(ptrdiff_t)(i_2_2 + 1)*n + j_2_5];
      s[(ptrdiff_t)(i_2_2 + 1)*n + j_2_5] = s_last_run;
    }
  }
}

__kernel __attribute__((reqd_work_group_size(Tx*Ty, 1, 1)))
void lx_sat1_11(const int m, const int n, __global int *restrict s)
{
  const int local_x = (int)get_local_id(0), j_2_t = (int)get_group_id(0) * (Tx*Ty);
  const int j_2 = j_2_t + local_x;
  if (j_2 < n) {
    int s_last = 0;
    if (0 < m)
      s_last = s[(ptrdiff_t)0*n + j_2];
    for (int i_2 = 0; i_2 < m; ++i_2) {
      s_last = s_last + s[(ptrdiff_t)(i_2 + 1)*n + j_2];
      s[(ptrdiff_t)(i_2 + 1)*n + j_2] = s_last;
    }
  }
}
