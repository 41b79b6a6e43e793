void causal_scores(int n, int d, float scale, const float q[n][d], const float k[n][d], float p[n][n])
{
    int i, j, e;

    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            if (j > i) {
                p[i][j] = -1e30f;
                continue;
            }
            float sum = 0;
            for (e = 0; e < d; e++)
                sum += q[i][e] * k[j][e];
            p[i][j] = scale * sum;
        }
}
