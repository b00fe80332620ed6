import { safeText } from '../../internal/safe-text.js';
import type { EntryAction } from '../../lifecycle/hook-action.js';
import { hookRunOf } from '../../lifecycle/hook-run/hook-run.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { RejectedError } from '../../lifecycle/run-failure.js';
import type { RejectAction } from '../../tools/tool.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookEventContext } from '../hook/event-context.js';
import { hookMessage } from '../hook/text.js';
import type { HookEventResult } from '../run/outcome.js';
import type { HookParts, RunState } from './run-state.js';

/** Returns the action that ends the run; undefined if no hook cancelled. */
export function rejectionOf({ cancelledBy, reason }: HookEventResult): RejectAction | undefined {
  if (cancelledBy === undefined) return undefined;
  return { type: 'reject', reason: safeText(reason ?? ''), by: cancelledBy };
}

/** Adds the pending hook messages of the session to the conversation. */
export function addPendingMessages(run: RunContext, { pending }: HookParts): void {
  for (const message of pending.take(run.session?.id)) run.add(message);
}

/** Runs the `before_agent` hooks. Returns the rewritten prompt, or the action that ends the run. */
export async function beforeAgent(
  prompt: string,
  run: RunContext,
  parts: HookParts,
): Promise<string | EntryAction | undefined> {
  const { id, agent, model, messages, instructions = null } = run;
  const context = { session_id: run.session?.id ?? id, run_id: id, agent, model: model.id, instructions, messages };
  const outcome = await parts.runner.runEvent({
    event: 'before_agent',
    ...parts.runs.of(run).context,
    value: prompt,
    describe: (value) => ({ data: { prompt: value, context } }),
    rewrite: (value, effects) => effects.prompt ?? value,
  });
  const rejection = rejectionOf(outcome);
  if (rejection !== undefined) {
    parts.pending.keep(run.session?.id, outcome.modelTexts);
    return rejection;
  }
  addPendingMessages(run, parts);
  for (const { hook, text } of outcome.modelTexts) run.add(hookMessage(hook, text));
  return outcome.value === prompt ? undefined : outcome.value;
}

function afterAgentContext(text: string, { context, prompt, calls, continued }: RunState): HookEventContext<string> {
  return {
    event: 'after_agent',
    ...context,
    value: text,
    describe: (response) => ({
      data: { response, tool_calls: calls.map(({ id, name, args }) => ({ id, name, args: args ?? null })) },
      flat: { prompt, stop_hook_active: continued > 0, loop_count: continued },
    }),
  };
}

/** An answer of the agent and the hooks that judge it. */
export interface JudgedAnswer {
  readonly text: string;
  readonly hooks: readonly ShellHook[];
}

/** Runs native `after_agent` hooks. Throws a `RejectedError` if a hook cancels, so that nobody gets the answer. */
export async function afterAgent({ text, hooks }: JudgedAnswer, run: RunContext, parts: HookParts): Promise<void> {
  const outcome = await parts.runner.runEvent(afterAgentContext(text, parts.runs.of(run)), hooks);
  parts.pending.keep(run.session?.id, outcome.modelTexts);
  const rejection = rejectionOf(outcome);
  if (rejection === undefined) return;
  const { reason, by = '' } = rejection;
  const error = new RejectedError(reason, by, 'afterAgent');
  throw hookRunOf(run)?.end.own(error) ?? error;
}

/**
 * Runs `after_agent` hooks of other dialects before the run ends. A hook that refuses the answer makes the agent take
 * another turn.
 */
export async function judgeAnswer(
  { text, hooks }: JudgedAnswer,
  run: RunContext,
  parts: HookParts,
): Promise<EntryAction | undefined> {
  const state = parts.runs.of(run);
  const outcome = await parts.runner.runEvent(afterAgentContext(text, state), hooks);
  parts.pending.keep(run.session?.id, outcome.modelTexts);
  // An answer with `stop` needs no action, because the run is ending anyway.
  if (outcome.stop !== undefined) return undefined;
  if (outcome.cancelled) return rejectionOf(outcome);
  if (outcome.again === undefined) return undefined;
  const { by, reason } = outcome.again;
  if (state.continued >= parts.maxContinuations) {
    parts.logger.warn(
      `Hook "${by}" refused the answer, but hooks can add at most ${parts.maxContinuations} turns: the answer is used. The option \`maxContinuations\` is the limit.`,
      { hookName: by, reason },
    );
    return undefined;
  }
  state.continued += 1;
  run.add(hookMessage(by, reason, 'user'));
  return undefined;
}
