import { HookResultInvalidError, RunEndedError } from '../../errors.js';
import type { Clock } from '../../internal/clock.js';
import type { Ids } from '../../internal/ids.js';
import type { Logger } from '../../internal/logger.js';
import type { Stop } from '../../internal/stop.js';
import type { Decision } from '../../lifecycle/decision.js';
import { wordsOf } from '../../lifecycle/hook-action.js';
import { type HookRun, hookRunOf, RUN } from '../../lifecycle/hook-run/hook-run.js';
import { Pairing } from '../../lifecycle/hook-run/pairing.js';
import { RunEnd } from '../../lifecycle/hook-run/run-end.js';
import type { RunReport } from '../../lifecycle/hook-run/run-reports.js';
import type { RunContext, Summary } from '../../lifecycle/run-context.js';
import { checkAddition } from '../../model/check-messages.js';
import type { Message, SuspendedCall, ToolResultPart } from '../../model/message.js';
import type { Model, ModelResponse, Usage } from '../../model/model.js';
import { summaryMessage } from '../../model/summary-message.js';
import { addUsage, type UsageSum } from '../../model/usage.js';
import type {
  BackgroundOptions,
  BackgroundWork,
  RejectAction,
  RespondAction,
  SessionInfo,
  Tool,
} from '../../tools/tool.js';
import type { AgentEvent } from '../agent-event.js';
import { type RunListeners, StreamListeners } from '../listeners.js';
import type { SuspendedRun } from '../run-result.js';
import type { Cancellable } from '../run-stream.js';
import { startBackground } from './background.js';
import { Conversation } from './conversation.js';
import { outerCallOf, pathInside } from './outer-call.js';
import type { RunConfig, RunOrigin } from './run-config.js';
import type { CurrentTurn, NestedPlace, RunClaim, RunEffects } from './run-parts.js';
import type { RunPosts } from './run-posts.js';
import { limitTurns } from './turn-limit.js';

/** The session and the stream of a run, if it has them. */
export interface Attached {
  readonly session?: SessionInfo | undefined;
  /** The number of leading messages that the session has already checked. All their tool calls have results. */
  readonly closed?: number | undefined;
  /** The reasons why the open calls wait, from the record of the session. */
  readonly waits?: readonly SuspendedCall[] | undefined;
  /** The number of turns of the earlier run, if this nested run continues one. */
  readonly turnsBefore?: number | undefined;
  /** True if the call of this nested run is repeated after a crash. The run then repeats its calls without a result. */
  readonly isRepeated?: boolean | undefined;
  /** Further tools. If one has the name of an agent's tool, the agent's tool is used. */
  readonly tools?: readonly Tool[] | undefined;
  /** Receives all events if the run was started by `stream`. */
  readonly sink?: ((event: AgentEvent) => void) | undefined;
  /** Receives the run when it starts. */
  readonly onStart?: ((run: Cancellable) => void) | undefined;
  /** Aborted when the consumer leaves the stream. */
  readonly left?: AbortSignal | undefined;
  /** The time limit `timeouts.runMs`, if it started before the run, such as during a wait in the queue. */
  readonly limit?: Stop | undefined;
  /** Writes the messages and decisions of the run to the record of its session. */
  readonly recorder?: Recorder | undefined;
  /** True if the text that an aborted run has shown is added to its messages. */
  readonly keepsStopped?: boolean | undefined;
  /** Time in milliseconds that the run continues while nobody reads its log. Default: until its end. */
  readonly orphanMs?: number | undefined;
  /** The id of a run of a session, or of a nested run. Default: generated on first access. */
  readonly runId?: string | undefined;
}

