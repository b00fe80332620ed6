import type { Verdict } from '../../lifecycle/hook-run/run-end.js';
import { RejectedError } from '../../lifecycle/run-failure.js';
import { PendingWaterfall, runWaterfall, type Waterfall } from '../../lifecycle/waterfall.js';
import type { CompletedRun, RunResult, SuspendedRun } from '../run-result.js';
import { checkOutput } from './output.js';
import type { Run } from './run.js';
import { announceText } from './run-events.js';
import { saveRun } from './turn.js';

const NOTHING_PENDING: readonly [] = Object.freeze([]) as readonly [];

/** Calls the `afterAgent` hooks. Returns the text of the run. Throws RejectedError if the run was rejected. */
export function conclude(run: Run): string | Promise<string> {
  return run.end.verdict === undefined ? afterAgent(run, run.end.answer ?? '') : obey(run, run.end.verdict);
}

function obey(run: Run, { action, by, point }: Verdict): string | Promise<string> {
  if (action.type === 'suspend') return afterAgent(run, run.end.answer ?? '');
  if (action.type === 'reject') throw run.end.own(new RejectedError(action.reason, by, point));
  return respond(run, action.text);
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

function afterAgent(run: Run, text: string): string | Promise<string> {
  run.end.closing = true;
  return run.config.chain.afterAgent === undefined ? text : passText(run, text);
}

function passText(run: Run, text: string): string | Promise<string> {
  const passed = runWaterfall(run.config.chain.afterAgent as Waterfall<string>, text, run);
  return passed instanceof PendingWaterfall ? passed.finish() : passed;
}

/** Ends the run with its final text. Returns its result. */
export function complete(run: Run, text: string): RunResult<unknown> {
  run.end.finish();
  run.config.life.endRun();
  // One object literal: spreading the common members would take a tenth of the time of a run.
  const completed = {
    status: 'completed',
    text,
    output: run.config.output === undefined ? text : run.output,
    messages: run.conversation.added,
    history: run.conversation.history,
    pending: NOTHING_PENDING,
    usage: run.usage,
    turns: run.asked,
    finishReason: run.response?.finishReason ?? 'other',
    annotations: run.response?.annotations,
    decisions: run.decisions,
  } as const;
  const result = run.pending === undefined ? completed : suspendedResult(completed, run.pending);
  if (run.listeners.active) run.listeners.emit({ type: 'run-end', runId: run.context.id, result });
  return result;
}

/** Converts to a suspended result, which has no `output`. */
function suspendedResult(completed: CompletedRun<unknown>, pending: SuspendedRun['pending']): SuspendedRun {
  const { output: _output, ...record } = completed;
  return { ...record, status: 'suspended', pending };
}
