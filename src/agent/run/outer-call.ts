import type { Stop } from '../../internal/stop.js';
import { runIdInside } from '../../lifecycle/hook-run/hook-run.js';
import type { CallsInFlight, ResumedInside, RunEnd } from '../../lifecycle/hook-run/run-end.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import type { Message, SuspendedCall, WaitingRun } from '../../model/message.js';
import type { ToolRun } from '../../tools/tool.js';
import type { EventSink } from '../listeners.js';
import type { NestedRun } from '../run-result.js';

/** The tool call that runs are inside. */
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
    /** Set for a durable run. A call that is a step does not wait for a nested run. */
    readonly effects: { readonly isInStep: boolean } | undefined;
    readonly briefings?: ReadonlyMap<string, readonly Message[]> | undefined;
  };
}

/** A nested run. */
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

/** The place of a nested run. */
export interface PlaceInside {
  readonly runId: string;
  readonly path: readonly string[];
  /** The run that it continues with. */
  readonly earlier: ResumedInside | undefined;
  /** True if the call waits for what the run waits for. */
  readonly canWait: boolean;
}

/** A nested run that begins. */
interface BegunRun {
  readonly end: RunEnd;
  readonly conversation: { enqueue(message: Message): void };
}

/** The end of a nested run. */
type EndedRun = Omit<NestedRun, 'path' | 'turn' | 'runId' | 'agent'>;

/** A tool call, for the runs that its tool starts. Made when the tool reads `context.run`. */
export class OuterCall {
  /** The ids of the calls that lead to the nested runs. The last one is the call itself. */
  readonly path: readonly string[];
  /** The ends of the nested runs. */
  readonly inside: RunEnd[] = [];
  /** The run inside because of which the call waits. */
  waits: WaitingRun | undefined = undefined;
  /** The turn of the call. */
  private readonly turn: number;
  private started = 0;
  /** The last run inside that was suspended. */
  private suspended: WaitingRun | undefined = undefined;
  /** The run that the next one continues with. */
  private next: ResumedInside | undefined = undefined;
  private canWait = false;

  constructor(private readonly call: CallOfRun) {
    this.turn = call.loop.context.turn;
    this.path = [...(call.loop.context.path ?? []), call.callId];
  }

  /** Passes on the events of the nested runs, until the call has its result. Undefined if nobody wants them. */
  get events(): EventSink | undefined {
    const { calls, callId, loop } = this.call;
    const { nested } = loop.listeners;
    return nested && ((event) => (calls.accepts(callId) ? nested(event) : undefined));
  }

  /** Gives a nested run, which has begun, its messages. Aborts it when the call is aborted. */
  enter({ end, conversation }: BegunRun): void {
    const { loop, callId } = this.call;
    for (const message of loop.briefings?.get(callId) ?? []) conversation.enqueue(message);
    this.inside.push(end);
    end.stopper().followStop(this.call.stopper, (reason) => end.abort(new RunAbortedError(reason)));
  }

  /**
   * Called by a tool whose call can wait. Returns the earlier run inside the call, if the call continues with one. The next
   * run inside is that run. A call that is a step of a durable run does not wait.
   */
  goOn(): ResumedInside | undefined {
    const { calls, callId, loop } = this.call;
    this.canWait = !loop.effects?.isInStep;
    this.next = this.started === 0 ? calls.prior.inside?.get(callId) : undefined;
    return this.next;
  }

  /** Suspends the call until somebody has decided for its last nested run. Has no effect on a call that cannot wait. */
  wait(): void {
    if (this.canWait) this.waits = this.suspended;
  }

  /** Keeps a nested run that has ended for the result of the enclosing run. */
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

  /** Returns the place of the next run inside. A repeat of the call has runs with the same ids. */
  place(): PlaceInside {
    const { next: earlier, path, canWait } = this;
    this.next = undefined;
    this.started += 1;
    const runId = earlier?.run.runId ?? runIdInside(this.call.idempotencyKey, this.started);
    return { runId, path, earlier, canWait };
  }
}

/** Key of the call in the run that a tool sees. A registered symbol, because of copies of the library. */
export const CALL = Symbol.for('keelson.call');

/** Returns the call that a nested run is inside. Undefined if a hook has started the run. */
export function outerCallOf(parent: object | undefined): OuterCall | undefined {
  return (parent as { readonly [CALL]?: OuterCall } | undefined)?.[CALL];
}

/** Returns the path of a run with this parent. */
export function pathInside(parent: ToolRun | undefined): readonly string[] | undefined {
  return outerCallOf(parent)?.path ?? parent?.path;
}

/** Tells the enclosing run a run how it ended, if a tool call leads to it. */
export function tellOuterRun(run: InnerRun, ended: EndedRun): void {
  outerCallOf(run.origin.parent)?.keep(run, ended);
}
