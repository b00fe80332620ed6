import { isAbsolute } from 'node:path';
import type { OptionRule } from '../../internal/options/validate.js';

export const absolutePath: OptionRule = {
  expected: 'an absolute path',
  accepts: (value) => typeof value === 'string' && isAbsolute(value),
};
/** The rule of an application name, which becomes part of the names of directories, files and variables. */
export const appName: OptionRule = {
  expected: 'letters, digits, `_` and `-`, with a letter or digit first',
  accepts: (value) => typeof value === 'string' && /^[A-Za-z0-9][\w-]*$/.test(value),
};
