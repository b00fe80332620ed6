import { onAbort } from '../../internal/stop.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { Message, ToolCallPart } from '../../model/message.js';
import type { HookEvent } from '../../programs/hook-event.js';
import type { HookEffects } from '../hook/effects.js';
import type { HookEventContext, Subagent, TranscriptMessages } from '../hook/event-context.js';
import { hookMessage } from '../hook/text.js';
import type { CallRecord } from '../run/input.js';
import type { HookRunner } from '../run/runner.js';
import type { HookSystem } from '../run/system.js';

/** Events whose hooks the agent does not wait for. */
export const NOTICES: ReadonlySet<HookEvent> = new Set(['notification', 'permission_denied', 'after_compaction']);

/** Returns the ids for an event of a run. A run without a session uses its run id. */
export function idsOf(run: RunContext): Pick<HookEventContext, 'sessionId' | 'runId' | 'subagent'> {
  const { id, agent, parent, session } = run;
  return { sessionId: session?.id ?? id, runId: id, subagent: parent && { agent, id } };
}

/** State of the hooks of one run. */
export class RunState {
  /** All tool calls of the run, in call order. */
  readonly calls: CallRecord[] = [];
  /** Tool calls that reached their tool, by id, with the arguments that the tool got. */
  private readonly reached = new Map<string, CallRecord>();
  /**
   * Hook messages for the next model request. `texts`, `changes` and `mustCallTool` are cleared before each new
   * request.
   */
  texts: readonly Message[] = [];
  changes: readonly Pick<HookEffects, 'response' | 'request'>[] = [];
  mustCallTool = false;
  /** The runs of agents that are tools, by the id of their call. */
  readonly subagents = new Map<string, Subagent>();
  prompt = '';
  /** Number of turns that hooks added by refusing an answer. */
  continued = 0;
  /**
   * The latest response, and the number of messages before it. It is kept here because the run adds it to the messages
   * only after the hooks.
   */
  response: { readonly message: Message; readonly after: number } | undefined = undefined;
  /**
   * True after the end of a run without a session, or once the session has a later run. A hook that still runs in the
   * background then adds no messages to the transcript.
   */
  isPast = false;
  private turnCalls = new Map<string, CallRecord>();
  private areCallsNew = false;
  /** The signal of the hooks of the run, and the function that aborts it. */
  private life: { readonly signal: AbortSignal; readonly end: () => void } | undefined = undefined;

  constructor(private readonly run: RunContext) {}

  /** The fields of the event context that are the same for all events of the run. */
  get context() {
    return { ...idsOf(this.run), transcript: () => this.transcript(), signal: this.signal() };
  }

  recordCalls(calls: readonly ToolCallPart[]): void {
    const records = calls.map(({ id, name, input }): CallRecord => ({ id, name, args: input }));
    this.calls.push(...records);
    this.turnCalls = new Map(records.map((record) => [record.id, record]));
    this.areCallsNew = records.length > 0;
  }

  /** Returns the calls of the latest turn, once. */
  takeTurn(): readonly CallRecord[] {
    const calls = this.areCallsNew ? [...this.turnCalls.values()] : [];
    this.areCallsNew = false;
    return calls;
  }

  recordReached(call: CallRecord): void {
    this.reached.set(call.id, call);
    const record = this.turnCalls.get(call.id);
    if (record !== undefined) record.args = call.args;
  }

  takeReached(id: string): CallRecord | undefined {
    const call = this.reached.get(id);
    this.reached.delete(id);
    return call;
  }

  /** Removes and returns the sub-agent that a tool call has started. */
  takeSubagent(callId: string): Subagent | undefined {
    const subagent = this.subagents.get(callId);
    this.subagents.delete(callId);
    return subagent;
  }

