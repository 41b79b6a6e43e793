/* Electrostatic potential of the charges q at the points of a grid, in one plane z. */

#include <math.h>

void coulomb_grid(int rows, int cols, int atoms, float h, float z, const float ax[atoms],
                  const float ay[atoms], const float az[atoms], const float q[atoms],
                  float V[rows][cols])
{
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < cols; c++) {
      float sum = 0.0f;
      for (int a = 0; a < atoms; a++) {
        float dx = h * c - ax[a], dy = h * r - ay[a], dz = z - az[a];
        sum += q[a] / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      }
      V[r][c] += sum;
    }
}
