import type { ProcessResult } from '../../process/run-process.js';
import { isEntryEvent, isGateEvent } from '../../programs/hook-event.js';
import { dialectOf } from '../dialects/list.js';
import { withOwnArgs } from '../dialects/tool-names.js';
import type { ShellHook } from '../hook/definition.js';
import { failed, type HookReading, SILENT } from '../hook/effects.js';
import { isUndecided } from '../hook/problem.js';
import { withShortTexts } from '../hook/text.js';
import type { HookOutcome } from './event-progress.js';
import { type Execution, type HookExecutorOptions, redactorOf } from './execution.js';
import { shownTo, withoutEcho } from './input.js';

/** A program of a hook that ended. */
export interface EndedHook {
  readonly result: Execution & ProcessResult;
  /** True if the operation was aborted. */
  readonly isAborted: boolean;
  /** Name of the tool. Undefined except at tool events. */
  readonly tool: string | undefined;
}

/** The outcome of a hook, and its interpreted result. */
export interface FinishedRun {
  readonly outcome: HookOutcome;
  readonly reading: HookReading;
}

/** Interprets the result of a hook's program. */
export function readExecution(
  hook: ShellHook,
  { result, isAborted, tool }: EndedHook,
  options: HookExecutorOptions,
): HookReading {
  // Many programs exit with code 0 when they are told to end. Without output, this must not count as permission.
  const hasNoAnswer = result.outcome === 'aborted' || (result.toldByHost && result.stdout.trim() === '');
  if (hasNoAnswer && !isAborted && isGateEvent(hook.event)) return CUT_OFF;
  const shown = (value: unknown) => shownTo(hook, value, options.sensitive);
  const read = dialectOf(hook.dialect).read({ hook, result, shown, redact: redactorOf(hook, options) });
  const ownArgs = withOwnArgs(hook, tool, options.toolNames);
  const effects = withShortTexts(ownArgs(read.effects));
  return delayed({ ...read, effects, ignored: withoutEcho(read, result.input) }, result);
}

/**
 * Interpreted result of a guard that Keelson terminated because this process is ending. The guard could not answer, so
 * the operation is cancelled.
 */
const CUT_OFF: HookReading = {
  ...failed({ kind: 'aborted', message: 'It was terminated because this process is ending' }),
  effects: { cancel: 'it did not answer before this process had to end' },
};

/** Marks a time-out as lack of resources if the hook spent part of its time limit in the queue. */
function delayed(reading: HookReading, { waitedMs = 0 }: Execution): HookReading {
  const { problem } = reading;
  if (problem?.kind !== 'timed-out' || waitedMs === 0) return reading;
  const message = `${problem.message}, after it had waited ${waitedMs} ms for other hooks`;
  return { ...reading, problem: { ...problem, code: 'no-resources', message } };
}

/**
 * Returns the outcome of a hook. A failure cancels the operation if the hook has `onFailure: 'block'`. It also cancels
 * if a hook of `before_tool` or `before_agent` got no resources to run, or wrote more output than can be read.
 */
export function finishHook(hook: ShellHook, reading: HookReading, run: Omit<HookOutcome, 'hook' | 'id'>): FinishedRun {
  const { output, problem } = reading;
  const outcome: HookOutcome = { hook: hook.name, id: hook.id, ...run, output, problem };
  const mustRun = hook.onFailure === 'block' || (isEntryEvent(hook.event) && isUndecided(problem));
  const blocks = mustRun && run.status === 'failed' && problem?.kind !== 'aborted';
  if (!blocks || refuses(reading)) return { outcome, reading };
  const cancel = `hook "${hook.name}" failed: ${problem?.message}`;
  return { outcome, reading: { ...SILENT, problem, effects: { cancel } } };
}

/** Returns true if a hook that failed has cancelled the operation nevertheless. */
export function refuses({ refused, effects }: HookReading): boolean {
  return refused === true || effects.cancel !== undefined;
}