/** Writes the messages and decisions of a run to the record. Implemented by a session. */
export interface Recorder {
  readonly claim: RunClaim;
  readonly posts: RunPosts;
  /** The agent name of the next entries. A handover changes it. */
  readonly start: { agent: string };
  /** The resumed calls: the highest number of starts of one call, and a key that identifies all of them together. */
  readonly resumed: { readonly attempt: number; readonly key: string } | undefined;
  /** True once the last append of the run was sent. False again if the run continues. */
  readonly isLeaving: boolean;
  /** Returns the idempotency key of a call of this turn. Undefined if the key derives from the id of the run. */
  callKey(call: string): string | undefined;
  /** Returns how often a call has started, including this time. */
  attemptOf(call: string): number;
  /** Adds the decisions of a resumed run. */
  decide(run: Run): Promise<void>;
  /** Adds the messages of the run since the last save. */
  save(run: Run): Promise<void>;
  /**
   * Saves for the last time, records the waiting calls, and ends the claim. `error` is the error of a failed run.
   *
   * With `unlessPosted`, keeps the claim and resolves with false if messages wait or arrive meanwhile.
   */
  leave(run: Run, end: { readonly unlessPosted?: boolean; readonly error?: unknown }): Promise<boolean>;
  /** Records the start of a background work, and starts the work. Returns its id. */
  background(work: BackgroundWork, label: string): Promise<string>;
  /** Adds the result of a call without waiting for the store. */
  addResult(run: Run, part: ToolResultPart): void;
  /** Returns the recorder of a nested run of this turn. Its entries belong to the same session. */
  nested(place: NestedPlace): Recorder;
  /** Adds a summary with the next save. `replacement` is the message of the summary in the run. */
  summarize(run: Run, summary: Summary, replacement: Message | undefined): void;
}

/** Stands for a run without session and stream. */
export const UNATTACHED: Attached = {};

const NO_DECISIONS: readonly Decision[] = Object.freeze([]);

/** One run: its conversation and its end. Hooks and tools see only its `context`. */
export class Run implements HookRun {
  listeners: RunListeners;
  readonly context: RunView;
  readonly end: RunEnd;
  pairing = new Pairing();
  readonly conversation: Conversation;
  /** Undefined before the first turn. */
  turn: CurrentTurn | undefined = undefined;
  /** The final answer, once the model has given one. */
  answer: string | undefined = undefined;
  /** The last response that a hook did not discard. */
  response: ModelResponse | undefined = undefined;
  /** The checked value of the answer, if the run has an output schema. */
  output: unknown = undefined;
  /** The suspended tool calls, or the suspended answer. If set, the run ends suspended. */
  pending: SuspendedRun['pending'] | undefined = undefined;
  /** True after the run has asked the model once to correct its answer. */
  repaired = false;
  /** True after the run has asked the model again once, because its answer was empty or its tool call was malformed. */
  askedAgain = false;
  decisions: readonly Decision[] = NO_DECISIONS;
  effects: RunEffects | undefined = undefined;
  toolErrors: Map<string, unknown> | undefined = undefined;
  private readonly total: UsageSum = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

  constructor(
    /** The configuration of the current agent. `config.part` is set after a handover. */
    public config: RunConfig,
    readonly origin: RunOrigin,
    readonly attached: Attached,
  ) {
    const isAlone = attached.sink === undefined && origin.parent === undefined;
    this.listeners = isAlone ? config.hub : listenersOf(this);
    this.end = new RunEnd(config.life.stop);
    this.context = new RunView(this);
    this.conversation = new Conversation(this.context.instructions);
    if (config.totalTurns !== undefined) limitTurns(this, config.totalTurns);
    // The parent may be a run of an older copy of this library.
    const watch = hookRunOf(origin.parent)?.listeners?.watch;
    if (watch !== undefined) this.listeners = watch.listen(this.listeners, this.context.path);
  }

  /** The tokens so far. The same object is updated with each call. */
  get usage(): UsageSum {
    return this.effects === undefined ? this.total : this.effects.usageOver(this.total);
  }

  /** Adds tokens to this run and all enclosing runs. A run that has ended does not change, nor does its result. */
  spend(usage: Usage): void {
    if (!this.end.over) addUsage(this.usage, usage);
    const { parent } = this.origin;
    // The parent may be a run of an older copy of this library.
    if (parent !== undefined) hookRunOf(parent)?.spend?.(usage);
  }

  /** Adds the new messages to the record of the session. An abort ends the wait. Returns undefined without a session. */
  save(): Promise<void> | undefined {
    const { recorder } = this.attached;
    return recorder && this.end.raceOwned(recorder.save(this));
  }

