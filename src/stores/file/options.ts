import { type Clock, systemClock } from '../../internal/clock.js';
import { clock, fullText, numberRule, required } from '../../internal/options/rules.js';
import { type OptionRules, type OptionTable, validateOptions } from '../../internal/options/validate.js';

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

/** The rules of the options that stores in files share. */
export const fileRules = {
  folder: required(fullText),
  lockTimeoutMs: numberRule('milliseconds of 0 or more', 0),
  clock,
} satisfies OptionTable<FileOptions>;

/** Checks the options and fills their defaults. Throws an OptionInvalidError. */
export function resolveFileOptions(options: FileOptions, rules: OptionRules) {
  validateOptions(options, rules);
  const { folder, lockTimeoutMs = LOCK_TIMEOUT_MS, clock = systemClock } = options;
  return { folder, lockTimeoutMs, clock };
}
