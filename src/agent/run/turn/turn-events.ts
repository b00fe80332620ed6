import { HookResultInvalidError } from '../../../errors.js';
import type { RunEnd } from '../../../lifecycle/hook-run/run-end.js';
import type { StreamGate } from '../../../lifecycle/lifecycle.js';
import type { RegisteredLifecycle } from '../../../lifecycle/registered-lifecycle.js';
import type { RunContext } from '../../../lifecycle/run-context.js';
import { LifecycleError } from '../../../lifecycle/run-failure.js';
import type { ToolCallPart, ToolResultPart } from '../../../model/message.js';
import type { ModelPart, ModelResponse } from '../../../model/model.js';
import type { RunListeners } from '../../listeners.js';
import type { RunConfig } from '../run-config.js';

interface EventRun {
  readonly context: RunContext;
  readonly config: RunConfig;
  readonly end: RunEnd;
  readonly listeners: RunListeners;
  readonly attached: { readonly keepsStopped?: boolean | undefined };
}

interface EventTurn {
  readonly number: number;
  readonly attempt: number;
  readonly step: { readonly responses: readonly ModelResponse[] | undefined } | undefined;
  nextAttempt(): number;
}

/** Emits the events of one turn. Created only if the run has a listener. */
export class TurnEvents {
  private inTurn = false;
  private inModel = false;
  /** The last attempt whose parts were emitted. */
  private streamed = 0;
  /** The text that `holdStream` functions let through, to find the rest that follows after `afterModel`. */
  private passed: string | undefined = undefined;
  /** The text that the current model call has streamed. Recorded only if an aborted run keeps its text. */
  private kept: { readonly attempt: number; readonly text: string } | undefined = undefined;

  constructor(
    private readonly run: EventRun,
    private readonly turn: EventTurn,
  ) {}

  start(): void {
    this.inTurn = true;
    this.run.listeners.emit({ type: 'turn-start', ...this.place });
  }

  startModel(): void {
    this.inModel = true;
    this.run.listeners.emit({ type: 'model-start', ...this.place, model: this.run.config.model.id });
  }

  /** Emits the text that was not streamed, then `model-end`. Emits no text if a hook withheld the response. */
  endModel(response: ModelResponse | undefined): void {
    if (!this.inModel) return;
    if (response !== undefined && this.wantsParts) this.emitRest(response);
    this.inModel = false;
    this.kept = undefined;
    this.run.listeners.emit({ type: 'model-end', ...this.place, response });
  }

  /** Emits the missing `model-end`, and `turn-end`. */
  end(): void {
    this.endModel(undefined);
    if (!this.inTurn) return;
    this.inTurn = false;
    this.run.listeners.emit({ type: 'turn-end', ...this.place });
  }

  startTool({ id, name, input, invalidInput }: ToolCallPart): void {
    this.run.listeners.emit({ type: 'tool-start', ...this.place, callId: id, name, input: invalidInput ?? input });
  }

  /** Emits `tool-end` after the `wrapToolCall` hooks. A suspended call has no result. */
  endTool({ id, name }: ToolCallPart, part: ToolResultPart | undefined, error?: unknown): void {
    const { type: _type, id: _id, name: _name, ...result } = part ?? ({} as ToolResultPart);
    const ended = { type: 'tool-end', ...this.place, callId: id, name, result: part && result } as const;
    this.run.listeners.emit(error === undefined ? ended : { ...ended, error });
  }

  /** Emits a text as a new attempt, so that consumers replace the model's text by it. */
  replaceText(text: string): void {
    if (text === '' || !this.wantsParts) return;
    this.turn.nextAttempt();
    this.emitPart({ type: 'text-delta', text });
    this.kept = undefined;
  }

  /** Treats the text of this attempt as streamed, because an earlier process has shown the stored response. */
  skipText(attempt: number): void {
    this.streamed = attempt;
  }

  /** The text that an unfinished model call has streamed. */
  get shownText(): string {
    return this.kept?.text ?? '';
  }

  /**
   * Returns the callback for streamed parts. Returns undefined without a listener, so that the model need not stream.
   */
  partSink(): ((part: ModelPart) => void) | undefined {
    if (!this.wantsParts) return undefined;
    const { holdStream } = this.run.config.chain;
    if (holdStream === true) return () => {};
    return holdStream === false ? (part) => this.emitPart(part) : this.gatedSink(holdStream);
  }

