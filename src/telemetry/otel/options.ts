import { OptionInvalidError } from '../../errors.js';

/** Throws where a provider lacks the method that it is there for. */
export function assertProvider(option: string, value: unknown, method: string): void {
  if (value === undefined) return;
  const given = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  if (typeof given[method] !== 'function') {
    throw new OptionInvalidError(option, `it has no method \`${method}\``);
  }
}