  /**
   * Returns the messages of the session, with the latest response. Returns undefined if the session has a later run.
   * Also returns undefined after the end of a run without a session, because its transcript is removed.
   */
  transcript(): TranscriptMessages | undefined {
    if (this.isPast) return undefined;
    const { response } = this;
    const { messages, session } = this.run;
    const isMissing = response !== undefined && messages.length <= response.after;
    const model = isMissing ? [...messages, response.message] : messages;
    return { model, people: session && (() => session.allMessages()) };
  }

  /** Returns a signal that is aborted when the run is aborted or ends, so that no hook process outlives its run. */
  private signal(): AbortSignal {
    if (this.life !== undefined) return this.life.signal;
    const controller = new AbortController();
    const { signal } = this.run;
    if (signal.aborted) controller.abort(signal.reason);
    const release = onAbort(signal, () => controller.abort(signal.reason));
    const end = () => {
      release();
      controller.abort();
    };
    this.life = { signal: controller.signal, end };
    return controller.signal;
  }

  /** Aborts the hooks that are still running. */
  close(): void {
    this.life?.end();
    this.isPast ||= this.run.session === undefined;
  }
}

/** The hook state of each run. */
export class RunStates {
  private readonly byRun = new WeakMap<RunContext, RunState>();
  /** The state of the last run of each session. */
  private readonly latest = new WeakMap<object, RunState>();

  of(run: RunContext): RunState {
    const known = this.byRun.get(run);
    if (known !== undefined) return known;
    const state = new RunState(run);
    this.byRun.set(run, state);
    if (run.session !== undefined) this.follow(run.session, state);
    return state;
  }

  /**
   * A hook in the background may outlive its run. Then the messages of the run are older than the messages of the
   * session.
   */
  private follow(session: object, state: RunState): void {
    const before = this.latest.get(session);
    if (before !== undefined) before.isPast = true;
    this.latest.set(session, state);
  }
}

/** Limit of sessions with pending messages. Above it, the messages of the oldest session are dropped. */
const MOST_SESSIONS = 1_000;
const MOST_MESSAGES = 100;
/** Maximum length of the pending messages of one session, in characters. The oldest messages are dropped first. */
const MOST_TEXT = 100_000;

/** Hook messages for which no model request follows. They wait for the next run of their session. */
export class PendingMessages {
  private readonly waiting = new Map<string, readonly Message[]>();

  get isEmpty(): boolean {
    return this.waiting.size === 0;
  }

  keep(session: string | undefined, texts: readonly { hook: string; text: string }[]): void {
    if (session === undefined || texts.length === 0) return;
    const added = texts.map(({ hook, text }) => hookMessage(hook, text));
    const kept = newest([...(this.waiting.get(session) ?? []), ...added]);
    this.waiting.delete(session);
    this.waiting.set(session, kept);
    const [oldest] = this.waiting.keys();
    if (this.waiting.size > MOST_SESSIONS && oldest !== undefined) this.waiting.delete(oldest);
  }

  take(session: string | undefined): readonly Message[] {
    if (session === undefined) return [];
    const messages = this.waiting.get(session) ?? [];
    this.waiting.delete(session);
    return messages;
  }
}

function newest(messages: readonly Message[]): readonly Message[] {
  let room = MOST_TEXT;
  const kept = messages.slice(-MOST_MESSAGES);
  const first = kept.findLastIndex(({ content }) => {
    room -= content.length;
    return room < 0;
  });
  return kept.slice(first + 1);
}

/** The objects that the lifecycles of shell hooks share. */
export interface HookParts extends Pick<HookSystem, 'transcripts' | 'maxContinuations' | 'logger'> {
  readonly runner: HookRunner;
  /** Hook messages that wait for the next run of their session. */
  readonly pending: PendingMessages;
  readonly runs: RunStates;
  /** The notifications whose hooks have not ended. `agent.close()` waits for them. */
  readonly notices: Set<Promise<unknown>>;
  /** Aborted when the agent is closed. */
  readonly signal: AbortSignal;
}
