import type { Awaitable } from '../../internal/promise.js';
import type { HookRun } from '../../lifecycle/hook-run/hook-run.js';
import { RejectedError } from '../../lifecycle/run-failure.js';
import { type Waterfall, WaterfallCall } from '../../lifecycle/waterfall.js';
import type { CompletedRun, RunResult } from '../run-result.js';
import { reportToOuterRun } from './outer-call.js';
import type { Recorder, Run } from './run.js';
import { ownerOf } from './run-config.js';
import { Turn } from './turn/turn.js';
import { turnLimitOf } from './turn-limit.js';

const NOTHING_PENDING: readonly [] = Object.freeze([]) as readonly [];

/** The result of a run. Undefined if messages arrived during the last save, so that the run continues. */
type Conclusion = RunResult<unknown> | undefined;

/** Calls the `afterAgent` hooks, and ends the run. Throws RejectedError if the run was rejected. */
export function conclude(run: Run): Awaitable<Conclusion> {
  const { verdict } = run.end;
  if (verdict === undefined || verdict.action.type === 'suspend') return finish(run, run.answer ?? '');
  const { action, by, point } = verdict;
  if (action.type === 'reject') throw run.end.own(new RejectedError(action.reason, by, point));
  return respond(run, action.text);
}

/** Ends the run with the text of a lifecycle. The text is checked and saved like an answer of the model. */
async function respond(run: Run, text: string): Promise<Conclusion> {
  (run.turn ?? new Turn(run, 0)).events?.replaceText(text);
  run.conversation.addQueued();
  run.conversation.say({ role: 'assistant', content: [{ type: 'text', text }] });
  const { checkOutput } = await import('./output/check-output.js');
  run.output = await checkOutput(run, text);
  return finish(run, text);
}

function finish(run: Run, text: string): Awaitable<Conclusion> {
  const { afterAgent } = run.config.chain;
  run.end.closing = true;
  return afterAgent === undefined ? letGo(run, text) : saveAndPass(run, text, afterAgent);
}

/**
 * Saves the run before its `afterAgent` hooks. A separate function, because a closure in `finish` would allocate memory
 * in every run.
 */
function saveAndPass(run: Run, text: string, hooks: Waterfall<string>): Awaitable<Conclusion> {
  const saving = run.effects?.savesOnce ? undefined : run.save();
  return saving === undefined ? passText(run, text, hooks) : saving.then(() => passText(run, text, hooks));
}

function passText(run: Run, text: string, hooks: Waterfall<string>): Awaitable<Conclusion> {
  return new WaterfallCall(hooks, text, run).run((final) => letGo(run, final));
}

function letGo(run: Run, text: string): Awaitable<Conclusion> {
  const { recorder } = run.attached;
  return recorder === undefined ? complete(run, text) : leave(run, recorder, text);
}

/** Saves the run for the last time, and ends its claim on the session. */
async function leave(run: Run, recorder: Recorder, text: string): Promise<Conclusion> {
  const mayGoOn = canGoOn(run);
  if (await run.end.raceOwned(recorder.leave(run, { unlessPosted: mayGoOn }))) {
    if (mayGoOn) await run.effects?.checkEnd();
    return complete(run, text);
  }
  run.end.closing = false;
  return undefined;
}

/**
 * True if messages that callers send to the session can still join this run. After `afterAgent` they wait for the next
 * run.
 */
export function canGoOn(run: Run): boolean {
  const { attached, end, pending, config, context } = run;
  if (attached.recorder === undefined || end.verdict !== undefined || pending !== undefined) return false;
  return config.chain.afterAgent === undefined && context.turn < turnLimitOf(run);
}

/** Builds the result of the run from its final text. */
function complete(run: Run, text: string): RunResult<unknown> {
  const { config, conversation, response } = run;
  const completed: CompletedRun<unknown> = {
    status: 'completed',
    text,
    output: config.output === undefined ? text : run.output,
    messages: conversation.added,
    history: conversation.history,
    pending: NOTHING_PENDING,
    usage: run.usage,
    turns: run.turn?.modelCalls ?? 0,
    finishReason: response?.finishReason ?? 'other',
    annotations: response?.annotations,
    decisions: run.decisions,
    nested: conversation.nested,
  };
  let result: RunResult<unknown> = completed;
  if (run.pending !== undefined) {
    const { output: _output, ...record } = completed;
    result = { ...record, status: 'suspended', pending: run.pending };
  }
  run.end.finish();
  (run as HookRun).onEnd?.(result);
  ownerOf(run).life.endRun();
  if (run.origin.parent !== undefined) reportToOuterRun(run, result);
  if (run.listeners.active) run.listeners.emit({ type: 'run-end', runId: run.context.id, result });
  config.part?.end();
  return result;
}
