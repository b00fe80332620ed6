import type { JsonValue } from './json.js';

/** What stands in a text of another program for something of ours. */
export type Replacements = Readonly<Record<string, string>>;

/** A copy of a JSON value with its texts replaced: `${name}` by what `replacements` has for it. */
export function replaceTexts<T extends JsonValue>(value: T, replacements: Replacements): T {
  return mapTexts(value, (text) =>
    text.replace(/\$\{([^${}]+)\}/g, (whole, name: string) =>
      Object.hasOwn(replacements, name) ? (replacements[name] ?? whole) : whole,
    ),
  );
}

/** A copy of a JSON value with another text in the place of each; keys stay. */
export function mapTexts<T extends JsonValue>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change)) as unknown as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapTexts(item as JsonValue, change)]),
  ) as T;
}
