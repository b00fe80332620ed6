import type { TracedError } from './record.js';

const MAX_CAUSES = 8;

/** Converts a thrown value to plain data, with its causes. Paths in the working directory become relative in all its texts. */
export function tracedError(thrown: unknown, depth = 0): TracedError {
  if (!(thrown instanceof Error)) return { name: 'Thrown', message: textOf(thrown) };
  const { name, message, stack, cause } = thrown;
  const members = Object.entries(thrown).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  const texts = Object.entries({ ...Object.fromEntries(members), name, message, stack });
  const error = Object.fromEntries(texts.map(([key, value]) => [key, fromHere(value)])) as unknown as TracedError;
  return cause === undefined || depth >= MAX_CAUSES ? error : { ...error, cause: tracedError(cause, depth + 1) };
}

/** Makes paths in the working directory relative, so that a trace does not tell where the program lies. */
function fromHere(value: unknown): unknown {
  const { process } = globalThis as { readonly process?: { cwd(): string } };
  if (process === undefined || typeof value !== 'string') return value;
  const here = `${process.cwd()}/`;
  return value.replaceAll(`file://${here}`, '').replaceAll(here, '');
}

function textOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return String(thrown);
  }
}
