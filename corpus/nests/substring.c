/* Where does the pattern occur in the text? One flag for each position. */

#include <stdbool.h>

void substring(int n, int m, const char text[n + m], const char pattern[m], bool found[n])
{
  for (int i = 0; i < n; i++) {
    bool same = true;
    for (int k = 0; k < m; k++)
      same = same && text[i + k] == pattern[k];
    found[i] = same;
  }
}
