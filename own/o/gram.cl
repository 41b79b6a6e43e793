/*
 * gram from gram.c, transformed by loopxform 0.1.0
 * tile sizes: Ty = 8, Tx = 8, Tk = 8, Ry = 8, Rx = 4
 * derivation:
 *   parallelise i
 *   parallelise j
 *   widen j i
 *   distribute-guard j
 *   stripmine i Ty*Ry iii
 *   stripmine i Ry ii
 *   stripmine j Tx*Rx jjj
 *   stripmine j Rx jj
 *   stripmine k Tk kk
 *   interchange i jjj
 *   interchange ii jjj
 *   interchange i jj
 *   expand s ii,jj,i,j
 *   distribute ii,jj,i,j kk
 *   interchange j kk
 *   interchange i kk
 *   interchange jj kk
 *   interchange ii kk
 *   interchange j k
 *   interchange i k
 *   sequentialise i*
 *   sequentialise j*
 *   normalise k body
 *   normalise j* body
 *   normalise i* innermost
 *   map iii group.x
 *   map jjj group.y
 *   map ii* thread.x
 *   map jj* thread.y
 *   unroll i*
 *   unroll j*
 *   copy-to-local x kk x_loc 1
 *   copy-to-private x_loc k
 *   copy-to-local x kk
 *   copy-to-private x_loc_2 k
 *   unguard s
 *   epilogue kk
 *   unroll k*
 * launch: ceil(n / (Tx*Rx)) x ceil(n / (Ty*Ry)) groups, each Tx x Ty = 64 work-items
 * local memory of a group: 6400 bytes: x_loc[Tk, Ty*Ry + 2], x_loc_2[Tk, Tx*Rx + 2]
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT ON

#define Ty 8
#define Tx 8
#define Tk 8
#define Ry 8
#define Rx 4

__kernel __attribute__((reqd_work_group_size(Ty, Tx, 1)))
void lx_gram(const int n,
             const int d,
             __global const double *restrict x,
             __global double *restrict g,
             const double gamma)
{
  __local double x_loc[Tk][Ty*Ry + 2] __attribute__((aligned(16)));
  __local double x_loc_2[Tk][Tx*Rx + 2] __attribute__((aligned(16)));
  const int local_x = (int)get_local_id(0);
  const int local_y = (int)get_local_id(1);
  const uint item = (uint)(get_local_id(1) * Ty + get_local_id(0));
  const int iii = (int)get_group_id(0) * (Ty*Ry);
  const int jjj = (int)get_group_id(1) * (Tx*Rx);
  const int ii = iii + local_x*Ry;
  const int jj = jjj + local_y*Rx;
  double s[Ry][Rx];
#pragma unroll
  for (int i = 0; i < Ry; ++i) {
    #pragma unroll
    for (int j = 0; j < Rx; ++j) {
      s[i][j] = 0;
    }
  }
  for (int kk = 0; kk < d / Tk * Tk; kk += Tk) {
    barrier(CLK_LOCAL_MEM_FENCE);
    /* x_loc = x[iii : iii + Ty*Ry, kk : kk + Tk] */
    #pragma unroll
    for (uint r = 0; r < 8; ++r) {
      const uint at = r * (Tx*Ty) + item;
      const int c0 = (int)(at / Tk);
      const int c1 = (int)(at % Tk);
      x_loc[c1][c0] = x[(ptrdiff_t)min(iii + c0, n - 1)*d + (kk + c1)];
    }
    /* x_loc_2 = x[jjj : jjj + Tx*Rx, kk : kk + Tk] */
    #pragma unroll
    for (uint r = 0; r < 4; ++r) {
      const uint at = r * (Tx*Ty) + item;
      const int c0 = (int)(at / Tk);
      const int c1 = (int)(at % Tk);
      x_loc_2[c1][c0] = x[(ptrdiff_t)min(jjj + c0, n - 1)*d + (kk + c1)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (int k = 0; k < Tk; ++k) {
      double x_reg[Ry];
      #pragma unroll
      for (int c0 = 0; c0 < Ry; ++c0)
        x_reg[c0] = x_loc[k][local_x*Ry + c0];
      double x_loc_2_reg[Rx];
      #pragma unroll
      for (int c0 = 0; c0 < Rx; ++c0)
        x_loc_2_reg[c0] = x_loc_2[k][local_y*Rx + c0];
      #pragma unroll
      for (int i = 0; i < Ry; ++i) {
        #pragma unroll
        for (int j = 0; j < Rx; ++j) {
          double t = 0;
          if (jj + j < ii + i + 1) {
            t = x_reg[i] - x_loc_2_reg[j];
            s[i][j] += t*t;
          }
        }
      }
    }
  }
  for (int kk = d / Tk * Tk; kk < d; kk += Tk) {
    barrier(CLK_LOCAL_MEM_FENCE);
    /* x_loc = x[iii : iii + Ty*Ry, kk : kk + Tk] */
    #pragma unroll
    for (uint r = 0; r < 8; ++r) {
      const uint at = r * (Tx*Ty) + item;
      const int c0 = (int)(at / Tk);
      const int c1 = (int)(at % Tk);
      x_loc[c1][c0] = x[(ptrdiff_t)min(iii + c0, n - 1)*d + min(kk + c1, d - 1)];
    }
    /* x_loc_2 = x[jjj : jjj + Tx*Rx, kk : kk + Tk] */
    #pragma unroll
    for (uint r = 0; r < 4; ++r) {
      const uint at = r * (Tx*Ty) + item;
      const int c0 = (int)(at / Tk);
      const int c1 = (int)(at % Tk);
      x_loc_2[c1][c0] = x[(ptrdiff_t)min(jjj + c0, n - 1)*d + min(kk + c1, d - 1)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (int k = 0; k < Tk; ++k) {
      if (kk + k < d) {
        double x_reg[Ry];
        #pragma unroll
        for (int c0 = 0; c0 < Ry; ++c0)
          x_reg[c0] = x_loc[k][local_x*Ry + c0];
        double x_loc_2_reg[Rx];
        #pragma unroll
        for (int c0 = 0; c0 < Rx; ++c0)
          x_loc_2_reg[c0] = x_loc_2[k][local_y*Rx + c0];
        #pragma unroll
        for (int i = 0; i < Ry; ++i) {
          #pragma unroll
          for (int j = 0; j < Rx; ++j) {
            double t = 0;
            if (jj + j < ii + i + 1) {
              t = x_reg[i] - x_loc_2_reg[j];
              s[i][j] += t*t;
            }
          }
        }
      }
    }
  }
  if (ii < n && jj < n) {
    #pragma unroll
    for (int i = 0; i < Ry; ++i) {
      #pragma unroll
      for (int j = 0; j < Rx; ++j) {
        if (ii + i < n && jj + j < n && jj + j < ii + i + 1) {
          g[(ptrdiff_t)(jj + j)*n + (ii + i)] = s[i][j] * gamma;
          g[(ptrdiff_t)(ii + i)*n + (jj + j)] = g[(ptrdiff_t)(jj + j)*n + (ii + i)];
        }
      }
    }
  }
}
