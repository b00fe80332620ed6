import { type Clock, MAX_TIMER_MS } from '../internal/clock.js';
import { boolean, callable, clock, group, oneOf, texts, whole } from '../internal/options/rules.js';
import { type OptionRule, type OptionRules, type OptionTable, validateOptions } from '../internal/options/validate.js';
import { commandContext } from './command-context.js';
import type { BuildContext } from './concept-request.js';

/** Options of the augmentation. Every option has a default. */
export interface ConceptOptions {
  /** Looks up one concept. Default: `commandContext()`, which runs the `maenifold` program. */
  readonly buildContext?: BuildContext | undefined;
  /**
   * The argument of the tool call that may get the context of a concept. `literal`: the first text argument, even a
   * shell command. Default: `literal`.
   *
   * `safe`: the argument `prompt`, or any text argument but `command` if the tool is annotated as `readOnly`. Otherwise
   * the context becomes an additional property. With `safe`, text in brackets that contains quotes or operators
   * does not name a concept, because it may be a shell test such as `[[ -f x ]]`.
   */
  readonly profile?: 'literal' | 'safe' | undefined;
  /** How many links away from the concept to search. Default 1. */
  readonly depth?: number | undefined;
  /** True to include the content of related concepts. Default true. */
  readonly includeContent?: boolean | undefined;
  /** The maximum number of related concepts. Default 5. */
  readonly maxEntities?: number | undefined;
  /** The most concepts that one call looks up. The log has the number that was found. Default 100. */
  readonly maxConcepts?: number | undefined;
  /** The names of the fields that may get the context. The first one that holds a string gets it. */
  readonly textFields?: readonly string[] | undefined;
  /** Name in the HTML comment around the context. Default `maenifold`. */
  readonly label?: string | undefined;
  /** The additional property that gets the context if no text field may get it. Default `_<label>_context`. */
  readonly contextKey?: string | undefined;
  /** Time limits for one concept and for all concepts of a call. Default: 1,000 ms and 5,000 ms. */
  readonly timeouts?: { readonly conceptMs?: number | undefined; readonly totalMs?: number | undefined } | undefined;
  /** How many concepts are looked up at the same time. Default 4. */
  readonly parallel?: number | undefined;
  /** The clock of the time limits. Default: the run's clock. */
  readonly clock?: Clock | undefined;
}

/** The options with defaults filled in. */
export type ConceptSettings = ReturnType<typeof resolveConceptOptions>;

const TEXT_FIELDS = ['command', 'content', 'prompt', 'query', 'message', 'text', 'input'];

const lookupMs: OptionRule = {
  expected: `whole milliseconds from 1 to ${MAX_TIMER_MS}`,
  accepts: (value) => whole(1).accepts(value) && (value as number) <= MAX_TIMER_MS,
};

/** The rules for the options of `conceptAugmentation` and `conceptModule`. */
export const conceptRules = {
  buildContext: callable,
  profile: oneOf('literal', 'safe'),
  depth: whole(1),
  includeContent: boolean,
  maxEntities: whole(1),
  maxConcepts: whole(1),
  textFields: texts,
  // The label appears in an HTML comment and must not close it.
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

/** Checks the options and fills in defaults. Throws OptionInvalidError. */
export function resolveConceptOptions(options: ConceptOptions, rules: OptionRules = conceptRules) {
  validateOptions(options, rules);
  const { depth = 1, includeContent = true, maxEntities = 5, label = 'maenifold', timeouts = {} } = options;
  const { profile = 'literal', textFields = TEXT_FIELDS, contextKey = `_${label}_context` } = options;
  const { conceptMs = 1_000, totalMs = 5_000 } = timeouts;
  const { buildContext = commandContext(), parallel = 4, maxConcepts = 100, clock } = options;
  const request = { depth, includeContent, maxEntities };
  const isSafe = profile === 'safe';
  const limits = { conceptMs, totalMs, parallel, maxConcepts };
  return { buildContext, isSafe, request, textFields, label, contextKey, ...limits, clock };
}
