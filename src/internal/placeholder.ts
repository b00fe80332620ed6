import type { JsonValue } from './json.js';

/** Replacement strings by placeholder name. */
export type Replacements = Readonly<Record<string, string>>;

const VARIABLE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** Replaces `${NAME}`, `${env:NAME}` and `${NAME:-default}`, the placeholders of an MCP server entry. */
export function replaceVariables(
  text: string,
  replacement: (whole: string, name: string, fallback?: string) => string,
): string {
  // Without this, the expression would search the text after the last `}` again for each `${`.
  const end = text.lastIndexOf('}') + 1;
  return text.slice(0, end).replace(VARIABLE, replacement) + text.slice(end);
}

/** Copies a JSON value and replaces each `${name}` in its strings. Keeps a placeholder with an unknown name. */
export function replaceTexts<T extends JsonValue>(value: T, replacements: Replacements): T {
  return mapTexts(value, (text) =>
    text.replace(/\$\{([^${}]+)\}/g, (whole, name: string) =>
      Object.hasOwn(replacements, name) ? (replacements[name] ?? whole) : whole,
    ),
  );
}

/** Copies a JSON value with `change` applied to each string. Keys are unchanged. */
export function mapTexts<T extends JsonValue>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change)) as unknown as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapTexts(item as JsonValue, change)]),
  ) as T;
}
