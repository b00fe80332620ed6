import type { JsonSchema } from '../../../internal/json.js';
import { withReferences } from '../tools/references.js';
import { isObject, parseJson, type WireObject } from '../wire.js';

/** The member of the root object that contains the answer. */
const MEMBER = 'value';

/** Keywords that providers refuse at the root of a schema. */
const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', '$ref', 'if'];

/** True for a schema whose root is a plain object, as providers require. */
export function hasObjectRoot(schema: JsonSchema): boolean {
  return schema.type === 'object' && ALTERNATIVES.every((keyword) => !(keyword in schema));
}

/** Returns a schema for an object with one member, which has the given schema. References keep their targets. */
export function inObject(schema: JsonSchema): WireObject {
  const { $schema, $defs, definitions, ...rest } = schema;
  const kept = { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) };
  const root: WireObject = { type: 'object', properties: { [MEMBER]: rest }, required: [MEMBER], ...kept };
  const dialect = $schema === undefined ? {} : { $schema };
  return { ...dialect, ...withReferences({ ...root, additionalProperties: false }, movedReference) };
}

function movedReference(reference: string): string {
  if (/^#\/(?:\$defs|definitions)\//.test(reference)) return reference;
  return reference.replace(/^#/, `#/properties/${MEMBER}`);
}

/** Matches the object around an answer, with the text before and after it. */
const WRAPPED = new RegExp(`\\{\\s*"${MEMBER}"\\s*:(.*)\\}`, 's');

/** Returns an answer without the enclosing object. Text before and after the object stays. */
export function unwrapped(answer: string): string {
  const match = WRAPPED.exec(answer);
  if (match === null) return answer;
  const [whole, inner = ''] = match;
  const value = parseJson(whole);
  if (!isObject(value) || Object.keys(value).length !== 1) return answer;
  return answer.slice(0, match.index) + inner.trim() + answer.slice(match.index + whole.length);
}

const OPENING = new RegExp(`^\\s*\\{\\s*"${MEMBER}"\\s*:\\s*`);
/** The longest text that may still be the beginning of the enclosing object. */
const LONGEST_OPENING = 40;
const CLOSING = /\s*\}?\s*$/;

/**
 * Removes the enclosing object from the deltas of an answer. An answer without the enclosing object does not change.
 */
export class Unwrapping {
  private state: 'before' | 'inside' | 'outside' = 'before';
  private held = '';

  /** Returns the text to show now. */
  take(delta: string): string {
    if (this.state === 'outside') return delta;
    this.held += delta;
    if (this.state === 'before' && !this.begin()) return '';
    const shown = this.state === 'inside' ? this.held.replace(CLOSING, '') : this.held;
    this.held = this.held.slice(shown.length);
    return shown;
  }

  /** Looks for the beginning of the enclosing object. Returns false while the text is too short. */
  private begin(): boolean {
    const opening = OPENING.exec(this.held);
    if (opening !== null) {
      this.held = this.held.slice(opening[0].length);
      this.state = 'inside';
    } else if (!/^\s*(?:\{[\s"\w:]*)?$/.test(this.held) || this.held.length > LONGEST_OPENING) {
      this.state = 'outside';
    }
    return this.state !== 'before';
  }
}
