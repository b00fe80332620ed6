import type { Awaitable } from '../../internal/promise.js';
import { RejectedError } from '../../lifecycle/run-failure.js';
import { runWaterfall } from '../../lifecycle/waterfall.js';
import type { CompletedRun, PendingCall, RunResult, SuspendedRun } from '../run-result.js';
import { checkOutput } from './output.js';
import type { Run } from './run.js';
import { announceText } from './run-events.js';
import { saveRun } from './turn.js';

const NOTHING_PENDING: readonly [] = Object.freeze([]) as readonly [];

/** The text that the run ends with, through afterAgent. Throws when the run was rejected. */
export function conclude(run: Run): Awaitable<string> {
  const { verdict, answer = '' } = run.end;
  if (verdict === undefined || verdict.action.type === 'suspend') return afterAgent(run, answer);
  const { action, by, point } = verdict;
  if (action.type === 'reject') throw run.end.own(new RejectedError(action.reason, by, point));
  return respond(run, (action as { text: string }).text);
}

/** Ends with the answer of a lifecycle: it is checked against the output schema and saved, as the model's would be. */
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

/** Ends the run, and makes its result. */
export function complete(run: Run, text: string): RunResult<unknown> {
  run.end.finish();
  run.config.life.endRun();
  const { pending, conversation, asked, response, usage, decisions } = run;
  // One literal: spreading the fields that both kinds of result share would cost a tenth of a run.
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

/** The same record without an output, which a suspended run does not have. */
function suspendedResult(completed: CompletedRun<unknown>, pending: readonly PendingCall[]): SuspendedRun {
  const { output: _output, ...record } = completed;
  return { ...record, status: 'suspended', pending };
}
