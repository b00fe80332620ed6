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

/** The state of a run that the code that calls hooks reads and changes. */
export interface HookRun {
  /** Passed to every hook of the run. */
  readonly context: RunContext;
  readonly end: RunEnd;
  readonly pairing: Pairing;
  /** `later` holds the messages that followed the open calls of a resumed run. */
  readonly conversation: {
    readonly resuming:
      | { readonly calls?: { readonly later: readonly Message[]; readonly decisions: object } | undefined }
      | undefined;
  };
  /** A run of a session can tell other runs which question it waits for. */
  readonly attached: {
    readonly recorder?:
      | { readonly claim: QuestionClaim; readonly posts: UrgentPosts; callKey(call: string): string | undefined }
      | undefined;
    /** The number of turns of an earlier run inside the same call that this run continues with. */
    readonly turnsBefore?: number | undefined;
  };
  /** Undefined before the first turn. */
  readonly turn: HookTurn | undefined;
  /** Set for a durable run. `hasEnded` is true once another attempt continues the run. */
  readonly effects?: { readonly hasEnded: boolean } | undefined;
  /** Counts tokens of a model call, in this run and in the runs around it. */
  spend(usage: Usage): void;
  /** Adds a decision to the result and emits a `decision` event. */
  record(decision: Omit<Decision, 'turn'>): void;
  /** The decisions so far. */
  readonly decisions: readonly Decision[];
  /** Emits an event. Returns false if this type of event has no listener. */
  report(news: RunReport): boolean;
  /** Budgets for all runs inside this run. */
  budgets?: readonly Budget[] | undefined;
  /** The errors that the tools of the running calls threw, by call id. */
  toolErrors?: Map<string, unknown> | undefined;
  /** Messages for the runs inside the running calls, by call id. */
  briefings?: Map<string, readonly Message[]> | undefined;
  /** Called at a moment. Resolves to the reason to refuse the call, or to prevent the compaction. */
  onMoment?: (moment: Moment) => Promise<string | undefined>;
  /** Called with each decision, as soon as it is made. */
  onDecision?: (decision: Decision) => void;
  /** Called with each event that a ready-made lifecycle or a loader emits. */
  onReport?: (news: RunReport) => void;
  /** Called once, after the last hook of the run that can change how it ends. */
  onEnd?: (outcome: RunOutcome) => void;
  /** `watch` hears what happens in the run, and in the nested runs. */
  readonly listeners: { readonly watch?: RunWatch | undefined };
}

/** Receives what happens in runs, to write a trace. */
export interface RunWatch {
  /** Returns the listeners of a run that starts inside a watched run, with the watch. */
  listen<Listeners extends object>(listeners: Listeners, path: readonly string[] | undefined): Listeners;
  /** Called before a hook is called. */
  startHook(site: HookSite): WatchedHook;
  /** Called before each call of a model. The returned function is called with the response or the error. */
  startModelCall(run: HookRun, request: ModelCallRequest, attempt: number): (outcome: ModelOutcome) => void;
}

/** One call of a hook. */
export interface WatchedHook {
  /** Called when a hook calls `next`. The returned function gets the result, for which the hook waits. */
  startNext(): (result: Promise<unknown>) => void;
  end(): void;
}

/** How a call of a model ended. */
export interface ModelOutcome {
  readonly response?: ModelResponse | undefined;
  readonly error?: unknown;
}

/** How a run ended. */
export type RunOutcome =
  | { readonly status: 'completed' | 'suspended'; readonly text: string }
  | { readonly status: 'failed'; readonly error: unknown };

interface QuestionClaim {
  waitFor(question: string | undefined): void;
}

interface UrgentPosts {
  /** True if a message waits that must not wait for an answer. */
  readonly isUrgent: boolean;
  /** Calls `listener` when such a message comes. Returns a function that ends this. */
  onUrgent(listener: () => void): () => void;
}

/** A budget for the nested runs. */
export interface Budget {
  /** The name of the lifecycle, or of the option. */
  readonly by: string;
  /** The `wrapModelCall` hook that counts the calls of the run itself. Without one, they do not count. */
  readonly counter?: unknown;
  /** Called before a model call. Returns the reason to refuse the call, or a function that gets the usage of the call. */
  admit(call: BudgetedCall): string | ((usage: Usage | undefined) => void);
  /** Called before a tool call. Returns the reason to refuse the call. */
  admitTool?(): string | undefined;
}

