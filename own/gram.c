void gram(int n, int d, const double x[n][d], double g[n][n], double gamma)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double s = 0;
            for (int k = 0; k < d; k++) {
                double t = x[i][k] - x[j][k];
                s += t * t;
            }
            g[i][j] = g[j][i] = s * gamma;
        }
}
