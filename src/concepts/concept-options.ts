import { OptionInvalidError, refuse, validateNames } from '../errors.js';
import { type Clock, MAX_TIMER_MS } from '../internal/clock.js';
import { isTexts } from '../internal/json.js';
import { commandContext } from './command-context.js';
import type { BuildContext, ConceptRequest } from './concept-request.js';

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
export interface ConceptSettings {
  readonly buildContext: BuildContext;
  readonly isSafe: boolean;
  readonly request: Omit<ConceptRequest, 'conceptName'>;
  readonly textFields: readonly string[];
  readonly label: string;
  readonly contextKey: string;
  readonly conceptMs: number;
  readonly totalMs: number;
  readonly parallel: number;
  readonly clock: Clock | undefined;
}

const TEXT_FIELDS = ['command', 'content', 'prompt', 'query', 'message', 'text', 'input'];

const OPTIONS = [
  ...['buildContext', 'profile', 'depth', 'includeContent', 'maxEntities', 'textFields', 'label', 'contextKey'],
  ...['timeouts', 'parallel', 'clock'],
];

/**
 * Fills the defaults. Throws OptionInvalidError where an option has a value that it cannot have, and where nobody knows
 * it: a misspelt `profile: 'safe'` would be the literal one.
 */
export function resolveConceptOptions(options: ConceptOptions, others: readonly string[] = []): ConceptSettings {
  validateNames(options, [...OPTIONS, ...others]);
  const { depth = 1, includeContent = true, maxEntities = 5, label = 'maenifold', timeouts = {} } = options;
  validateNames(timeouts, ['conceptMs', 'totalMs'], 'timeouts');
  const { profile = 'literal', textFields = TEXT_FIELDS, contextKey = `_${label}_context` } = options;
  const { conceptMs = 1_000, totalMs = 5_000 } = timeouts;
  const { buildContext = commandContext(), parallel = 4, clock } = options;
  if (typeof buildContext !== 'function') refuse('buildContext', buildContext, 'give a function');
  if (profile !== 'literal' && profile !== 'safe') {
    throw new OptionInvalidError('profile', `it is ${String(profile)}; give 'literal' or 'safe'`);
  }
  if (!isTexts(textFields)) throw new OptionInvalidError('textFields', 'give a list of names');
  // The label stands in an HTML comment, which it must not end.
  if (!/^[\w .]+$/.test(label)) throw new OptionInvalidError('label', 'give letters, digits, spaces and `_`');
  if (!isTexts([contextKey]) || contextKey === '' || contextKey === '__proto__')
    throw new OptionInvalidError('contextKey', 'give another name');
  validateNumber('depth', depth);
  validateNumber('maxEntities', maxEntities);
  validateNumber('parallel', parallel);
  validateNumber('timeouts.conceptMs', conceptMs, MAX_TIMER_MS);
  validateNumber('timeouts.totalMs', totalMs, MAX_TIMER_MS);
  const request = { depth, includeContent, maxEntities };
  const isSafe = profile === 'safe';
  return { buildContext, isSafe, request, textFields, label, contextKey, conceptMs, totalMs, parallel, clock };
}

function validateNumber(option: string, value: number, most: number = Number.MAX_SAFE_INTEGER): void {
  if (Number.isInteger(value) && value >= 1 && value <= most) return;
  throw new OptionInvalidError(option, `it is ${String(value)}; give a whole number of 1 or more`);
}
