import type { Stop } from '../../internal/stop.js';
import { runIdInside } from '../../lifecycle/hook-run/hook-run.js';
import type { CallsInFlight, ResumedInside, RunEnd } from '../../lifecycle/hook-run/run-end.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import type { Message, SuspendedCall, WaitingRun } from '../../model/message.js';
import type { ToolRun } from '../../tools/tool.js';
import type { EventSink } from '../listeners.js';
import type { NestedRun } from '../run-result.js';

/** The members of a tool call that its nested runs need. */
interface CallOfRun {
  readonly callId: string;
  readonly idempotencyKey: string;
  readonly calls: CallsInFlight;
  /** Stopped when the call is aborted. */
  readonly stopper: Stop;
  readonly loop: {
    readonly context: ToolRun;
    readonly listeners: { readonly nested?: EventSink | undefined };
    readonly end: { readonly over: boolean };
    readonly conversation: { nested: NestedRun[] | undefined };
    /**
     * Set for a durable run. `isInStep` is true in a step of the engine, where a tool call cannot wait for decisions.
     */
    readonly effects: { readonly isInStep: boolean } | undefined;
    readonly briefings?: ReadonlyMap<string, readonly Message[]> | undefined;
  };
}

/** The members of a nested run that its tool call reads. */
interface InnerRun {
  readonly origin: { readonly parent?: ToolRun | undefined };
  readonly context: { readonly id: string; readonly turn: number };
  readonly config: {
    readonly agent: string;
    readonly part?: { readonly owner: { readonly agent: string } } | undefined;
  };
  readonly conversation: { readonly history: readonly Message[] };
  readonly attached: { readonly turnsBefore?: number | undefined };
}

/** The id, the path and the earlier state of a nested run, from its tool call. */
export interface PlaceInside {
  readonly runId: string;
  readonly path: readonly string[];
  /** The suspended run that this nested run continues. */
  readonly earlier: ResumedInside | undefined;
  /** True if the tool call can wait for the decisions of the nested run. */
  readonly canWait: boolean;
}

/** A nested run that has started. */
interface BegunRun {
  readonly end: RunEnd;
  readonly conversation: { enqueue(message: Message): void };
}

/** The result of a nested run that has ended. */
type EndedRun = Omit<NestedRun, 'path' | 'turn' | 'runId' | 'agent'>;

/** A tool call with the runs that its tool starts. Created when the tool reads `context.run`. */
export class OuterCall {
  /** The ids of the enclosing tool calls, outermost first. The last id is the call itself. */
  readonly path: readonly string[];
  /** The RunEnd objects of the active nested runs, to cancel their calls. */
  readonly inside: RunEnd[] = [];
  /** The suspended nested run, if the call waits for decisions. */
  waits: WaitingRun | undefined = undefined;
  /** The turn of the call. */
  private readonly turn: number;
  private started = 0;
  /** The nested run that was suspended last. */
  private suspended: WaitingRun | undefined = undefined;
  /** The suspended run of this call that the next nested run continues. */
  private next: ResumedInside | undefined = undefined;
  private canWait = false;

  constructor(private readonly call: CallOfRun) {
    this.turn = call.loop.context.turn;
    this.path = [...(call.loop.context.path ?? []), call.callId];
  }

  /** Receives the events of the nested runs until the call has its result. Undefined without a listener. */
  get events(): EventSink | undefined {
    const { calls, callId, loop } = this.call;
    const { nested } = loop.listeners;
    return nested && ((event) => (calls.accepts(callId) ? nested(event) : undefined));
  }

  /**
   * Connects a nested run that has started: it gets the messages for this call, and is aborted together with the call.
   */
  enter({ end, conversation }: BegunRun): void {
    const { loop, callId } = this.call;
    for (const message of loop.briefings?.get(callId) ?? []) conversation.enqueue(message);
    this.inside.push(end);
    end.stopper().followStop(this.call.stopper, (reason) => end.abort(new RunAbortedError(reason)));
  }

  /**
   * Called by a tool whose call can wait for decisions. Returns the suspended run that the next nested run continues,
   * if there is one.
   *
   * Returns undefined for a call that is a step of a durable run, because a step cannot wait.
   */
  goOn(): ResumedInside | undefined {
    const { calls, callId, loop } = this.call;
    this.canWait = !loop.effects?.isInStep;
    this.next = this.started === 0 ? calls.prior.inside?.get(callId) : undefined;
    return this.next;
  }

  /** Suspends the call until its last nested run has its decisions. Has no effect on a call that cannot wait. */
  wait(): void {
    if (this.canWait) this.waits = this.suspended;
  }

  /** Adds a nested run that has ended to the result of the enclosing run. */
  keep({ context, config, conversation: { history }, attached }: InnerRun, ended: EndedRun): void {
    const { end, conversation } = this.call.loop;
    if (end.over) return;
    const { path, turn } = this;
    const { agent } = config.part?.owner ?? config;
    if (ended.status === 'suspended') {
      const waits = (ended.pending as readonly (SuspendedCall & { readonly path?: unknown })[])
        .filter((one) => one.path === undefined)
        .map(({ id, reason, by, needs }) => (needs === undefined ? { id, reason, by } : { id, reason, by, needs }));
      const turns = (attached.turnsBefore ?? 0) + context.turn;
      this.suspended = { runId: context.id, agent, turn: turns, messages: history, waits };
    }
    const { status, messages, usage, decisions, nested, pending, error } = ended;
    const known = { runId: context.id, agent, path, turn, status, messages, usage, decisions, pending };
    conversation.nested ??= [];
    conversation.nested.push(nested || error ? { ...known, nested, error } : known);
  }

  /**
   * Returns the id and path of the next nested run. A repeated call gives its nested runs the same ids again, so that
   * their steps and entries are found.
   */
  place(): PlaceInside {
    const { next: earlier, path, canWait } = this;
    this.next = undefined;
    this.started += 1;
    const runId = earlier?.run.runId ?? runIdInside(this.call.idempotencyKey, this.started);
    return { runId, path, earlier, canWait };
  }
}

/**
 * The key under which a run view holds its tool call. A registered symbol, so that other copies of the library find it.
 */
export const CALL = Symbol.for('keelson.call');

/** Returns the tool call that started a nested run. Returns undefined if a hook started the run. */
export function outerCallOf(parent: object | undefined): OuterCall | undefined {
  return (parent as { readonly [CALL]?: OuterCall } | undefined)?.[CALL];
}

/** Returns the ids of the enclosing tool calls of a run with this parent, outermost first. */
export function pathInside(parent: ToolRun | undefined): readonly string[] | undefined {
  return outerCallOf(parent)?.path ?? parent?.path;
}

/** Adds a nested run that has ended to its tool call. Does nothing if no tool call started the run. */
export function reportToOuterRun(run: InnerRun, ended: EndedRun): void {
  outerCallOf(run.origin.parent)?.keep(run, ended);
}
