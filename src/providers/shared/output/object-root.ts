import type { JsonSchema } from '../../../internal/json.js';
import { withReferences } from '../tools/references.js';
import { isObject, parseJson, type WireObject } from '../wire.js';

/** The property of the enclosing object that contains the answer. */
const MEMBER = 'value';

/** Keywords that providers refuse at the root of an output schema. */
const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', '$ref', 'if'];

/** True for a schema whose root is a plain object, as providers require it. */
export function hasObjectRoot(schema: JsonSchema): boolean {
  return schema.type === 'object' && ALTERNATIVES.every((keyword) => !(keyword in schema));
}

/**
 * Returns the schema of an object with one property, whose schema is the given one. Used because providers only accept
 * objects. References in the schema are adjusted.
 */
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

/** Matches the enclosing object in an answer, also between other text. */
const WRAPPED = new RegExp(`\\{\\s*"${MEMBER}"\\s*:(.*)\\}`, 's');

/**
 * Returns the answer without the enclosing object that `inObject` asked for. Keeps text before and after the object.
 */
export function unwrapped(answer: string): string {
  const match = WRAPPED.exec(answer);
  if (match === null) return answer;
  const [whole, inner = ''] = match;
  const value = parseJson(whole);
  if (!isObject(value) || Object.keys(value).length !== 1) return answer;
  return answer.slice(0, match.index) + inner.trim() + answer.slice(match.index + whole.length);
}

const OPENING = new RegExp(`^\\s*\\{\\s*"${MEMBER}"\\s*:\\s*`);
/**
 * The text before the wrapped value, such as `{"value": `, has at most this number of characters. After more characters,
 * the answer counts as not wrapped.
 */
const LONGEST_OPENING = 40;
const CLOSING = /\s*\}?\s*$/;

/** Removes the enclosing object from the text deltas of an answer. Does not change an answer without it. */
export class Unwrapping {
  private state: 'before' | 'inside' | 'outside' = 'before';
  private held = '';

  /** Adds a delta. Returns the text that can be reported now. */
  take(delta: string): string {
    if (this.state === 'outside') return delta;
    this.held += delta;
    if (this.state === 'before' && !this.begin()) return '';
    const shown = this.state === 'inside' ? this.held.replace(CLOSING, '') : this.held;
    this.held = this.held.slice(shown.length);
    return shown;
  }

  /** Looks for the beginning of the enclosing object. Returns false if more text is needed to decide. */
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
