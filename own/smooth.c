#define R 2
typedef float real;
void smooth(int n, int m, real in[n][m], real out[n][m], const real w[2*R+1])
{
    for (int i = R; i < n - R; ++i)
        for (int j = R; j < m - R; ++j) {
            real s = 0, t = 0;
            for (int d = -R; d <= R; ++d) {
                s += w[d + R] * in[i + d][j];
                t += w[d + R] * in[i][j + d];
            }
            out[i][j] = s * t > 0 ? s : t;
        }
}
