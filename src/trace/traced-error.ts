import type { TracedError } from './record.js';

const MAX_CAUSES = 8;

/** Converts a thrown value and its causes to plain data. Makes paths in the working directory relative. */
export function tracedError(thrown: unknown, depth = 0): TracedError {
  if (!(thrown instanceof Error)) return { name: 'Thrown', message: textOf(thrown) };
  const { name, message, stack, cause } = thrown;
  const members = Object.entries(thrown).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  const texts = Object.entries({ ...Object.fromEntries(members), name, message, stack });
  const error = Object.fromEntries(texts.map(([key, value]) => [key, fromHere(value)])) as unknown as TracedError;
  return cause === undefined || depth >= MAX_CAUSES ? error : { ...error, cause: tracedError(cause, depth + 1) };
}

/**
 * Makes file paths in the working directory relative, so that a trace does not reveal the location of the program. Does
 * not change URLs, or longer paths that only contain the name of the directory.
 */
function fromHere(value: unknown): unknown {
  const { process } = globalThis as { readonly process?: { cwd(): string } };
  const here = process?.cwd() ?? '';
  const names = here.split(/[\\/]/).filter((name) => name !== '');
  if (names.length === 0 || typeof value !== 'string') return value;
  const [path, url] = [names, names.map((name) => encodeURI(name))].map((parts) => parts.map(escaped).join('[\\\\/]'));
  const start = `[\\\\/]{${here.length - here.replace(/^[\\/]+/, '').length}}`;
  return value.replaceAll(new RegExp(`(?<![\\w.~\\\\/-])(?:file:///${url}|${start}${path})[\\\\/]`, 'gu'), '');
}

/** Escapes a string for a regular expression. */
function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function textOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return String(thrown);
  }
}
