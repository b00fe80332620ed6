import type MiniSearch from 'minisearch';
import { isObject } from '../../internal/json.js';
import type { ToolSpec } from '../../model/model.js';
import type { Tool } from '../../tools/tool.js';

/** Finds tools by words. Returns the names of the tools, the best match first. */
export type FindTools = (query: string) => readonly string[];

/** A tool of a model request, with the metadata of the run's tool. */
type IndexedTool = ToolSpec & Pick<Tool, 'metadata'>;

/**
 * Returns the share of the letters of a word that may be wrong. False for a short word, which must match exactly. Used
 * only if an exact search finds nothing.
 */
const MISSPELT = (word: string) => word.length > 3 && 0.3;

/** The number of tools that are indexed before other work may run. */
const CHUNK = 10;

/** Builds an index of tools by their names, descriptions and argument names. Loads `minisearch` on the first call. */
export async function indexTools(tools: readonly IndexedTool[]): Promise<FindTools> {
  const { default: Search } = await import('minisearch');
  const index: MiniSearch<IndexedTool> = new Search({
    idField: 'name',
    fields: ['name', 'ownName', 'description', 'args'],
    extractField: textOf,
    tokenize: wordsOf,
    processTerm: (word) => formsOf(word),
    searchOptions: {
      boost: { name: 4, ownName: 4, args: 0.5 },
      prefix: (word) => word.length > 3 || UNSPACED.test(word),
      fuzzy: (word) => word.length > 4 && 0.2,
    },
  });
  await index.addAllAsync(tools, { chunkSize: CHUNK });
  const known = new Set(tools.flatMap((tool) => wordsOf(`${tool.name} ${ownNameOf(tool)}`).flatMap(formsOf)));
  const tokenize = (query: string) => wordsOf(query).flatMap((word) => [word, ...partsOf(word, known)]);
  return (query) => {
    const asked = new Set(query.split(/[\s,]+/).filter((name) => name !== ''));
    const exact = tools.filter((tool) => asked.has(tool.name) || asked.has(ownNameOf(tool))).map(({ name }) => name);
    const near = index.search(query, { tokenize });
    const ranked = near.length > 0 ? near : index.search(query, { tokenize, fuzzy: MISSPELT });
    return [...new Set([...exact, ...ranked.map(({ id }) => String(id))])];
  };
}

function textOf(tool: IndexedTool, field: string): string {
  if (field === 'ownName') return ownNameOf(tool);
  if (field === 'args') return argumentsOf(tool.inputSchema);
  return field === 'name' ? tool.name : tool.description;
}

/**
 * Returns the name of the tool on its MCP server. Returns an empty string if the tool's name ends with it, so that it
 * is not indexed twice.
 */
function ownNameOf(tool: IndexedTool): string {
  const own = tool.metadata?.mcpTool;
  return typeof own === 'string' && !tool.name.endsWith(own) ? own : '';
}

/** Matches characters of languages without spaces between words, and of Korean, which adds endings to words. */
const LETTERS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar'].map(
  (script) => `\\p{Script_Extensions=${script}}`,
);
const UNSPACED = new RegExp(`^[${LETTERS.join('')}]`, 'u');
const RUNS = new RegExp(`[${LETTERS.join('')}]+|[^${LETTERS.join('')}]+`, 'gu');

/**
 * Splits names such as `listIssues`, `list_issues` and `list-issues` into words. Text without spaces is split into
 * pairs of neighbouring characters.
 */
function wordsOf(text: string): string[] {
  const spaced = text
    .normalize('NFKC')
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, '$1 $2');
  const words = spaced.split(/[^\p{L}\p{M}\p{N}]+/u);
  return words.flatMap((word) => word.match(RUNS) ?? []).flatMap((run) => (UNSPACED.test(run) ? pairsIn(run) : [run]));
}

function pairsIn(run: string): readonly string[] {
  const [first = '', ...rest] = run;
  const before = [first, ...rest];
  return rest.length === 0 ? [first] : rest.map((character, at) => `${before[at]}${character}`);
}

/** Splits a word into two known words, so that `pullrequest` finds `list_pull_requests` and `getPullRequest`. */
function partsOf(word: string, known: ReadonlySet<string>): readonly string[] {
  const isKnown = (part: string) => part.length > 1 && formsOf(part).some((form) => known.has(form));
  if (isKnown(word)) return [];
  const splits = Array.from(word, (_, at) => [word.slice(0, at), word.slice(at)]);
  return splits.find((parts) => parts.every(isKnown)) ?? [];
}

/** Endings of English plurals, with the endings of their singulars. */
const PLURALS: readonly (readonly [plural: RegExp, singular: string])[] = [
  [/s$/, ''],
  [/ies$/, 'y'],
  [/(?<=[sxzo]|ch|sh)es$/, ''],
  [/ices$/, 'ex'],
];

/** Returns the word and its possible singulars, so that `boxes` finds `get_box`, and `box` finds `list_boxes`. */
function formsOf(word: string): string[] {
  const lower = word.toLowerCase();
  if (lower.length <= 3 || lower.endsWith('ss')) return [lower];
  const singulars = PLURALS.filter(([plural]) => plural.test(lower)).map(([plural, end]) => lower.replace(plural, end));
  return [lower, ...singulars];
}

const MAX_DEPTH = 4;
/** Keywords whose schemas can describe properties of the same object. */
const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf'];

/** Returns the names of the arguments, up to 4 levels deep. Follows alternatives and references. */
function argumentsOf(schema: unknown): string {
  const seen = new Set<unknown>();
  const names: string[] = [];
  const visit = (node: unknown, depth: number): void => {
    if (!isObject(node) || depth > MAX_DEPTH || seen.has(node)) return;
    seen.add(node);
    for (const [name, inner] of Object.entries(isObject(node.properties) ? node.properties : {})) {
      names.push(name);
      visit(inner, depth + 1);
    }
    for (const key of ALTERNATIVES) for (const part of [node[key]].flat()) visit(part, depth);
    visit(node.items, depth + 1);
    visit(targetOf(schema, node.$ref), depth);
  };
  visit(schema, 0);
  return names.join(' ');
}

function targetOf(root: unknown, reference: unknown): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined;
  const steps = reference.slice(2).split('/');
  return steps.reduce<unknown>((node, step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    return isObject(node) && Object.hasOwn(node, name) ? node[name] : undefined;
  }, root);
}
