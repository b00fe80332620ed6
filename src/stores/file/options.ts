import { refuse, validateNames } from '../../errors.js';
import { type Clock, systemClock } from '../../internal/clock.js';

const LOCK_TIMEOUT_MS = 15_000;

/** What each store in files is given. */
export interface FileOptions {
  /** Where the files are kept; made where it is not there. Stores of both kinds, and other processes, may share it. */
  readonly folder: string;
  /** How long a call waits for another process that is at the same session. Default: 15,000. */
  readonly lockTimeoutMs?: number | undefined;
  /** What sessions expire by. Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
}

const KEYS = ['folder', 'lockTimeoutMs', 'clock'];

/** The options with their defaults. Throws an OptionInvalidError for one that is none of these, nor named in `others`. */
export function resolveFileOptions(options: FileOptions, others: readonly string[]) {
  validateNames(options, [...KEYS, ...others]);
  const { folder, lockTimeoutMs = LOCK_TIMEOUT_MS, clock = systemClock } = options;
  if (typeof folder !== 'string' || folder === '') refuse('folder', folder, 'give the path of a folder.');
  if (typeof lockTimeoutMs !== 'number' || !(lockTimeoutMs >= 0)) {
    refuse('lockTimeoutMs', lockTimeoutMs, 'give a number of milliseconds from 0 on.');
  }
  return { folder, lockTimeoutMs, clock };
}
