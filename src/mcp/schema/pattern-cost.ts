const MAX_PATTERN = 200;

/**
 * Returns an upper bound of the steps that a regular expression takes on a string. Infinity for an expression with a
 * group, a reference or another feature that can backtrack more than polynomially, and for one that is long.
 */
export function patternCost(pattern: unknown, text: string): number {
  if (typeof pattern !== 'string' || pattern.length > MAX_PATTERN) return Infinity;
  const plain = pattern.replace(/\\[dDwWsS.+*?^$()[\]{}|/\\nrtbB-]/g, 'x').replace(/\[[^\]\\[]*\]/g, 'x');
  // Any bracket or backslash that is left belongs to a construct that this function does not know.
  if (/[()[\]\\]/.test(plain)) return Infinity;
  const repeats = plain.match(/[*+?]|\{/g)?.length ?? 0;
  const isAnchored = plain.startsWith('^') && !plain.includes('|');
  return (pattern.length + 1) * (text.length + 1) ** (isAnchored ? Math.max(1, repeats) : repeats + 1);
}
