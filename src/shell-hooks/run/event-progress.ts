import type { JsonValue } from '../../internal/json.js';
import type { HookEventContext } from '../events/hook-event-context.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookEffects, HookReading, ToolChoiceLimit } from '../hook/effects.js';
import type { HookProblem } from '../hook/problem.js';

/** One hook in one event. */
export interface HookOutcome {
  readonly hook: string;
  readonly id: string;
  /** `skipped`: it may not run, and did not. */
  readonly status: 'completed' | 'failed' | 'skipped';
  /** Its output as it wrote it, without keys that would reach a prototype. */
  readonly output?: Readonly<Record<string, JsonValue>> | undefined;
  /** Why it failed or was skipped. */
  readonly problem?: HookProblem | undefined;
  readonly exitCode?: number | null | undefined;
  readonly durationMs: number;
}

/** A reason with whose it is. */
export interface HookVerdict {
  readonly by: string;
  readonly reason: string;
}

/** What all hooks of one event came to. */
export interface HookEventResult<Value = unknown> {
  /** Whether the operation goes on. */
  readonly shouldContinue: boolean;
  readonly cancelled: boolean;
  /** The hook that cancelled, and why. */
  readonly cancelledBy: string | undefined;
  readonly reason: string | undefined;
  /** Every hook that was reached, in order. */
  readonly outcomes: readonly HookOutcome[];
  /** The additional fields of all hooks; a later one wins. */
  readonly data: Readonly<Record<string, JsonValue>>;
  /** The same, hook by hook. */
  readonly outputs: Readonly<Record<string, JsonValue>>;
  /** The value, as the hooks rewrote it. */
  readonly value: Value;
  /** What the hooks tell the model, in order. */
  readonly modelTexts: readonly { readonly hook: string; readonly text: string }[];
  /** Set where the whole run is to end. */
  readonly stop: HookVerdict | undefined;
  /** Set where a person is to decide. */
  readonly ask: HookVerdict | undefined;
  /** Set where the agent is to go on. */
  readonly again: HookVerdict | undefined;
  /** What is left of the tools, hook by hook. */
  readonly tools: readonly ToolChoiceLimit[];
  /** Changes of the model request and the response that stands in its place, in order. */
  readonly model: readonly Pick<HookEffects, 'response' | 'request'>[];
}

/** What the hooks of one event have come to so far. */
export class EventProgress<Value> {
  value: Value;
  data: Readonly<Record<string, JsonValue>> = {};
  outputs: Readonly<Record<string, JsonValue>> = {};
  private readonly outcomes: HookOutcome[] = [];
  private readonly modelTexts: { hook: string; text: string }[] = [];
  private readonly tools: ToolChoiceLimit[] = [];
  private readonly model: Pick<HookEffects, 'response' | 'request'>[] = [];
  private readonly verdicts: { cancel?: HookVerdict; stop?: HookVerdict; ask?: HookVerdict; again?: HookVerdict } = {};

  constructor(readonly context: HookEventContext<Value>) {
    this.value = context.value;
  }

  /** Whether the hooks that are left do not run. */
  get isOver(): boolean {
    return this.verdicts.cancel !== undefined || this.verdicts.stop !== undefined;
  }

  take(hook: ShellHook, outcome: HookOutcome, { data, effects, output }: HookReading): void {
    this.outcomes.push(outcome);
    if (output !== undefined) {
      this.data = { ...this.data, ...data };
      this.outputs = { ...this.outputs, ...Object.fromEntries([[hook.name, data]]) };
    }
    for (const text of effects.modelTexts ?? []) this.modelTexts.push({ hook: hook.name, text });
    if (effects.tools) this.tools.push(effects.tools);
    if (effects.response !== undefined || effects.request) this.model.push(effects);
    for (const kind of ['cancel', 'stop', 'ask', 'again'] as const) {
      const reason = effects[kind];
      if (reason !== undefined) this.verdicts[kind] ??= { by: hook.name, reason };
    }
    this.value = this.context.rewrite?.(this.value, effects) ?? this.value;
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
      ...{ outcomes, data, outputs, value, modelTexts, stop, ask, again, tools, model },
    };
  }
}
