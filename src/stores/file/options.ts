import { type Clock, systemClock } from '../../internal/clock.js';
import { clock, fullText, numberRule, required } from '../../internal/options/rules.js';
import { type OptionRules, type OptionTable, validateOptions } from '../../internal/options/validate.js';

const LOCK_TIMEOUT_MS = 15_000;

/** Options shared by FileSessionStore and FileStateStore. */
export interface FileOptions {
  /**
   * Directory in which the store creates its files. Created if it is missing. A FileSessionStore and a FileStateStore,
   * and several processes, may share it.
   */
  readonly folder: string;
  /** Milliseconds that a call waits while another process uses the same session. Default: 15,000. */
  readonly lockTimeoutMs?: number | undefined;
  /** The clock that decides when sessions expire. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** Validation rules of the options that FileSessionStore and FileStateStore share. */
export const fileRules = {
  folder: required(fullText),
  lockTimeoutMs: numberRule('a number of milliseconds, 0 or more', 0),
  clock,
} satisfies OptionTable<FileOptions>;

/** Checks the options and fills in the defaults. Throws an OptionInvalidError if an option is invalid. */
export function resolveFileOptions(options: FileOptions, rules: OptionRules) {
  validateOptions(options, rules);
  const { folder, lockTimeoutMs = LOCK_TIMEOUT_MS, clock = systemClock } = options;
  return { folder, lockTimeoutMs, clock };
}
