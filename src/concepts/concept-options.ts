import { type Clock, MAX_TIMER_MS } from '../internal/clock.js';
import { boolean, callable, clock, group, oneOf, texts, whole } from '../internal/options/rules.js';
import { type OptionRule, type OptionRules, type OptionTable, validateOptions } from '../internal/options/validate.js';
import { commandContext } from './command-context.js';
import type { BuildContext } from './concept-request.js';

/** How tool calls are augmented. Every option has a default. */
export interface ConceptOptions {
  /** Default: `commandContext()`, which runs the `maenifold` program. */
  readonly buildContext?: BuildContext | undefined;
  /**
   * `literal` (default): the first text field gets the context, also where it is a shell command. `safe`: only `prompt`
   * does, and other fields but `command` where the tool is annotated as `readOnly`; elsewhere the context is a property
   * beside them. It also passes over names that are no plain words, such as those of shell tests.
   */
  readonly profile?: 'literal' | 'safe' | undefined;
  /** How far from the concept; default 1. */
  readonly depth?: number | undefined;
  /** Default true. */
  readonly includeContent?: boolean | undefined;
  /** How many related concepts at most; default 5. */
  readonly maxEntities?: number | undefined;
  /** The fields that may get the context, the first that is there and is a text. */
  readonly textFields?: readonly string[] | undefined;
  /** Stands in the comment around the context; default `maenifold`. */
  readonly label?: string | undefined;
  /** The property that gets the context where no field does; default `_<label>_context`. */
  readonly contextKey?: string | undefined;
  /** For one concept (default 1,000 ms) and for all of a call (default 5,000 ms). */
  readonly timeouts?: { readonly conceptMs?: number | undefined; readonly totalMs?: number | undefined } | undefined;
  /** How many concepts are looked up at once; default 4. */
  readonly parallel?: number | undefined;
  /** Default: the run's. */
  readonly clock?: Clock | undefined;
}

/** The options with their defaults. */
export type ConceptSettings = ReturnType<typeof resolveConceptOptions>;

const TEXT_FIELDS = ['command', 'content', 'prompt', 'query', 'message', 'text', 'input'];

const lookupMs: OptionRule = {
  expected: `whole milliseconds from 1 to ${MAX_TIMER_MS}`,
  accepts: (value) => whole(1).accepts(value) && (value as number) <= MAX_TIMER_MS,
};

/** What every way to augment tool calls may be given. */
export const conceptRules = {
  buildContext: callable,
  profile: oneOf('literal', 'safe'),
  depth: whole(1),
  includeContent: boolean,
  maxEntities: whole(1),
  textFields: texts,
  // It stands in an HTML comment, which it must not end.
  label: {
    expected: 'letters, digits, spaces, `.` and `_`',
    accepts: (value) => typeof value === 'string' && /^[\w .]+$/.test(value),
  },
  contextKey: {
    expected: 'a non-empty string other than "__proto__"',
    accepts: (value) => typeof value === 'string' && value !== '' && value !== '__proto__',
  },
  timeouts: group({ conceptMs: lookupMs, totalMs: lookupMs } satisfies OptionTable<
    NonNullable<ConceptOptions['timeouts']>
  >),
  parallel: whole(1),
  clock,
} satisfies OptionTable<ConceptOptions>;

/** Checks the options and fills their defaults. Throws OptionInvalidError. */
export function resolveConceptOptions(options: ConceptOptions, rules: OptionRules = conceptRules) {
  validateOptions(options, rules);
  const { depth = 1, includeContent = true, maxEntities = 5, label = 'maenifold', timeouts = {} } = options;
  const { profile = 'literal', textFields = TEXT_FIELDS, contextKey = `_${label}_context` } = options;
  const { conceptMs = 1_000, totalMs = 5_000 } = timeouts;
  const { buildContext = commandContext(), parallel = 4, clock } = options;
  const request = { depth, includeContent, maxEntities };
  const isSafe = profile === 'safe';
  return { buildContext, isSafe, request, textFields, label, contextKey, conceptMs, totalMs, parallel, clock };
}
