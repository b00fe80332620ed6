import type { Awaitable } from '../../internal/promise.js';
import { RejectedError } from '../../lifecycle/run-failure.js';
import { runWaterfall } from '../../lifecycle/waterfall.js';
import type { CompletedRun, RunResult, SuspendedRun } from '../run-result.js';
import { checkOutput } from './output.js';
import type { Run } from './run.js';
import { announceText } from './run-events.js';
import { saveRun } from './turn.js';

const NOTHING_PENDING: readonly [] = Object.freeze([]) as readonly [];

/** Returns the text of the run after the `afterAgent` hooks. Throws RejectedError if the run was rejected. */
export function conclude(run: Run): Awaitable<string> {
  const { verdict } = run.end;
  if (verdict === undefined || verdict.action.type === 'suspend') return afterAgent(run, run.end.answer ?? '');
  const { action, by, point } = verdict;
  if (action.type === 'reject') throw run.end.own(new RejectedError(action.reason, by, point));
  return respond(run, (action as { text: string }).text);
}

/** Ends the run with the text of a lifecycle. The text is checked and saved like an answer of the model. */
async function respond(run: Run, text: string): Promise<string> {
  if (run.listeners.active) announceText(run, text);
  run.conversation.flush();
  run.conversation.push({ role: 'assistant', content: [{ type: 'text', text }] });
  run.output = await checkOutput(run, text);
  await saveRun(run);
  return afterAgent(run, text);
}

function afterAgent(run: Run, text: string): Awaitable<string> {
  run.end.closing = true;
  const waterfall = run.config.chain.afterAgent;
  return waterfall === undefined ? text : runWaterfall(waterfall, text, run);
}

/** Ends the run and returns its result. */
export function complete(run: Run, text: string): RunResult<unknown> {
  run.end.finish();
  run.config.life.endRun();
  const { pending, conversation, asked, response, usage, decisions } = run;
  // One object literal: spreading the common members would take a tenth of the time of a run.
  const completed = {
    status: 'completed',
    text,
    output: run.config.output === undefined ? text : run.output,
    messages: conversation.added,
    history: conversation.history,
    pending: NOTHING_PENDING,
    usage,
    turns: asked,
    finishReason: response?.finishReason ?? 'other',
    annotations: response?.annotations,
    decisions,
  } as const;
  const result = pending === undefined ? completed : suspendedResult(completed, pending);
  if (run.listeners.active) run.listeners.emit({ type: 'run-end', runId: run.context.id, result });
  return result;
}

/** Converts to a suspended result, which has no `output`. */
function suspendedResult(completed: CompletedRun<unknown>, pending: SuspendedRun['pending']): SuspendedRun {
  const { output: _output, ...record } = completed;
  return { ...record, status: 'suspended', pending };
}
