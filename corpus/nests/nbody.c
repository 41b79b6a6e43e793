/* Gravitational forces on n bodies, coordinates in arrays of their own; eps softens close pairs. */

#include <math.h>

void nbody(int n, float eps, const float x[n], const float y[n], const float z[n],
           const float m[n], float fx[n], float fy[n], float fz[n])
{
  for (int i = 0; i < n; i++) {
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; j++) {
      float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      float r2 = dx * dx + dy * dy + dz * dz + eps;
      float w = m[j] / (r2 * sqrtf(r2));
      ax += w * dx;
      ay += w * dy;
      az += w * dz;
    }
    fx[i] = m[i] * ax;
    fy[i] = m[i] * ay;
    fz[i] = m[i] * az;
  }
}
