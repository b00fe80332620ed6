import type MiniSearch from 'minisearch';
import { isObject } from '../../internal/json.js';
import type { ToolSpec } from '../../model/model.js';

/** Finds tools by words. Returns their names, the best match first. */
export type FindTools = (query: string, most: number) => readonly string[];

const MAX_DEPTH = 4;

/** Builds an index of tools by their names, descriptions and argument names. Loads `minisearch` at the first call. */
export async function indexTools(tools: readonly ToolSpec[]): Promise<FindTools> {
  const { default: Search } = await import('minisearch');
  const index: MiniSearch = new Search({
    idField: 'name',
    fields: ['name', 'description', 'args'],
    tokenize: wordsOf,
    processTerm: (word) => stemOf(word),
    searchOptions: {
      boost: { name: 4, args: 0.5 },
      prefix: (word) => word.length > 3,
      fuzzy: (word) => word.length > 4 && 0.2,
    },
  });
  index.addAll(
    tools.map(({ name, description, inputSchema }) => ({ name, description, args: argumentsOf(inputSchema) })),
  );
  const names = tools.map(({ name }) => name);
  return (query, most) => {
    const asked = new Set(query.split(/[\s,]+/));
    const exact = names.filter((name) => asked.has(name));
    const ranked = index.search(query).map(({ id }) => String(id));
    return [...new Set([...exact, ...ranked])].slice(0, most);
  };
}

/** Splits names such as `listIssues`, `list_issues` and `list-issues` into words. */
function wordsOf(text: string): string[] {
  const spaced = text.replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2').replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, '$1 $2');
  return spaced.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

/** Removes the plural `s`, so that `issues` finds `get_issue`. */
function stemOf(word: string): string {
  const lower = word.toLowerCase();
  return lower.length > 3 && lower.endsWith('s') && !lower.endsWith('ss') ? lower.slice(0, -1) : lower;
}

function argumentsOf(schema: unknown, depth = 0): string {
  if (!isObject(schema) || depth > MAX_DEPTH) return '';
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return [
    ...properties.map(([name, inner]) => `${name} ${argumentsOf(inner, depth + 1)}`),
    argumentsOf(schema.items, depth + 1),
  ].join(' ');
}
