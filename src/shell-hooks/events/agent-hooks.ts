import { safeText } from '../../internal/safe-text.js';
import type { EntryAction } from '../../lifecycle/hook-action.js';
import { hookRunOf } from '../../lifecycle/hook-run.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { RejectedError } from '../../lifecycle/run-failure.js';
import type { RejectAction } from '../../tools/tool.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookEventResult } from '../run/event-progress.js';
import { hookMessage } from '../run/text.js';
import { afterAgentFields, beforeAgentFields, idsOf } from './event-fields.js';
import type { HookEventContext } from './hook-event-context.js';
import type { HookParts } from './parts.js';

/** The end of a run by a hook; undefined where none cancelled. */
export function rejectionOf({ cancelledBy, reason }: HookEventResult): RejectAction | undefined {
  if (cancelledBy === undefined) return undefined;
  return { type: 'reject', reason: safeText(reason ?? ''), by: cancelledBy };
}

/** Has what waits for the session join the conversation. */
export function deliverNotes(run: RunContext, { notes }: HookParts): void {
  for (const message of notes.take(run.session?.id)) run.add(message);
}

/** `before_agent`. */
export async function beforeAgent(
  prompt: string,
  run: RunContext,
  parts: HookParts,
): Promise<string | EntryAction | undefined> {
  const outcome = await parts.runner.runEvent({
    event: 'before_agent',
    ...idsOf(run),
    value: prompt,
    describe: (value) => beforeAgentFields(run, value),
    rewrite: (value, effects) => effects.prompt ?? value,
    signal: parts.runs.of(run).signalOf(run),
  });
  const rejection = rejectionOf(outcome);
  if (rejection !== undefined) {
    parts.notes.keep(run.session?.id, outcome.modelTexts);
    return rejection;
  }
  deliverNotes(run, parts);
  for (const { hook, text } of outcome.modelTexts) run.add(hookMessage(hook, text));
  return outcome.value === prompt ? undefined : outcome.value;
}

function afterAgentContext(text: string, run: RunContext, { runs }: HookParts): HookEventContext<string> {
  const { prompt, calls, continued } = runs.of(run);
  return {
    event: 'after_agent',
    ...idsOf(run),
    value: text,
    describe: (value) => afterAgentFields(value, { prompt, calls, continued }),
    signal: run.signal,
  };
}

/** An answer, and the hooks that judge it. */
export interface JudgedAnswer {
  readonly text: string;
  readonly hooks: readonly ShellHook[];
}

/** `after_agent` of native hooks: a cancellation withholds the answer. */
export async function afterAgent({ text, hooks }: JudgedAnswer, run: RunContext, parts: HookParts): Promise<void> {
  const outcome = await parts.runner.runEvent(afterAgentContext(text, run, parts), hooks);
  parts.notes.keep(run.session?.id, outcome.modelTexts);
  const rejection = rejectionOf(outcome);
  if (rejection === undefined) return;
  const { reason, by = '' } = rejection;
  const error = new RejectedError(reason, by, 'afterAgent');
  throw hookRunOf(run)?.end.own(error) ?? error;
}

/** How often hooks may have the agent go on: one that never is content would never let it end. */
const MOST_CONTINUED = 8;

/**
 * `after_agent` of hooks in the other dialects, while the agent can still go on: a refusal buys it another turn.
 */
export async function weighAnswer(
  { text, hooks }: JudgedAnswer,
  run: RunContext,
  parts: HookParts,
): Promise<EntryAction | undefined> {
  const notes = parts.runs.of(run);
  const outcome = await parts.runner.runEvent(afterAgentContext(text, run, parts), hooks);
  parts.notes.keep(run.session?.id, outcome.modelTexts);
  // That the agent is to stop is what it does here anyway.
  if (outcome.stop !== undefined) return undefined;
  if (outcome.cancelled) return rejectionOf(outcome);
  if (outcome.again === undefined) return undefined;
  const { by, reason } = outcome.again;
  if (notes.continued >= MOST_CONTINUED) {
    parts.logger.warn(`Hook "${by}" refused the answer ${MOST_CONTINUED} times: it stands.`, { hookName: by, reason });
    return undefined;
  }
  notes.continued += 1;
  run.add(hookMessage(by, reason, 'user'));
  return undefined;
}
