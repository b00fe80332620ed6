import type { JsonValue } from '../../internal/json.js';
import { type Awaitable, createDeferred } from '../../internal/promise.js';
import type { Message } from '../../model/message.js';
import type { Model, ModelResponse, Usage } from '../../model/model.js';
import type { RunLog } from '../../state/run-log/run-log.js';
import type { Decision, HookPoint } from '../decision.js';
import type { ModelCallRequest } from '../lifecycle.js';
import type { RegisteredLifecycle } from '../registered-lifecycle.js';
import type { RunContext } from '../run-context.js';
import type { Pairing } from './pairing.js';
import type { RunEnd } from './run-end.js';
import type { RunReport } from './run-reports.js';

/** The members of a run that hooks can read or change, directly or through a `RunContext`. */
export interface HookRun {
  /** Passed to every hook of the run. */
  readonly context: RunContext;
  readonly end: RunEnd;
  readonly pairing: Pairing;
  /** Set while a run resumes tool calls. `later` holds the messages that follow these calls. */
  readonly conversation: {
    readonly resuming:
      | { readonly calls?: { readonly later: readonly Message[]; readonly decisions: object } | undefined }
      | undefined;
  };
  /**
   * The connection to the session of the run. Used to name the question that the run waits for, and to hear of urgent
   * messages.
   */
  readonly attached: {
    readonly recorder?:
      | { readonly claim: QuestionClaim; readonly posts: UrgentPosts; callKey(call: string): string | undefined }
      | undefined;
    /** The number of turns of the earlier run that this nested run continues. */
    readonly turnsBefore?: number | undefined;
  };
  /** Undefined before the first turn. */
  readonly turn: HookTurn | undefined;
  /** The answer of the model; undefined before it. A suspended run, whose `pending` is set, may have one too. */
  readonly answer: string | undefined;
  readonly pending: readonly object[] | undefined;
  /** Set for a durable run. `hasEnded` is true once another attempt has taken over the run. */
  readonly effects?: { readonly hasEnded: boolean } | undefined;
  /** Counts the tokens of a model call in this run and in its enclosing runs. */
  spend(usage: Usage): void;
  /** Adds a decision to the result and emits a `decision` event. */
  record(decision: Omit<Decision, 'turn'>): void;
  /** The decisions so far. */
  readonly decisions: readonly Decision[];
  /** Emits an event. Returns false if this type of event has no listener. */
  report(news: RunReport): boolean;
  /** Limits that this run sets for its nested runs. */
  budgets?: readonly Budget[] | undefined;
  /** The errors that the tools of the running calls threw, by call id. */
  toolErrors?: Map<string, unknown> | undefined;
  /** Messages for the nested runs of the running calls, by call id. */
  briefings?: Map<string, readonly Message[]> | undefined;
  /**
   * Called when a ready-made lifecycle asks a person or compacts the conversation. Resolves to a reason to deny the
   * call or to skip the compaction, or to undefined.
   */
  onMoment?: (moment: Moment) => Promise<string | undefined>;
  /** Called with each decision, as soon as it is made. */
  onDecision?: (decision: Decision) => void;
  /** Called with each event of a ready-made lifecycle or a loader. */
  onReport?: (news: RunReport) => void;
  /** Called once, after the last hook of the run that can change the outcome. */
  onEnd?: (outcome: RunOutcome) => void;
  /** `watch` observes the run and its nested runs. */
  readonly listeners: { readonly watch?: RunWatch | undefined };
}

/** Observes runs, to write a trace. */
export interface RunWatch {
  /** Returns the listeners of a nested run, together with this watch. */
  listen<Listeners extends object>(listeners: Listeners, path: readonly string[] | undefined): Listeners;
  /** Called before each call of a hook. */
  startHook(site: HookSite): WatchedHook;
  /** Called before each call of a model. The returned function is called with the response or the error. */
  startModelCall(run: HookRun, request: ModelCallRequest, attempt: number): (outcome: ModelOutcome) => void;
}

