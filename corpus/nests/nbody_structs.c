/* Gravitational accelerations of n bodies held as an array of structs. */

#include <math.h>

struct body {
  float x, y, z, mass;
};

struct vec {
  float x, y, z;
};

void nbody_structs(int n, float eps, const struct body *restrict p, struct vec *restrict acc)
{
  for (int i = 0; i < n; i++) {
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; j++) {
      float dx = p[j].x - p[i].x;
      float dy = p[j].y - p[i].y;
      float dz = p[j].z - p[i].z;
      float r2 = dx * dx + dy * dy + dz * dz + eps;
      float w = p[j].mass / (r2 * sqrtf(r2));
      ax += w * dx;
      ay += w * dy;
      az += w * dz;
    }
    acc[i].x = ax;
    acc[i].y = ay;
    acc[i].z = az;
  }
}
