/** A key that an object has twice: all but the last are lost. */
interface RepeatedKey {
  readonly key: string;
  /** The key at the top of the document that it stands under; undefined at the top. */
  readonly under: string | undefined;
}

/** What parsing a JSON text does not show. */
export interface JsonShape {
  /** How deep its brackets nest. */
  readonly depth: number;
  readonly repeated: readonly RepeatedKey[];
}

const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[[\]{}]/gs;

/**
 * Reads a text that is JSON once more, for what its parser does not tell. In one that is none, a string without an end
 * would be sought for ever.
 */
export function readJsonShape(text: string): JsonShape {
  const open: (Set<string> | undefined)[] = [];
  const repeated = new Map<string, RepeatedKey>();
  let depth = 0;
  let top: string | undefined;
  for (const [token, string, colon] of text.matchAll(TOKEN)) {
    if (token === '[' || token === '{') depth = Math.max(depth, open.push(token === '{' ? new Set() : undefined));
    else if (token === ']' || token === '}') open.pop();
    else if (string !== undefined && colon !== undefined) {
      const key = JSON.parse(string) as string;
      if (open.length === 1) top = key;
      const under = open.length === 1 ? undefined : top;
      if (open.at(-1)?.has(key)) repeated.set(JSON.stringify([under, key]), { key, under });
      open.at(-1)?.add(key);
    }
  }
  return { depth, repeated: [...repeated.values()] };
}
