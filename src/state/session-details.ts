import { isObject } from '../internal/json.js';
import { text } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { SessionDetails } from './session-store.js';

/** Rules of the details of a session. */
export const detailRules = {
  owner: text,
  title: text,
  data: { expected: 'an object that JSON can represent', accepts: isJsonObject },
} satisfies OptionTable<SessionDetails>;

/** Returns a copy of the details. Throws an OptionInvalidError if one is invalid. */
export function copyDetails(details: SessionDetails): SessionDetails {
  validateOptions(details, detailRules);
  return JSON.parse(JSON.stringify(details));
}

function isJsonObject(value: unknown): boolean {
  try {
    return isObject(value) && JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
