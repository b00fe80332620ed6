import { RunEndedError } from '../../errors.js';
import type { Clock } from '../../internal/clock.js';
import type { Ids } from '../../internal/ids.js';
import type { Logger } from '../../internal/logger.js';
import type { Stop } from '../../internal/stop.js';
import type { Decision } from '../../lifecycle/decision.js';
import { wordsOfEarlyEnd } from '../../lifecycle/hook-action.js';
import { ASIDE, type HookRun, RUN } from '../../lifecycle/hook-run/hook-run.js';
import { RunEnd, type Verdict } from '../../lifecycle/hook-run/run-end.js';
import type { RunReport } from '../../lifecycle/hook-run/run-report.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { checkAddition } from '../../model/check-messages.js';
import type { Message } from '../../model/message.js';
import type { Model, ModelResponse, Usage } from '../../model/model.js';
import type { UsageSum } from '../../model/usage.js';
import type { RejectAction, RespondAction, SessionInfo, Tool } from '../../tools/tool.js';
import type { ToolSnapshot } from '../../tools/tool-catalog.js';
import type { AgentEvent } from '../agent-event.js';
import { type RunListeners, StreamListeners } from '../listeners.js';
import type { PendingAnswer, PendingCall } from '../run-result.js';
import { ModelStep } from './calls/model-step.js';
import { Conversation } from './conversation.js';
import type { ResponseHandlers, RunConfig, RunOrigin } from './run-config.js';

/** The session and the stream of a run. */
export interface Attached {
  readonly session?: SessionInfo | undefined;
  /** The number of messages, from the first one, that the session has checked and whose tool calls have results. */
  readonly closed?: number | undefined;
  /** Receives all events if the run was started by `stream`. */
  readonly sink?: ((event: AgentEvent) => void) | undefined;
  /** Aborted when the consumer leaves the stream. */
  readonly left?: AbortSignal | undefined;
  /** The limit of `timeouts.runMs`, if the caller waited before the run began. */
  readonly limit?: Stop | undefined;
  /** Saves the session. Called after each completed turn. */
  readonly onTurn?: ((run: Run) => Promise<void>) | undefined;
  /** Claims the open calls of the session. Called before any of them runs. */
  readonly onResume?: ((run: Run) => Promise<void>) | undefined;
  readonly resumption?: Resumption | undefined;
  /** True if an aborted run saves its unsaved messages and the text that had been shown. */
  readonly keepsStopped?: boolean | undefined;
}

/** Stands for a run without session and stream. */
export const UNATTACHED: Attached = {};

/** Stands for a run without options. */
export const NO_OPTIONS = {};

/** The attempt of a run on the open calls of a session. */
interface Resumption {
  readonly attempt: number;
  readonly idempotencyKey: string;
}

const NO_DECISIONS: readonly Decision[] = Object.freeze([]);

/** The state of one run. Hooks and tools only see its `context`. */
export class Run implements HookRun {
  readonly config: RunConfig;
  readonly origin: RunOrigin;
  readonly attached: Attached;
  readonly listeners: RunListeners;
  readonly context: RunView;
  readonly end: RunEnd;
  readonly conversation: Conversation;
  readonly usage: UsageSum = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  /** The number of the current turn. */
  turn = 0;
  /** The number of model calls of the run loop, without retries by hooks. */
  asked = 0;
  /** The number of model calls in this turn, including retries by hooks. */
  attempt = 0;
  /** The last attempt whose parts were emitted. */
  streamed = 0;
  /** True during a model call. An error then counts as a model error if it does not name its source. */
  asking = false;
  /** True if the last model call had no hook, listener, abort signal or time limit. The loop then validates the response. */
  isPlain = false;
  /** True between `turn-start` and `turn-end`. */
  inTurn = false;
  /** True between `model-start` and `model-end`. */
  inModel = false;
  step: ModelStep | undefined = undefined;
  /** The text that the current model call has shown, in a run that keeps a stopped answer. */
  shown: { readonly attempt: number; readonly text: string } | undefined = undefined;
  /** The number of added messages that were passed to the session for a save. */
  saved = 0;
  handlers: ResponseHandlers | undefined = undefined;
  /** The tools of this turn. */
  tools: ToolSnapshot | undefined = undefined;
  /** The last response that a hook did not discard. */
  response: ModelResponse | undefined = undefined;
  /** The checked value of the answer, if the run has an output schema. */
  output: unknown = undefined;
  /** True after the model was asked once to correct its answer. */
  repaired = false;
  /** True after a tool call was refused by the service, and the model was asked again. */
  refused = false;
  /** The suspended tool calls. If set, the run ends as suspended. */
  pending: readonly (PendingCall | PendingAnswer)[] | undefined = undefined;
  suspended: Map<string, Verdict> | undefined = undefined;
  decisions: readonly Decision[] = NO_DECISIONS;

