import type { TracedError } from './record.js';

const MAX_CAUSES = 8;

/** Converts a thrown value to plain data, with its stack and its causes. Paths in the working directory become relative. */
export function tracedError(thrown: unknown, depth = 0): TracedError {
  if (!(thrown instanceof Error)) return { name: 'Thrown', message: textOf(thrown) };
  const { name, message, cause } = thrown;
  const stack = fromHere(thrown.stack);
  const members = Object.entries(thrown).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  const error = { ...Object.fromEntries(members), name, message, stack };
  return cause === undefined || depth >= MAX_CAUSES ? error : { ...error, cause: tracedError(cause, depth + 1) };
}

/** Returns a stack whose paths inside of the working directory are relative, so that a trace does not tell where it lies. */
function fromHere(stack: string | undefined): string | undefined {
  const { process } = globalThis as { readonly process?: { cwd(): string } };
  const here = process === undefined ? undefined : `${process.cwd()}/`;
  return here === undefined ? stack : stack?.replaceAll(`file://${here}`, '').replaceAll(here, '');
}

function textOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return String(thrown);
  }
}
