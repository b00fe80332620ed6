/** A line of a comparison of two texts. */
export interface DiffLine {
  readonly kind: 'same' | 'gone' | 'new';
  readonly text: string;
}

/**
 * Maximum number of lines to compare. Longer texts are only shown one after the other, because the comparison needs a
 * table that grows with the product of their lengths.
 */
const MOST_LINES = 500;

/** Compares two texts line by line. Returns all lines of both, each marked as same, gone or new. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const a = before.split('\n');
  const b = after.split('\n');
  if (a.length > MOST_LINES || b.length > MOST_LINES) return [...lines('gone', a), ...lines('new', b)];
  const common = commonLengths(a, b);
  const at = (i: number, j: number) => common[i * (b.length + 1) + j] ?? 0;
  const found: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push({ kind: 'same', text: a[i] ?? '' });
      i += 1;
      j += 1;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      found.push({ kind: 'gone', text: a[i] ?? '' });
      i += 1;
    } else {
      found.push({ kind: 'new', text: b[j] ?? '' });
      j += 1;
    }
  }
  return found;
}

/**
 * Returns the length of the longest common subsequence of the lines of `a` from i on and of `b` from j on, for each i
 * and j.
 */
function commonLengths(a: readonly string[], b: readonly string[]): Uint16Array {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const [down = 0, right = 0, both = 0] = [
        table[(i + 1) * width + j],
        table[i * width + j + 1],
        table[(i + 1) * width + j + 1],
      ];
      table[i * width + j] = a[i] === b[j] ? both + 1 : Math.max(down, right);
    }
  }
  return table;
}

function lines(kind: DiffLine['kind'], texts: readonly string[]): readonly DiffLine[] {
  return texts.map((text) => ({ kind, text }));
}