/** A hook call that a watch observes. */
export interface WatchedHook {
  /** Called when a hook calls `next`. The returned function must get the promise of the result. */
  startNext(): (result: Promise<unknown>) => void;
  end(): void;
}

/** The response or the error of a model call. */
export interface ModelOutcome {
  readonly response?: ModelResponse | undefined;
  readonly error?: unknown;
}

/** The outcome of a run, as its lifecycles see it. */
export type RunOutcome =
  | { readonly status: 'completed' | 'suspended'; readonly text: string }
  | { readonly status: 'failed'; readonly error: unknown };

interface QuestionClaim {
  waitFor(question: string | undefined): void;
}

interface UrgentPosts {
  /** True if a message with `when: 'now'` waits. Such a message ends the wait for a person's answer. */
  readonly isUrgent: boolean;
  /** Calls `listener` when an urgent message arrives. Returns a function that removes the listener. */
  onUrgent(listener: () => void): () => void;
}

/** A limit that a run sets for its nested runs, such as the number of model calls. */
export interface Budget {
  /** The name of the lifecycle or of the option that sets the limit. */
  readonly by: string;
  /**
   * The `wrapModelCall` hook that counts the calls of the run itself. Undefined if only the calls of nested runs count.
   */
  readonly counter?: unknown;
  /**
   * Called before a model call. Returns a reason to refuse the call, or a function that receives the usage of the call.
   */
  admit(call: BudgetedCall): string | ((usage: Usage | undefined) => void);
  /** Called before a tool call. Returns a reason to refuse the call. */
  admitTool?(): string | undefined;
}

/** A model call of a nested run. */
export interface BudgetedCall {
  /** The id of the model. */
  readonly model: string;
  /** True for the first model call of a turn. */
  readonly beginsTurn: boolean;
}

/** An event in a ready-made lifecycle that shell hooks are told of. They can deny a call, and prevent a compaction. */
export type Moment =
  | ({ readonly kind: 'approval' | 'denial'; readonly reason: string } & AskedCall)
  | { readonly kind: 'compaction' | 'compacted' };

/** A tool call that needs the decision of a person. */
interface AskedCall {
  readonly call: { readonly id: string; readonly name: string; readonly input: unknown };
}

/** The current turn of a run. */
export interface HookTurn {
  /** The number of turns of the run that have called the model. */
  readonly modelCalls: number;
  /** Calls `model` outside the turn, through the `wrapModelCall` hooks. The usage of the run includes the call. */
  askAside(model: Model, messages: readonly Message[]): Promise<ModelResponse>;
}

/** One model or tool call with its hooks, from the start of the outermost hook until that hook settles. */
export interface CallScope {
  readonly run: HookRun;
  /**
   * False once the outermost hook of a model call has settled. After that, `next` rejects in hooks that are still
   * running.
   */
  readonly open: boolean;
  /** The number of hooks and calls that still run. */
  busy: number;
}

/** The key under which a RunContext holds its internal run. */
export const RUN = Symbol.for('keelson.run');

/** The key under which a lifecycle holds its durable engine. */
export const DURABLE = Symbol.for('keelson.durable');

/** The key under which a lifecycle holds its {@link KeptState}. */
export const KEPT_STATE = Symbol.for('keelson.keptState');

/**
 * State that the hooks of a lifecycle write and that later runs read.
 *
 * In a durable run, the engine stores these writes with the result of the hook, so that a replay can repeat them.
 */
export interface KeptState {
  /** Returns the writes since the last call as JSON, or undefined without a write. */
  take(run: RunContext): JsonValue | undefined;
  /** Repeats the writes that an earlier attempt has stored. */
  restore(run: RunContext, writes: JsonValue): Awaitable<void>;
}

/** Makes the runs of an agent durable. */
export interface DurableEngine {
  /** Returns a log that stores each event once, even if another attempt repeats the run. */
  logOver(log: RunLog): Pick<RunLog, 'append' | 'close'>;
  /**
   * Returns the configuration of another agent for a nested run of a durable run. The model and tool calls of the
   * nested run become steps, too.
   */
  adopt<Config extends object>(config: Config): Config;
  /** Called before the first hook of a run. May replace the run's hooks. */
  begin(run: HookRun): Promise<void>;
}

