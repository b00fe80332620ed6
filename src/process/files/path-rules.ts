import { isAbsolute } from 'node:path';
import type { OptionRule } from '../../internal/options/validate.js';

export const absolutePath: OptionRule = {
  expected: 'an absolute path',
  accepts: (value) => typeof value === 'string' && isAbsolute(value),
};
/** Used as part of directory, file and variable names. */
export const appName: OptionRule = {
  expected: 'letters, digits, `_` and `-`, with a letter or digit first',
  accepts: (value) => typeof value === 'string' && /^[A-Za-z0-9][\w-]*$/.test(value),
};