  private gatedSink(holders: readonly RegisteredLifecycle[]): (part: ModelPart) => void {
    let attempt = -1;
    let gates: StreamGate[] = [];
    return (part) => {
      if (attempt !== this.turn.attempt) {
        attempt = this.turn.attempt;
        gates = holders.flatMap((holder) => gateOf(holder, this.run) ?? []);
        if (gates.length > 0) this.passed = '';
      }
      let open: ModelPart | undefined = part;
      for (const gate of gates) open = open && gate(open);
      if (open === undefined) return;
      if (gates.length > 0 && open.type === 'text-delta') this.passed += open.text;
      this.emitPart(open);
    };
  }

  /** Emits the text that was not streamed. If the streamed text has changed, a new attempt replaces it. */
  private emitRest(response: ModelResponse): void {
    const { turn, passed } = this;
    this.passed = undefined;
    if (this.streamed === turn.attempt && this.hasShownOther(response)) {
      // At a new attempt, a consumer clears the text of the other model call, even if the response has no text.
      turn.nextAttempt();
      this.emitPart({ type: 'text-delta', text: '' });
      return this.emitWhole(response);
    }
    if (this.run.config.chain.holdStream === true || this.streamed !== turn.attempt || turn.attempt === 0) {
      return this.emitWhole(response);
    }
    if (passed === undefined) return;
    const text = response.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    if (!text.startsWith(passed)) turn.nextAttempt();
    const rest = text.slice(text.startsWith(passed) ? passed.length : 0);
    if (rest !== '') this.emitPart({ type: 'text-delta', text: rest });
  }

  /** True if the streamed text and the response came from different model calls, such as before and after a retry. */
  private hasShownOther(response: ModelResponse): boolean {
    const { step, attempt } = this.turn;
    if (step === undefined || attempt === 0) return false;
    const streamed = step.responses?.[attempt];
    return streamed === undefined || (streamed !== response && step.responses?.includes(response) === true);
  }

  private emitWhole(response: ModelResponse): void {
    for (const part of response.content) {
      if (part.type === 'text' && part.text !== '') this.emitPart({ type: 'text-delta', text: part.text });
      else if (part.type === 'reasoning') this.emitPart({ type: 'reasoning-delta', text: part.text });
    }
  }

  /** Emits a streamed part. Ignores unknown part types of custom models. */
  private emitPart(part: ModelPart): void {
    const { type, text } = part;
    const { number: turn, attempt } = this.turn;
    const { listeners, attached, context } = this.run;
    const runId = context.id;
    if (type === 'tool-input-delta') {
      listeners.emit({ type, runId, turn, attempt, callId: part.id, name: part.name, text });
    } else if (type === 'text-delta' || type === 'reasoning-delta') {
      this.streamed = attempt;
      if (attached.keepsStopped && type === 'text-delta') {
        const before = this.kept?.attempt === attempt ? this.kept.text : '';
        this.kept = { attempt, text: before + text };
      }
      listeners.emit({ type, runId, turn, attempt, text });
    }
  }

  private get wantsParts(): boolean {
    const { listeners } = this.run;
    return listeners.hears('text-delta') || listeners.hears('reasoning-delta') || listeners.hears('tool-input-delta');
  }

  private get place(): { readonly runId: string; readonly turn: number } {
    return { runId: this.run.context.id, turn: this.turn.number };
  }
}

/** Returns the gate of a lifecycle. Its failure is a failure of the lifecycle, and not of the model that streams. */
function gateOf({ name, lifecycle }: RegisteredLifecycle, { context, end }: EventRun): StreamGate | undefined {
  const failed = (error: unknown) => end.own(new LifecycleError(name, 'holdStream', error));
  const guarded =
    (gate: StreamGate): StreamGate =>
    (part) => {
      try {
        return gate(part);
      } catch (error) {
        throw failed(error);
      }
    };
  try {
    const gate = typeof lifecycle.holdStream === 'function' ? lifecycle.holdStream(context as never) : undefined;
    if (typeof gate === 'function') return guarded(gate);
    if (gate === undefined || gate === null) return undefined;
    // A rejection must not stay unhandled.
    Promise.resolve(gate).catch(() => {});
    throw new HookResultInvalidError('holdStream must return a function that gets each part, or undefined', gate);
  } catch (error) {
    throw failed(error);
  }
}
