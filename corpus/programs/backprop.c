/* Back-propagation (a benchmark of Rodinia and of Futhark): one step of training of a network with one
   hidden layer. Parallelism: the units of a layer, and for each of them the sum over the layer before
   it; many inputs, few hidden units. */

#include <math.h>

void backprop(int inputs, int hidden, int outputs, float eta, float momentum,
              const float in[restrict inputs], float w1[restrict inputs][hidden],
              float old1[restrict inputs][hidden], float w2[restrict hidden][outputs],
              float old2[restrict hidden][outputs], const float target[restrict outputs],
              float h[restrict hidden], float out[restrict outputs], float dOut[restrict outputs],
              float dHidden[restrict hidden])
{
  for (int j = 0; j < hidden; j++) {
    float sum = 0;
    for (int k = 0; k < inputs; k++)
      sum += w1[k][j] * in[k];
    h[j] = 1 / (1 + expf(-sum));
  }
  for (int j = 0; j < outputs; j++) {
    float sum = 0;
    for (int k = 0; k < hidden; k++)
      sum += w2[k][j] * h[k];
    out[j] = 1 / (1 + expf(-sum));
    dOut[j] = out[j] * (1 - out[j]) * (target[j] - out[j]);
  }
  for (int j = 0; j < hidden; j++) {
    float sum = 0;
    for (int k = 0; k < outputs; k++)
      sum += dOut[k] * w2[j][k];
    dHidden[j] = h[j] * (1 - h[j]) * sum;
  }
  for (int k = 0; k < hidden; k++)
    for (int j = 0; j < outputs; j++) {
      float change = eta * dOut[j] * h[k] + momentum * old2[k][j];
      w2[k][j] += change;
      old2[k][j] = change;
    }
  for (int k = 0; k < inputs; k++)
    for (int j = 0; j < hidden; j++) {
      float change = eta * dHidden[j] * in[k] + momentum * old1[k][j];
      w1[k][j] += change;
      old1[k][j] = change;
    }
}
