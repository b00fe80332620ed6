import { isObject, textOr, type WireObject } from '../wire.js';
import { type Form, formOf } from './keywords.js';

const MAX_DEPTH = 200;

/**
 * Returns the steps of a reference, such as `$defs` and `name` for `#/$defs/name`. Returns undefined for a reference of
 * another form.
 */
export function stepsOf(reference: unknown): readonly string[] | undefined {
  const text = textOr(reference);
  return text.startsWith('#/') ? text.slice(2).split('/').map(nameOf) : undefined;
}

/** Returns the reference that has these steps, such as `#/$defs/name`. */
export function referenceTo(steps: readonly string[]): string {
  return `#/${steps.map((step) => encodeURI(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
}

/** Returns the schema to which a reference such as `#/…` points, or undefined if the schema does not exist. */
export function targetOf(root: unknown, reference: unknown): unknown {
  const steps = stepsOf(reference);
  return steps?.reduce<unknown>(
    (node, step) => (isNode(node) && Object.hasOwn(node, step) ? node[step] : undefined),
    root,
  );
}

/** Decodes one step of a reference. Generated names such as `Page<Item>` are percent-encoded there. */
function nameOf(step: string): string {
  return decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function isNode(value: unknown): value is WireObject {
  return typeof value === 'object' && value !== null;
}

/** The keywords for tuples in older drafts, with their names in draft 2020-12. */
const MOVED = new Map([
  ['items', 'prefixItems'],
  ['additionalItems', 'items'],
]);

/**
 * Returns a reference in the form for draft 2020-12. Tuples of older drafts move from `items` to `prefixItems`, and
 * `additionalItems` moves to `items`.
 */
export function movedReference(root: unknown, reference: string): string {
  if (!/\/(?:items|additionalItems)(?:\/|$)/.test(reference)) return reference;
  let node = root;
  let form: Form | undefined = 'schema';
  const steps = reference.slice(2).split('/');
  const moved = steps.map((step) => {
    const isTuple = form === 'schema' && isObject(node) && Array.isArray(node.items);
    const key = isTuple ? (MOVED.get(step) ?? step) : step;
    form = form === 'schema' ? formOf(key) : form && 'schema';
    node = isNode(node) ? node[nameOf(step)] : undefined;
    return key;
  });
  return `#/${moved.join('/')}`;
}

/**
 * Returns the schema with each reference replaced by the result of `change`. Removes a `$ref` for which `change`
 * returns undefined.
 */
export function withReferences(schema: WireObject, change: (reference: string) => string | undefined): WireObject {
  const visit = (node: unknown, depth: number): unknown => {
    if (!isObject(node) || depth > MAX_DEPTH) return node;
    const entries = Object.entries(node).flatMap(([key, value]): [string, unknown][] => {
      if (key !== '$ref' || typeof value !== 'string') return [[key, member(formOf(key), value, depth + 1)]];
      const changed = change(value);
      return changed === undefined ? [] : [[key, changed]];
    });
    return Object.fromEntries(entries);
  };
  const member = (form: Form | undefined, value: unknown, depth: number): unknown => {
    if (form === 'schema') return visit(value, depth);
    if (form === 'list' && Array.isArray(value)) return value.map((part) => visit(part, depth));
    if (form !== 'map' || !isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, visit(part, depth)]));
  };
  return visit(schema, 0) as WireObject;
}