/** A model call of a nested run. */
export interface BudgetedCall {
  /** The id of the model. */
  readonly model: string;
  /** True for the first model call of a turn. */
  readonly beginsTurn: boolean;
}

/** A moment inside a ready-made lifecycle that other lifecycles react to. */
export type Moment =
  | ({ readonly kind: 'approval' | 'denial'; readonly reason: string } & AskedCall)
  | { readonly kind: 'compaction' | 'compacted' };

/** A call about which a person is asked. */
interface AskedCall {
  readonly call: { readonly id: string; readonly name: string; readonly input: unknown };
}

/** The current turn of a run. */
export interface HookTurn {
  /** The number of turns of the run that have asked the model. */
  readonly modelCalls: number;
  /** Calls `model` outside the turn, through the `wrapModelCall` hooks. The usage of the run includes the call. */
  askAside(model: Model, messages: readonly Message[]): Promise<ModelResponse>;
}

/** One model or tool call with its hooks, from the start of the outermost hook until it settles. */
export interface CallScope {
  readonly run: HookRun;
  /** False once the outermost hook of a model call has settled. Then `next` rejects in hooks that are still running. */
  readonly open: boolean;
  /** The number of hooks and calls that are running. */
  busy: number;
}

/** Key of the internal run inside a RunContext. */
export const RUN = Symbol.for('keelson.run');

/** Key of the engine in a lifecycle that makes the runs of its agent durable. */
export const DURABLE = Symbol.for('keelson.durable');

/** Key of the {@link KeptState} of a lifecycle. */
export const KEPT_STATE = Symbol.for('keelson.keptState');

/**
 * State that the hooks of a lifecycle write outside their runs. In a durable run, `beforeModel` and `afterModel` of such a
 * lifecycle are steps, and what they wrote is part of the result of their step.
 */
export interface KeptState {
  /** Returns the writes since the last call as JSON, or undefined without a write. */
  take(run: RunContext): JsonValue | undefined;
  /** Repeats the writes of an earlier attempt. */
  restore(run: RunContext, writes: JsonValue): Awaitable<void>;
}

/** Makes the runs of an agent durable. */
export interface DurableEngine {
  /** Returns a log that gets each event once, even if another attempt repeats the run. */
  logOver(log: RunLog): Pick<RunLog, 'append' | 'close'>;
  /** Returns the configuration of an agent that runs inside a durable run, so that its calls are steps, too. */
  adopt<Config extends object>(config: Config): Config;
  /** Called before the first hook of a run. May replace the hooks of the run. */
  begin(run: HookRun): Promise<void>;
}

/** Returns the internal run of a RunContext, or undefined if no agent made the object. */
export function hookRunOf(context: object | undefined): HookRun | undefined {
  return (context as { readonly [RUN]?: HookRun } | undefined)?.[RUN];
}

/** Returns the same key for a call in every attempt. Some models use the same ids again in each turn. */
export function callKey({ attached, context }: HookRun, call: string, turn = context.turn): string {
  return attached.recorder?.callKey(call) ?? `${context.idempotencyKey}:${turn + (attached.turnsBefore ?? 0)}:${call}`;
}

/** Returns the id of a nested run with this key. The first run inside has the number 1. */
export function runIdInside(key: string, number = 1): string {
  return `${key}/${number}`;
}

/**
 * Returns the token with which a durable run claims its conversation. It is the same in each attempt. Whoever knows the run can
 * end the claim.
 */
export function durableToken(run: string): string {
  return `durable:${run}`;
}

/** The reason of a denial, if the person sends a message instead of a decision. */
export const WENT_ON = 'The person went on without a decision.';

/**
 * Asks a person. Meanwhile the session of the run, if it has one, says which question it waits for. A message with
 * `when: 'now'` denies the call, and aborts the signal of the question.
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

/** Returns the budgets of a run and of the runs around it. */
export function budgetsOf(run: { readonly parent?: object | undefined } | undefined): readonly Budget[] {
  if (run === undefined) return NO_BUDGETS;
  const own = hookRunOf(run)?.budgets;
  const outer = budgetsOf(run.parent);
  return own === undefined ? outer : [...own, ...outer];
}

/** Key that marks the request of a model call outside the turns. Copies of the request keep the mark. */
export const ASIDE = Symbol.for('keelson.aside');

/** Returns true if the model call is not part of a turn, such as the call for a summary. */
export function isAside(request: object): boolean {
  return ASIDE in request;
}

/** One hook of one lifecycle in one run. */
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
