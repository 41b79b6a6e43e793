/* Layer of a neural network: scales and offsets are fetched before the sum that needs none of them,
   and a gate of each output is in each of its terms. */

void normalised_layer(int n, int m, int u, const float *x, const float *w, const float *bias,
                      const float *gain, const float *mean, const float *gate, float *out)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float b = bias[j], g = gain[j], mu = mean[j];
      float old = out[i * m + j];
      float s = 0.0f;
      for (int k = u - 1; k >= 0; k--)
        s += x[i * u + k] * w[j * u + k] * gate[i * m + j];
      s = (s + b - mu) * g + old;
      out[i * m + j] = s > 0.0f ? s : 0.0f;
    }
}
