import type { JsonValue } from '../../internal/json.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookEffects, HookReading, ToolChoiceLimit } from '../hook/effects.js';
import type { HookEventContext } from '../hook/event-context.js';
import type { HookProblem } from '../hook/problem.js';
import { LONGEST } from '../hook/text.js';

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

  take(hook: ShellHook, outcome: HookOutcome, { data, effects, output }: HookReading): void {
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

/** Returns the name, or the name with the first number from 2 that no output has. */
function freeName(name: string, taken: object): string {
  if (!Object.hasOwn(taken, name)) return name;
  let number = 2;
  while (Object.hasOwn(taken, `${name}#${number}`)) number += 1;
  return `${name}#${number}`;
}
