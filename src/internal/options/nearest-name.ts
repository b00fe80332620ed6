import { fold } from '../names-text.js';

/** The largest number of edits between a misspelt name and a suggestion. */
const FARTHEST = 3;

/** Returns the known name nearest to a misspelt one, or undefined if more than a third of its letters differ. */
export function nearestName(name: string, names: readonly string[], farthest = FARTHEST): string | undefined {
  const far = (other: string) => Math.min(farthest, Math.ceil(other.length / 3));
  let nearest: string | undefined;
  let least = farthest + 1;
  for (const other of names) {
    // Skips the slow comparison if the lengths differ too much.
    if (Math.abs(fold(other).length - fold(name).length) > farthest) continue;
    const wrong = distance(fold(name), fold(other));
    if (wrong >= least || wrong > far(other)) continue;
    nearest = other;
    least = wrong;
  }
  return nearest;
}

/** Returns the Levenshtein distance. Keeps one row of the matrix in memory. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
