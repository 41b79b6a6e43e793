/*
 * smooth from smooth.c, transformed by loopxform 0.1.0
 * tile sizes: Ty = 4, Tx = 32, Ry = 8
 * derivation:
 *   parallelise i
 *   parallelise j
 *   stripmine i Ty*Ry iii
 *   stripmine i Ry ii
 *   stripmine j Tx jj
 *   interchange i jj
 *   interchange ii jj
 *   interchange i j
 *   expand s i
 *   expand t i
 *   distribute i d
 *   interchange i d
 *   sequentialise i*
 *   normalise i* body
 *   map iii group.y
 *   map jj group.x
 *   map ii* thread.y
 *   map j* thread.x
 *   unroll i*
 *   copy-to-local w jj
 *   copy-to-private w_loc d
 *   copy-to-local in jj
 * launch: ceil(n - 4 / (Ty*Ry)) x ceil(m - 4 / Tx) groups, each Ty x Tx = 128 work-items
 * local memory of a group: 5204 bytes: w_loc[5], in_loc[Ty*Ry + 4, Tx + 4]
 */
#pragma OPENCL FP_CONTRACT ON

#define Ty 4
#define Tx 32
#define Ry 8

__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))
void lx_smooth(const int n,
               const int m,
               __global const float *restrict in,
               __global float *restrict out,
               __global const float *restrict w)
{
  __local float w_loc[5] __attribute__((aligned(16)));
  __local float in_loc[Ty*Ry + 4][Tx + 4] __attribute__((aligned(16)));
  const int local_x = (int)get_local_id(0);
  const int local_y = (int)get_local_id(1);
  const uint item = (uint)(get_local_id(1) * Tx + get_local_id(0));
  const int iii = 2 + (int)get_group_id(1) * (Ty*Ry);
  const int jj = 2 + (int)get_group_id(0) * Tx;
  const int ii = iii + local_y*Ry;
  const int j = jj + local_x;
  /* w_loc = w[0 : 5] */
  {
    const uint at = item;
    if (at < 5) {
      const int c0 = (int)(at);
      w_loc[c0] = w[0 + c0];
    }
  }
  /* in_loc = in[iii-2 : iii-2 + Ty*Ry + 4, jj-2 : jj-2 + Tx + 4] */
#pragma unroll
  for (uint r = 0; r < 11; ++r) {
    const uint at = r * (Tx*Ty) + item;
    if (at < Tx*Ty*Ry + 4*Ty*Ry + 4*Tx + 16) {
      const int c0 = (int)(at / (Tx + 4));
      const int c1 = (int)(at % (Tx + 4));
      in_loc[c0][c1] = in[(ptrdiff_t)min(iii - 2 + c0, n - 1)*m + min(jj - 2 + c1, m - 1)];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (ii < n - 2 && j < m - 2) {
    float s[Ry] = {0};
    float t[Ry] = {0};
    #pragma unroll
    for (int i = 0; i < Ry; ++i) {
      if (ii + i < n - 2) {
        s[i] = 0;
        t[i] = 0;
      }
    }
    for (int d = -2; d < 3; ++d) {
      float w_reg;
      w_reg = w_loc[d + 2];
      #pragma unroll
      for (int i = 0; i < Ry; ++i) {
        if (ii + i < n - 2) {
          s[i] += w_reg * in_loc[local_y*Ry + i + d + 2][local_x + 2];
          t[i] += w_reg * in_loc[local_y*Ry + i + 2][local_x + d + 2];
        }
      }
    }
    #pragma unroll
    for (int i = 0; i < Ry; ++i) {
      if (ii + i < n - 2) {
        out[(ptrdiff_t)(ii + i)*m + j] = s[i] * t[i] > 0 ? s[i] : t[i];
      }
    }
  }
}
