import { describeError } from '../errors.js';
import { type Clock, systemClock } from '../internal/clock.js';
import { isObject } from '../internal/json.js';
import { type Awaitable, isPromise } from '../internal/promise.js';
import { safeText } from '../internal/safe-text.js';
import type { ToolAnnotations } from '../tools/tool.js';
import { buildContexts } from './build-contexts.js';
import type { ConceptSettings } from './concept-options.js';
import { type Augmented, joinContexts, placesFor } from './context-block.js';
import { conceptsIn, hasText } from './wiki-links.js';

/** A log record. */
export interface ConceptRecord {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly extra: Readonly<Record<string, unknown>>;
}

/** A tool call to augment with context. */
export interface AugmentableCall {
  readonly tool: string;
  readonly args: unknown;
  readonly sessionID: string;
  readonly annotations?: ToolAnnotations | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly log: (record: ConceptRecord) => unknown;
  /**
   * Adds the context to the arguments, in the first place that the tool accepts. Returns false if the tool accepts
   * none. If it throws, the call keeps its arguments and the failure is logged.
   */
  readonly apply: (places: readonly Augmented[]) => Awaitable<boolean>;
}

const UNAVAILABLE = ['ENOENT', 'ERR_CONCEPT_COMMAND_UNAVAILABLE'];

/**
 * Looks up the concepts that a call's arguments link to, and passes the context to `apply`.
 * Never rejects: a failure is logged, and the call stays unchanged.
 */
export async function augment(call: AugmentableCall, settings: ConceptSettings): Promise<void> {
  const { tool, sessionID } = call;
  const log = safeLog(call.log);
  try {
    const reason = await lookUpAndApply(call, settings, log);
    if (reason !== undefined) {
      log({ level: 'debug', message: `Skipping augmentation for ${tool}`, extra: { reason, sessionID } });
    }
  } catch (thrown) {
    // The call was aborted, so its failure is not logged.
    if (call.signal?.aborted) return;
    const error = textOf(thrown);
    log({ level: 'warn', message: `Augmentation failed for ${tool}: ${error}`, extra: { tool, error, sessionID } });
  }
}

type Log = AugmentableCall['log'];

async function lookUpAndApply(call: AugmentableCall, settings: ConceptSettings, log: Log): Promise<string | undefined> {
  const { tool, args, sessionID, annotations } = call;
  const concepts = conceptsOf(call, settings, log);
  if (typeof concepts === 'string') return concepts;
  if (!isObject(args)) return 'no_place';
  log({
    level: 'info',
    message: `Detected concepts in ${tool}: ${concepts.join(', ')}`,
    extra: { tool, concepts: [...concepts], sessionID },
  });
  const clock = settings.clock ?? systemClock;
  const startedAt = clock.now();
  const found = await contextOf(concepts, call, { settings, clock, log });
  if (found.context === '') return found.isUnavailable ? 'unavailable' : undefined;
  if (!(await call.apply(placesFor(args, found.context, { settings, annotations })))) return 'no_place';
  const [conceptCount, elapsed] = [concepts.length, clock.now() - startedAt];
  log({
    level: 'info',
    message: `Augmented ${tool} with ${conceptCount} concept(s) in ${elapsed}ms`,
    extra: { tool, conceptCount, elapsed, sessionID },
  });
  return undefined;
}

function conceptsOf(call: AugmentableCall, settings: ConceptSettings, log: Log): readonly string[] | string {
  if (!hasText(call.args)) return 'no_text_args';
  const found = conceptsIn(call.args).filter((name) => !settings.isSafe || isPlainName(name));
  if (found.length === 0) return 'no_concepts';
  if (found.length > settings.maxConcepts) log(leftOut(found.length, call, settings));
  return found.slice(0, settings.maxConcepts);
}

/** Looks up the concepts. Throws the first error if the lookups gave no context and one of them failed. */
async function contextOf(
  concepts: readonly string[],
  call: AugmentableCall,
  { settings, clock, log }: { readonly settings: ConceptSettings; readonly clock: Clock; readonly log: Log },
): Promise<{ readonly context: string; readonly isUnavailable: boolean }> {
  let isUnavailable = false;
  const failures: [concept: string, thrown: unknown][] = [];
  const onFailure = (concept: string, thrown: unknown) => {
    if (isUnavailableError(thrown)) isUnavailable = true;
    else failures.push([concept, thrown]);
  };
  const build = { settings, clock, signal: call.signal, onFailure };
  const context = joinContexts(await buildContexts(concepts, build));
  for (const [concept, thrown] of failures) log(failureOf(concept, textOf(thrown), call));
  if (context === '' && failures.length > 0) throw failures[0]?.[1];
  return { context, isUnavailable };
}

function leftOut(found: number, { tool, sessionID }: AugmentableCall, { maxConcepts }: ConceptSettings): ConceptRecord {
  const message = `${tool} links to ${found} concepts; only the first ${maxConcepts} are looked up (see \`maxConcepts\`)`;
  return { level: 'warn', message, extra: { tool, found, maxConcepts, sessionID } };
}

function failureOf(concept: string, error: string, { tool, sessionID }: AugmentableCall): ConceptRecord {
  const message = `BuildContext failed for [[${concept}]]`;
  return { level: 'error', message, extra: { tool, concept, error, sessionID } };
}

/**
 * True for a name of letters and digits of any script, spaces, dots, hyphens and slashes. False for a shell test such
 * as `[[ -f x ]]`, which only looks like a link.
 */
function isPlainName(name: string): boolean {
  return /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_ .\-/]*$/u.test(name);
}

function isUnavailableError(error: unknown): boolean {
  try {
    return UNAVAILABLE.includes((error as { code?: string } | undefined)?.code ?? '');
  } catch {
    return false;
  }
}

function textOf(error: unknown): string {
  try {
    return String(error);
  } catch {
    return describeError(error);
  }
}

/** Returns a log function that never fails, and that removes control characters from names of the model. */
function safeLog(log: AugmentableCall['log']): AugmentableCall['log'] {
  return ({ level, message, extra }) => {
    try {
      const written = log({ level, message: safeText(message), extra });
      if (isPromise(written)) written.then(undefined, () => {});
    } catch {}
  };
}
