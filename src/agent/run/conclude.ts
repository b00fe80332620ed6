import type { Awaitable } from '../../internal/promise.js';
import { RejectedError } from '../../lifecycle/run-failure.js';
import { runWaterfall } from '../../lifecycle/waterfall.js';
import type { RunResult } from '../run-result.js';
import { checkOutput } from './output.js';
import type { Run } from './run.js';
import { Turn } from './turn/turn.js';

const NOTHING_PENDING: readonly [] = Object.freeze([]) as readonly [];

/** Calls the `afterAgent` hooks. Returns the text of the run. Throws RejectedError if the run was rejected. */
export function conclude(run: Run): Awaitable<string> {
  const { verdict } = run.end;
  if (verdict === undefined || verdict.action.type === 'suspend') return afterAgent(run, run.answer ?? '');
  const { action, by, point } = verdict;
  if (action.type === 'reject') throw run.end.own(new RejectedError(action.reason, by, point));
  return respond(run, action.text);
}

/** Ends the run with the text of a lifecycle. The text is checked and saved like an answer of the model. */
async function respond(run: Run, text: string): Promise<string> {
  (run.turn ?? new Turn(run, 0)).events?.replaceText(text);
  run.conversation.flush();
  run.conversation.push({ role: 'assistant', content: [{ type: 'text', text }] });
  run.output = await checkOutput(run, text);
  await run.save();
  return afterAgent(run, text);
}

function afterAgent(run: Run, text: string): Awaitable<string> {
  const { afterAgent } = run.config.chain;
  run.end.close();
  return afterAgent === undefined ? text : runWaterfall(afterAgent, text, run);
}

/** Ends the run with its final text. Returns its result. */
export function complete(run: Run, text: string): RunResult<unknown> {
  const { config, conversation, pending, response } = run;
  const record = {
    text,
    messages: conversation.added,
    history: conversation.history,
    usage: { ...run.usage },
    turns: run.turn?.modelCalls ?? 0,
    finishReason: response?.finishReason ?? 'other',
    annotations: response?.annotations,
    decisions: run.decisions,
  };
  const output = config.output === undefined ? text : run.output;
  const result: RunResult<unknown> =
    pending === undefined
      ? { status: 'completed', output, pending: NOTHING_PENDING, ...record }
      : { status: 'suspended', pending, ...record };
  run.end.finish();
  config.life.endRun();
  if (run.listeners.active) run.listeners.emit({ type: 'run-end', runId: run.context.id, result });
  return result;
}
