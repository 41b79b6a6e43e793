/* Products of many small matrices, one after the other in memory. */

void small_products(int batch, const float A[batch][12][8], const float B[batch][8][12],
                    float C[batch][12][12])
{
  for (int b = 0; b < batch; b++)
    for (int i = 0; i < 12; i++)
      for (int j = 0; j < 12; j++) {
        float sum = 0.0f;
        for (int k = 0; k < 8; k++)
          sum += A[b][i][k] * B[b][k][j];
        C[b][i][j] = sum;
      }
}
