/* Sums of the columns of a table of short counts. */

void column_sums(int rows, int cols, const short table[rows][cols], long long total[cols])
{
  for (int c = 0; c < cols; c++) {
    long long sum = 0;
    for (int r = 0; r < rows; r++)
      sum += table[r][c];
    total[c] = sum;
  }
}