  constructor(config: RunConfig, origin: RunOrigin, attached: Attached) {
    this.config = config;
    this.origin = origin;
    this.attached = attached;
    this.listeners = attached.sink === undefined ? config.hub : new StreamListeners(attached.sink, config.hub);
    this.end = new RunEnd(config.life.stop);
    this.conversation = new Conversation(config.instructions);
    this.context = new RunView(this);
  }

  record(decision: Omit<Decision, 'turn'>): void {
    if (this.end.over) return;
    // Each caller passes a new object, and a copy takes as long as the rest of the hook.
    const entry = decision as Mutable<Decision>;
    entry.turn = this.turn;
    if (this.decisions === NO_DECISIONS) this.decisions = [entry];
    else (this.decisions as Decision[]).push(entry);
    if (this.listeners.active) this.listeners.emit({ type: 'decision', runId: this.context.id, decision: entry });
  }

  async ask(model: Model, messages: readonly Message[]): Promise<ModelResponse> {
    const step = new ModelStep(this, { model, messages, tools: [], run: this.context });
    Object.assign(step.request, { [ASIDE]: true });
    this.step = step;
    try {
      return await this.config.chain.modelCall(step.request, step);
    } finally {
      step.close();
      if (this.step === step) this.step = undefined;
    }
  }

  report(news: RunReport): boolean {
    if (this.end.over || !this.listeners.hears(news.type)) return false;
    this.listeners.emit({ ...news, runId: this.context.id, turn: this.turn });
    return true;
  }
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** The run, as hooks and tools see it. The id, the signal and copies are created on first access. */
export class RunView implements RunContext {
  readonly [RUN]: Run;
  private idValue: string | undefined = undefined;

  constructor(run: Run) {
    this[RUN] = run;
  }

  get id(): string {
    this.idValue ??= this.ids.next('run');
    return this.idValue;
  }

  get agent(): string {
    return this[RUN].config.agent;
  }

  get model(): Model {
    return this[RUN].config.model;
  }

  get instructions(): string | undefined {
    return this[RUN].config.instructions;
  }

  get session(): SessionInfo | undefined {
    return this[RUN].attached.session;
  }

  get context(): unknown {
    return this[RUN].origin.context;
  }

  get parent(): RunContext | undefined {
    return this[RUN].origin.parent as RunContext | undefined;
  }

  get signal(): AbortSignal {
    return this[RUN].end.stopper().signal;
  }

  get turn(): number {
    return this[RUN].turn;
  }

  get attempt(): number {
    return this[RUN].attached.resumption?.attempt ?? 1;
  }

  get idempotencyKey(): string {
    return this[RUN].attached.resumption?.idempotencyKey ?? this.id;
  }

  get messages(): readonly Message[] {
    return this[RUN].conversation.history;
  }

  get usage(): Usage {
    return { ...this[RUN].usage };
  }

  get tools(): readonly Tool[] {
    const { tools, config } = this[RUN];
    return (tools ?? config.catalog.current()).tools;
  }

  get logger(): Logger {
    return this[RUN].config.logger;
  }

  get ids(): Ids {
    return this[RUN].config.ids;
  }

  get clock(): Clock {
    return this[RUN].config.clock;
  }

  add(message: Message): void {
    const { end, conversation } = this[RUN];
    if (end.closing) throw new RunEndedError('run.add');
    checkAddition(message);
    conversation.enqueue(message);
  }

  end(action: RejectAction | RespondAction): void {
    const run = this[RUN];
    if (run.end.closing) throw new RunEndedError('run.end');
    const reason = wordsOfEarlyEnd(action);
    if (run.end.verdict !== undefined) return;
    const by = action.by ?? 'run.end';
    run.end.verdict = { action, by, point: 'end' };
    run.record({ type: action.type, by, point: 'end', reason });
    run.end.calls?.halt();
  }
}
