import type { JsonObject, JsonValue } from '../../internal/json.js';
import type { ProcessResult } from '../../process/run-process.js';
import { isEntryEvent, isGateEvent } from '../../programs/hook-event.js';
import { canonicalJson } from '../../trust/fingerprint/canonical-json.js';
import { dialectOf } from '../dialects/dialect.js';
import type { ShellHook } from '../hook/definition.js';
import {
  failed,
  type HookEffects,
  type HookProblem,
  type HookReading,
  SILENT,
  type ToolChoiceLimit,
} from '../hook/effects.js';
import type { HookEventContext } from '../hook/event-context.js';
import { redactorOf, shownTo } from '../hook/plain-json.js';
import { LONGEST, withShortTexts } from '../hook/text.js';
import type { ShellHooksSettings } from '../options.js';
import { withOwnArgs } from './matching.js';

/** The outcome of one hook at one event. */
export interface HookOutcome {
  readonly hook: string;
  readonly id: string;
  /** `skipped` means that the hook did not run, because it is not approved. */
  readonly status: 'completed' | 'failed' | 'skipped';
  /** The JSON object that the hook wrote, without keys that could change a prototype. */
  readonly output?: Readonly<Record<string, JsonValue>> | undefined;
  /** The reason for the status `failed` or `skipped`. */
  readonly problem?: HookProblem | undefined;
  readonly exitCode?: number | null | undefined;
  readonly durationMs: number;
}

/** A decision of a hook: the name of the hook and its reason. */
export interface HookVerdict {
  readonly by: string;
  readonly reason: string;
}

