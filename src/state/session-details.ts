import { isObject } from '../internal/json.js';
import { text } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { SessionDetails } from './session-store.js';

/** The rules that the owner, the title and the data of a session must meet. */
export const detailRules = {
  owner: text,
  title: text,
  data: { expected: 'an object that JSON can represent', accepts: isJsonObject },
} satisfies OptionTable<SessionDetails>;

/** Returns a deep copy of the details. Throws an OptionInvalidError if a field is invalid. */
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
