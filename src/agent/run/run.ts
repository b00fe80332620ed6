import { RunEndedError } from '../../errors.js';
import type { Clock } from '../../internal/clock.js';
import type { Ids } from '../../internal/ids.js';
import type { Logger } from '../../internal/logger.js';
import type { Awaitable } from '../../internal/promise.js';
import { Stop } from '../../internal/stop.js';
import type { Decision } from '../../lifecycle/decision.js';
import { type RejectAction, type RespondAction, wordsOfEarlyEnd } from '../../lifecycle/hook-action.js';
import type { HookRun, Verdict } from '../../lifecycle/hook-run.js';
import type { RunContext, SessionInfo } from '../../lifecycle/run-context.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import { checkAddition } from '../../model/check-messages.js';
import type { Message } from '../../model/message.js';
import type { Model, ModelResponse, Usage } from '../../model/model.js';
import type { RunErrorState } from '../../model/run-error.js';
import type { UsageSum } from '../../model/usage.js';
import type { Tool } from '../../tools/tool.js';
import type { AgentEvent } from '../agent-event.js';
import { type RunListeners, StreamListeners } from '../listeners.js';
import type { PendingCall } from '../run-result.js';
import type { ToolSnapshot } from '../tool-catalog.js';
import type { CallsInFlight } from './calls-in-flight.js';
import type { ResumedCalls } from './continuation.js';
import type { ResponseHandlers, RunConfig, RunOrigin } from './run-config.js';

/** What a run is attached to beside its options. */
export interface Attached {
  readonly session?: SessionInfo | undefined;
  /** The listener that the run was started with, in a stream. */
  readonly sink?: ((event: AgentEvent) => void) | undefined;
  /** Aborted where the consumer of a stream leaves it. */
  readonly left?: AbortSignal | undefined;
  /** Called after every completed turn, before the next one. */
  readonly onTurn?: ((run: Run) => Promise<void>) | undefined;
}

const NO_DECISIONS: readonly Decision[] = Object.freeze([]);

/** One run: what its hooks see of it, and what the loop knows. One object of fixed shape; the rest is made on first use. */
export class Run implements HookRun {
  readonly config: RunConfig;
  readonly origin: RunOrigin;
  readonly attached: Attached;

  /** The messages that this run added. The same array as `history` while the two are equal. */
  added: Message[] = [];
  history: Message[] = this.added;
  /** What the model is sent: the history with the instructions before it. The same array where there are none. */
  outgoing: Message[];
  readonly total: UsageSum = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  turn = 0;
  /** Model calls begun in this turn. */
  attempt = 0;
  /** The last response that counted. */
  response: ModelResponse | undefined = undefined;
  /** The final answer, once the model has given one. */
  answer: string | undefined = undefined;
  /** The answer's value, once it was held against the output schema. */
  output: unknown = undefined;
  /** The calls that were left open, once there are any: the run ends as suspended. */
  pending: readonly PendingCall[] | undefined = undefined;
  /** The attempt whose parts have reached a listener. */
  streamed = 0;
  /** Whether the model was asked once more for an answer that matches the output schema. */
  repaired = false;
  /** Whether the model is being called: what is thrown then, and says not where it came from, is the model's. */
  asking = false;
  /** Which events wait for their end. */
  inTurn = false;
  inModel = false;
  verdict: Verdict | undefined = undefined;
  entered = 0;
  exited = 0;
  /** Set as `afterAgent` begins: from then on nothing can join the run. */
  closing = false;
  /** Set as the run ends: what was left behind by its hooks and models finds nothing to change. */
  over = false;
  stop: Stop | undefined = undefined;
  snapshot: ToolSnapshot | undefined = undefined;
  calls: CallsInFlight | undefined = undefined;
  /** Whether the calls of a resumed run still wait for their results. */
  resuming: ResumedCalls | undefined = undefined;
  /** Model calls that the loop asked for: turns, without what hooks repeat. */
  asked = 0;
  suspended: Map<string, Verdict> | undefined = undefined;
  decisions: readonly Decision[] = NO_DECISIONS;
  handlers: ResponseHandlers | undefined = undefined;
  private readonly listeners: RunListeners;
  private readonly agentStop: Stop;
  private aborted: Error | undefined = undefined;
  private queue: Message[] | undefined = undefined;
  private owned: Set<unknown> | undefined = undefined;
  private idValue: string | undefined = undefined;

  constructor(config: RunConfig, origin: RunOrigin, attached: Attached) {
    this.config = config;
    this.origin = origin;
    this.attached = attached;
    this.agentStop = config.life.stop;
    this.listeners = attached.sink === undefined ? config.hub : new StreamListeners(attached.sink, config.hub);
    this.outgoing = withInstructions(config.instructions, this.added);
  }

  get id(): string {
    this.idValue ??= this.config.ids.next('run');
    return this.idValue;
  }

  get agent(): string {
    return this.config.agent;
  }

  get model(): Model {
    return this.config.model;
  }

  get instructions(): string | undefined {
    return this.config.instructions;
  }

