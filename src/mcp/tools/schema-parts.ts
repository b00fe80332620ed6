import type { JsonSchema } from '../../internal/json.js';
import { compileParts } from '../../tools/json-schema-check.js';
import { countSteps } from '../schema/check-cost.js';
import { isSmallSchema } from '../schema/schema-cost.js';
import type { StepCount } from '../schema/step-count.js';

/** A schema whose parts can be looked up and checked one by one. */
export interface SchemaParts {
  /** The schema, or the copy whose parts `passes` takes. */
  readonly root: JsonSchema;
  /** Returns the part that a reference means, or undefined. */
  readonly resolve: (reference: string) => unknown;
  /** Checks a value against a part. Throws a RangeError if the check takes too many steps. */
  readonly passes: (part: unknown, value: unknown, steps: StepCount) => boolean;
}

const known = new WeakMap<JsonSchema, SchemaParts>();

/**
 * Returns the parts of a schema. In a schema that is too large for the main thread, or has URIs of its own, no reference
 * is followed and every value passes.
 */
export function partsOf(schema: JsonSchema): SchemaParts {
  const parts = known.get(schema) ?? (isSmallSchema(schema) ? compiled(schema) : opaque(schema));
  known.set(schema, parts);
  return parts;
}

function opaque(root: JsonSchema): SchemaParts {
  return { root, resolve: () => undefined, passes: () => true };
}

function compiled(schema: JsonSchema): SchemaParts {
  const { root, passes } = compileParts(schema);
  const targets = new Map<string, unknown>();
  return {
    root,
    resolve(reference) {
      const target = targets.has(reference) ? targets.get(reference) : follow(root, reference);
      targets.set(reference, target);
      return target;
    },
    passes(part, value, steps) {
      countSteps(part, value, { root, steps });
      return passes(part, value);
    },
  };
}

/** Resolves `#` or a path from the root. Other references do not occur, because the schema has no anchors. */
function follow(root: JsonSchema, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  const steps = reference.split('/').slice(1).map(pointerStep);
  return steps.reduce<unknown>((node, step) => {
    const isOwn = typeof node === 'object' && node !== null && Object.hasOwn(node, step);
    return isOwn ? (node as JsonSchema)[step] : undefined;
  }, root);
}

function pointerStep(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}
