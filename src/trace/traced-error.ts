import type { TracedError } from './record.js';

const MAX_CAUSES = 8;

/** Converts a thrown value to plain data, with its stack and its causes. */
export function tracedError(thrown: unknown, depth = 0): TracedError {
  if (!(thrown instanceof Error)) return { name: 'Thrown', message: textOf(thrown) };
  const { name, message, stack, cause } = thrown;
  const members = Object.entries(thrown).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  const error = { ...Object.fromEntries(members), name, message, stack };
  return cause === undefined || depth >= MAX_CAUSES ? error : { ...error, cause: tracedError(cause, depth + 1) };
}

function textOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return String(thrown);
  }
}