/** Returns the internal run of a RunContext, or undefined if no agent made the object. */
export function hookRunOf(context: object | undefined): HookRun | undefined {
  return (context as { readonly [RUN]?: HookRun } | undefined)?.[RUN];
}

/** For `afterAgent` hooks: returns true if the run has its final answer, and false if it is suspended or handed over. */
export function hasFinalAnswer(context: RunContext): boolean {
  const run = hookRunOf(context);
  return run === undefined || (run.pending === undefined && (run.answer ?? run.end.verdict) !== undefined);
}

/**
 * Returns a key for a tool call that is the same in every attempt. It includes the turn, because some models reuse call
 * ids.
 */
export function callKey({ attached, context }: HookRun, call: string, turn = context.turn): string {
  return attached.recorder?.callKey(call) ?? `${context.idempotencyKey}:${turn + (attached.turnsBefore ?? 0)}:${call}`;
}

/** Returns the id of a nested run from the key of its call. The first nested run of a call has the number 1. */
export function runIdInside(key: string, number = 1): string {
  return `${key}/${number}`;
}

/**
 * Returns the token with which a durable run claims its conversation. It is derived from the run id, so that every
 * attempt has the claim and `session.break()` can end it.
 */
export function durableToken(run: string): string {
  return `durable:${run}`;
}

/** The reason of a denial if the person sends a message instead of a decision. */
export const WENT_ON = 'The person went on without a decision.';

/**
 * Asks a person. Until the answer, the session stores the question, so that other runs know why they wait.
 *
 * A message with `when: 'now'` denies the call and aborts the signal of `ask`.
 */
export async function whileAsking<T>(
  run: RunContext,
  question: string,
  ask: (signal: AbortSignal) => Awaitable<T>,
): Promise<T | { readonly deny: string }> {
  const { claim, posts } = hookRunOf(run)?.attached.recorder ?? {};
  if (posts?.isUrgent) return { deny: WENT_ON };
  const { promise: wentOn, resolve } = createDeferred<{ readonly deny: string }>();
  const over = new AbortController();
  const unlisten = posts?.onUrgent(() => resolve({ deny: WENT_ON }));
  claim?.waitFor(question);
  try {
    return await Promise.race([wentOn, ask(AbortSignal.any([run.signal, over.signal]))]);
  } finally {
    unlisten?.();
    over.abort(WENT_ON);
    claim?.waitFor(undefined);
  }
}

const NO_BUDGETS: readonly Budget[] = [];

/** Returns the budgets of a run and of its enclosing runs. */
export function budgetsOf(run: { readonly parent?: object | undefined } | undefined): readonly Budget[] {
  if (run === undefined) return NO_BUDGETS;
  const own = hookRunOf(run)?.budgets;
  const outer = budgetsOf(run.parent);
  return own === undefined ? outer : [...own, ...outer];
}

/** Marks the request of a model call that is not part of a turn. Copies of the request keep the mark. */
export const ASIDE = Symbol.for('keelson.aside');

/** Returns true if the model call is not part of a turn, such as the call for a summary. */
export function isAside(request: object): boolean {
  return ASIDE in request;
}

/** One hook of one lifecycle in one run. Decisions and errors name it. */
export interface HookSite {
  readonly entry: RegisteredLifecycle;
  readonly point: HookPoint;
  readonly run: HookRun;
  /** The tool call that the hook wraps. */
  readonly call?: { readonly id: string; readonly name: string } | undefined;
}

/** Emits an event of a run. If this type of event has no listener, logs `message` as a warning instead. */
export function report(run: RunContext, news: RunReport, message?: string): void {
  const isHeard = hookRunOf(run)?.report(news);
  if (!isHeard && message !== undefined) run.logger.warn(message);
}
