void correlation_backwards(int n, int m, int len, const float *a, const float *b, float *out)
{
    int i, j, k;
    float sum;

    i = n;
    while (i--) {
        for (j = m - 1; j >= 0; j--) {
            sum = 0;
            for (k = len; k-- > 0;)
                sum += a[i * len + k] * b[j * len + k];
            out[i * m + j] = sum;
        }
    }
}