/** A program of a hook that ended. */
interface EndedHook {
  readonly result: ProcessResult;
  /** Time that the hook spent in the queue. */
  readonly waitedMs: number;
  /** The standard input of the hook, as JSON. */
  readonly input: string | undefined;
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
export function readResult(
  hook: ShellHook,
  { result, waitedMs, input, isAborted, tool }: EndedHook,
  settings: ShellHooksSettings,
): HookReading {
  // Many programs exit with code 0 when they are told to end. Such an exit without output must not count as permission.
  const hasNoAnswer = result.outcome === 'aborted' || (result.stoppedByHost && result.stdout.trim() === '');
  if (hasNoAnswer && !isAborted && isGateEvent(hook.event)) return CUT_OFF;
  const shown = (value: unknown) => shownTo(hook, value, settings.sensitive);
  const read = dialectOf(hook.dialect).read({ hook, result, shown, redact: redactorOf(hook, settings) });
  const effects = withShortTexts(withOwnArgs(hook, { tool, effects: read.effects }, settings.toolNames));
  return delayed({ ...read, effects, ignored: withoutEcho(read, input) }, waitedMs);
}

/**
 * Returns the names of the output fields that Keelson ignores. Leaves out fields that repeat the input, because many hooks
 * print their input to say that they change nothing.
 */
function withoutEcho({ ignored = [], output }: HookReading, input = '{}'): readonly string[] {
  if (ignored.length === 0 || output === undefined) return ignored;
  const given: JsonObject = JSON.parse(input);
  const isEcho = (name: string) =>
    Object.hasOwn(output, name) &&
    Object.hasOwn(given, name) &&
    canonicalJson(output[name]) === canonicalJson(given[name]);
  return ignored.filter((name) => !isEcho(name));
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
function delayed(reading: HookReading, waitedMs: number): HookReading {
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
  if (run.status !== 'failed' || problem?.kind === 'aborted' || refuses(reading)) return { outcome, reading };
  const isUndecided = problem?.code === 'no-resources' || problem?.kind === 'output-limit';
  const blocks = hook.onFailure === 'block' || (isUndecided && isEntryEvent(hook.event));
  if (!blocks) return { outcome, reading };
  const cancel = `hook "${hook.name}" failed: ${problem?.message}`;
  return { outcome, reading: { ...SILENT, problem, effects: { cancel } } };
}

/** Returns true if a hook that failed has cancelled the operation nevertheless. */
export function refuses({ refused, effects }: HookReading): boolean {
  return refused === true || effects.cancel !== undefined;
}

/** The combined result of all hooks of one event. */
export interface HookEventResult<Value = unknown> {
  /** False if a hook cancelled the operation or ended the run. */
  readonly shouldContinue: boolean;
  readonly cancelled: boolean;
  /** Name of the hook that cancelled. `reason` is the reason it gave. */
  readonly cancelledBy: string | undefined;
  readonly reason: string | undefined;
  /** Outcome of each hook that ran, failed or was skipped, in order. */
  readonly outcomes: readonly HookOutcome[];
  /** Data fields that the hooks wrote. If two hooks write the same field, the later hook wins. */
  readonly data: Readonly<Record<string, JsonValue>>;
  /** Data fields that the hooks wrote, by hook name. A second hook with the name `guard` is listed as `guard#2`. */
  readonly outputs: Readonly<Record<string, JsonValue>>;
  /** The value after the changes of all hooks. */
  readonly value: Value;
  /** Hook messages for the model, in order. */
  readonly modelTexts: readonly { readonly hook: string; readonly text: string }[];
  /** Set if a hook ends the run. */
  readonly stop: HookVerdict | undefined;
  /** Set if a hook wants a person to decide. */
  readonly ask: HookVerdict | undefined;
  /** Set if a hook makes the agent continue after its answer. */
  readonly again: HookVerdict | undefined;
  /** Tool limits of the hooks, in order. */
  readonly tools: readonly ToolChoiceLimit[];
  /** Changes of the model request and of the response, in order of the hooks. */
  readonly model: readonly Pick<HookEffects, 'response' | 'request'>[];
}

/** Maximum length of all messages to the model from the hooks of one event, in characters. */
const MOST_TEXT = 100_000;
const OMITTED = `Further messages of hooks are left out: at one event, they may have ${MOST_TEXT} characters together.`;

/** Collects the results of the hooks of one event. */
export class EventProgress<Value> {
  value: Value;
  data: Readonly<Record<string, JsonValue>> = {};
  outputs: Readonly<Record<string, JsonValue>> = {};
  private readonly outcomes: HookOutcome[] = [];
  private readonly modelTexts: { hook: string; text: string }[] = [];
  private room = MOST_TEXT;
  private readonly tools: ToolChoiceLimit[] = [];
  private readonly model: Pick<HookEffects, 'response' | 'request'>[] = [];
  private readonly verdicts: { cancel?: HookVerdict; stop?: HookVerdict; ask?: HookVerdict; again?: HookVerdict } = {};

  constructor(readonly context: HookEventContext<Value>) {
    this.value = context.value;
  }

  /** True if the remaining hooks of the event must not run. */
  get isOver(): boolean {
    return this.verdicts.cancel !== undefined || this.verdicts.stop !== undefined;
  }

  take(hook: ShellHook, { outcome, reading }: FinishedRun): void {
    const { data, effects, output } = reading;
    this.outcomes.push(outcome);
    if (output !== undefined) {
      this.data = { ...this.data, ...data };
      this.outputs = { ...this.outputs, ...Object.fromEntries([[freeName(hook.name, this.outputs), data]]) };
    }
    for (const text of effects.modelTexts ?? []) this.keepText(hook.name, text);
    if (effects.tools) this.tools.push(effects.tools);
    if (effects.response !== undefined || effects.request) this.model.push(effects);
    for (const kind of ['cancel', 'stop', 'ask', 'again'] as const) {
      const reason = effects[kind];
      if (reason !== undefined) this.verdicts[kind] ??= { by: hook.name, reason };
    }
    this.value = this.context.rewrite?.(this.value, effects) ?? this.value;
  }

  private keepText(hook: string, text: string): void {
    if (this.room < 0) return;
    this.room -= Math.min(text.length, LONGEST);
    this.modelTexts.push({ hook, text: this.room < 0 ? OMITTED : text });
  }

  result(): HookEventResult<Value> {
    const { cancel, stop, ask, again } = this.verdicts;
    const { value, data, outputs, outcomes, modelTexts, tools, model } = this;
    const verdict = cancel ?? stop;
    return {
      shouldContinue: verdict === undefined,
      cancelled: verdict !== undefined,
      cancelledBy: verdict?.by,
      reason: verdict?.reason,
      outcomes,
      data,
      outputs,
      value,
      modelTexts,
      stop,
      ask,
      again,
      tools,
      model,
    };
  }
}

/** Returns the name if it is free. Otherwise appends `#` and the lowest number from 2 on that makes the name free. */
function freeName(name: string, taken: object): string {
  if (!Object.hasOwn(taken, name)) return name;
  let number = 2;
  while (Object.hasOwn(taken, `${name}#${number}`)) number += 1;
  return `${name}#${number}`;
}