  record(decision: Omit<Decision, 'turn'>): void {
    if (this.end.over) return;
    const { turn, path } = this.context;
    const entry = path === undefined ? { ...decision, turn } : { ...decision, turn, path };
    if (this.effects?.decided(entry) === false) return;
    if (this.decisions === NO_DECISIONS) this.decisions = [];
    (this.decisions as Decision[]).push(entry);
    (this as HookRun).onDecision?.(entry);
    if (this.listeners.active) this.listeners.emit({ type: 'decision', runId: this.context.id, decision: entry });
  }

  report(news: RunReport): boolean {
    if (this.end.over) return false;
    (this as HookRun).onReport?.(news);
    const isHeard = this.listeners.hears(news.type);
    const { id: runId, turn } = this.context;
    if (this.listeners.active) this.listeners.emit({ ...news, runId, turn });
    return isHeard;
  }
}

function listenersOf({ config, origin: { parent, nested }, attached: { sink } }: Run): RunListeners {
  const around = outerCallOf(parent)?.events;
  return new StreamListeners(config.hub, { sink, hasNested: nested === true, around, path: pathInside(parent) });
}

/** The view of a run for hooks and tools. Creates the id, the signal and copies on first access. */
export class RunView implements RunContext {
  readonly [RUN]: Run;
  agent: string;
  model: Model;
  instructions: string | undefined;
  readonly session: SessionInfo | undefined;
  readonly context: unknown;
  readonly parent: RunContext | undefined;
  logger: Logger;
  ids: Ids;
  clock: Clock;
  private idValue: string | undefined = undefined;

  constructor(run: Run) {
    const { config, origin, attached } = run;
    this[RUN] = run;
    this.agent = config.agent;
    this.model = config.model;
    this.instructions = typeof config.instructions === 'string' ? config.instructions : undefined;
    this.session = attached.session;
    this.context = origin.context;
    this.parent = (hookRunOf(origin.parent)?.context ?? origin.parent) as RunContext | undefined;
    this.logger = config.logger;
    this.ids = config.ids;
    this.clock = config.clock;
  }

  get id(): string {
    const { attached, context } = this[RUN];
    if (context !== this) return context.id;
    this.idValue ??= attached.runId ?? this.ids.next('run');
    return this.idValue;
  }

  get path(): readonly string[] | undefined {
    return pathInside(this[RUN].origin.parent);
  }

  get signal(): AbortSignal {
    return this[RUN].end.stopper().signal;
  }

  get turn(): number {
    return this[RUN].turn?.number ?? 0;
  }

  get attempt(): number {
    return this[RUN].attached.recorder?.resumed?.attempt ?? 1;
  }

  get idempotencyKey(): string {
    return this[RUN].attached.recorder?.resumed?.key ?? this.id;
  }

  get messages(): readonly Message[] {
    return this[RUN].conversation.history;
  }

  get usage(): Usage {
    return { ...this[RUN].usage };
  }

  get tools(): readonly Tool[] {
    const { turn, config } = this[RUN];
    return (turn?.tools ?? config.catalog.current()).tools;
  }

  add(message: Message): void {
    const { end, conversation, effects } = this[RUN];
    if (end.closing) throw new RunEndedError('run.add');
    checkAddition(message);
    conversation.enqueue(message);
    effects?.added(message);
  }

  background(work: BackgroundWork, options: BackgroundOptions): Promise<string> {
    return startBackground(this[RUN], work, options);
  }

  summarize(summary: Summary): void {
    const { end, conversation, attached } = this[RUN];
    if (end.closing) throw new RunEndedError('run.summarize');
    if (summary.messages !== undefined) conversation.adopt(summary.messages);
    const replacement = summary.text === '' ? undefined : summaryMessage(summary.text);
    attached.recorder?.summarize(this[RUN], summary, replacement);
    conversation.summarize(summary, replacement);
  }

  end(action: RejectAction | RespondAction): void {
    const run = this[RUN];
    if (run.end.closing) throw new RunEndedError('run.end');
    if (action?.type !== 'reject' && action?.type !== 'respond') {
      throw new HookResultInvalidError('run.end takes HookAction.reject() or HookAction.respond()', action);
    }
    const reason = wordsOf(action);
    run.effects?.ended(action);
    const by = action.by ?? 'run.end';
    if (!run.end.decide({ action, by, point: 'end' })) return;
    run.record({ type: action.type, by, point: 'end', reason });
    run.end.calls?.halt();
  }
}