  get session(): SessionInfo | undefined {
    return this.attached.session;
  }

  get context(): unknown {
    return this.origin.context;
  }

  get parent(): RunContext | undefined {
    return this.origin.parent as RunContext | undefined;
  }

  get messages(): readonly Message[] {
    return this.history;
  }

  get usage(): Usage {
    return { ...this.total };
  }

  get tools(): readonly Tool[] {
    return (this.snapshot ?? this.config.catalog.current()).tools;
  }

  get logger(): Logger {
    return this.config.logger;
  }

  get ids(): Ids {
    return this.config.ids;
  }

  get clock(): Clock {
    return this.config.clock;
  }

  get signal(): AbortSignal {
    return this.stopper().signal;
  }

  /** What the run has done so far, for the error that ends it. */
  state(): RunErrorState {
    return { messages: this.added, history: this.history, usage: this.usage };
  }

  /** The run's stop, made on first use. */
  stopper(): Stop {
    if (this.stop === undefined) {
      this.stop = new Stop();
      if (this.aborted !== undefined) this.stop.stop(this.aborted);
      else if (!this.closing) this.stop.whenReleased(this.agentStop.onStop(() => void this.abortError));
    }
    return this.stop;
  }

  /** Ends the run with this error at its next await. The first call counts. */
  abort(error: Error): void {
    if (this.aborted !== undefined) return;
    this.aborted = this.own(error);
    this.stop?.stop(error);
    this.calls?.halt();
  }

  get abortError(): Error | undefined {
    if (this.agentStop.stopped && this.aborted === undefined) this.abort(new RunAbortedError(this.agentStop.reason));
    return this.aborted;
  }

  /** So short that it costs no call: the loop asks often. */
  throwIfAborted(): void {
    if (this.agentStop.stopped || this.aborted !== undefined) throw this.abortError;
  }

  race<T>(value: Awaitable<T>, giveUp?: () => void): Awaitable<T> {
    return this.stop === undefined ? value : this.stop.race(value, giveUp);
  }

  /** Has the session save the turn; an abort ends the wait. Undefined where there is no session. */
  save(): Awaitable<void> {
    return this.attached.onTurn === undefined ? undefined : this.race(this.attached.onTurn(this));
  }

  /** Lets go of everything that the run follows: nothing that comes later changes it. */
  finish(): void {
    this.closing = true;
    this.over = true;
    this.stop?.release();
  }

  /** Adds a message that the run made to the conversation. */
  push(message: Message): void {
    this.added.push(message);
    if (this.history !== this.added) this.history.push(message);
    if (this.outgoing !== this.history) this.outgoing.push(message);
  }

  /** Replaces the working messages from here on; what the run added stays in its record. */
  replaceHistory(messages: readonly Message[]): void {
    this.history = [...messages];
    this.outgoing = withInstructions(this.instructions, this.history);
  }

  add(message: Message): void {
    if (this.closing) throw new RunEndedError('run.add');
    checkAddition(message);
    this.queue ??= [];
    this.queue.push(message);
  }

  /** Whether something waits to join the conversation. */
  get hasAdditions(): boolean {
    return this.queue !== undefined;
  }

  /** As `add`, before what is there already. */
  addFirst(messages: readonly Message[]): void {
    if (messages.length > 0) this.queue = [...messages, ...(this.queue ?? [])];
  }

  /** Moves what was added into the conversation; whether there was anything. */
  flush(): boolean {
    if (this.queue === undefined) return false;
    for (const message of this.queue) this.push(message);
    this.queue = undefined;
    return true;
  }

  end(action: RejectAction | RespondAction): void {
    if (this.closing) throw new RunEndedError('run.end');
    const reason = wordsOfEarlyEnd(action);
    if (this.verdict !== undefined) return;
    const by = action.by ?? 'run.end';
    this.verdict = { action, by, point: 'end' };
    this.record({ type: action.type, by, point: 'end', reason });
    this.calls?.halt();
  }

  suspendCall(id: string, verdict: Verdict): void {
    this.suspended ??= new Map();
    this.suspended.set(id, verdict);
  }

  record(decision: Omit<Decision, 'turn'>): void {
    if (this.over) return;
    const entry: Decision = { ...decision, turn: this.turn };
    if (this.decisions === NO_DECISIONS) this.decisions = [entry];
    else (this.decisions as Decision[]).push(entry);
    if (this.listening) this.emit({ type: 'decision', runId: this.id, decision: entry });
  }

  own<E>(error: E): E {
    this.owned ??= new Set();
    this.owned.add(error);
    return error;
  }

  owns(error: unknown): boolean {
    return this.owned?.has(error) ?? false;
  }

  /** Whether an event would reach anybody: ask before one is made. */
  get listening(): boolean {
    return this.listeners.active;
  }

  emit(event: AgentEvent): void {
    this.listeners.emit(event);
  }
}

function withInstructions(instructions: string | undefined, messages: Message[]): Message[] {
  return instructions === undefined ? messages : [{ role: 'system', content: instructions }, ...messages];
}
