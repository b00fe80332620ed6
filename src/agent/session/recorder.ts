import type { Summary } from '../../lifecycle/run-context.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import { deniedCall, withAttempts } from '../../model/denial.js';
import {
  type AssistantMessage,
  type Message,
  type SuspendedCall,
  type ToolCallPart,
  type ToolResultPart,
  toolCallsOf,
} from '../../model/message.js';
import { ANSWER } from '../../model/waiting.js';
import type { EntryBody } from '../../state/record/entry.js';
import type { BackgroundWork } from '../../tools/tool.js';
import { errorResult, resultPartOf } from '../../tools/tool-result.js';
import { type ResumeDecision, resultOf } from '../run/resume/continuation.js';
import type { Recorder, Run } from '../run/run.js';
import type { NestedPlace, RunClaim } from '../run/run-parts.js';
import type { RunPosts } from '../run/run-posts.js';
import type { PendingAnswer, PendingCall } from '../run-result.js';
import { EntryWriter } from './entry-writer.js';
import { errorToJson } from './log/event-json.js';
import { nestedStart, type RecordedStart } from './recorded-start.js';

/** Writes the messages and decisions of a session's run to the record. */
export class SessionRecorder implements Recorder {
  isLeaving = false;
  private readonly writer: EntryWriter;
  /** The id of the entry with the suspended answer. */
  private answer: string | undefined = undefined;
  /**
   * The current turn: the id of the entry with its calls, and the ids of the calls whose results were added to the
   * session.
   */
  private turn: { readonly calls: string | undefined; readonly recorded: Set<string> };
  /** True until the decisions of a resumed run are stored. Before that, the run adds no entries. */
  private isUndecided: boolean;
  /**
   * Maps each message to the ids of its entries. A resumed run adds some stored messages again, which must not be
   * stored twice.
   */
  private readonly ids = new WeakMap<Message, readonly string[]>();
  /** By call id: how often each resumed call has started, including this time. */
  private readonly attempts = new Map<string, number>();

  constructor(readonly start: RecordedStart) {
    const { open, model, record, again } = start;
    const { messages } = model;
    this.writer = new EntryWriter(start);
    this.isUndecided = start.waits;
    const at = open === undefined ? messages.length : model.indexOf(open.entry);
    for (const [index, message] of messages.entries()) if (index > at) this.ids.set(message, model.idsAt(index));
    const next = messages[at + 1];
    this.turn = {
      calls: open?.entry,
      recorded: new Set(next?.role === 'tool' ? next.content.map(({ id }) => id) : []),
    };
    for (const { id } of open?.open ?? []) {
      this.attempts.set(id, record.decisions.attemptOf(open?.entry ?? '', id) + (again.includes(id) ? 1 : 0));
    }
  }

  get posts(): RunPosts {
    return this.start.posts;
  }

  get claim(): RunClaim {
    return this.start.claim;
  }

  get resumed(): Recorder['resumed'] {
    const { open, record, path } = this.start;
    if (open === undefined || path !== undefined) return undefined;
    return { attempt: Math.max(1, ...this.attempts.values()), key: `${record.uid}:${open.entry}` };
  }

  callKey(call: string): string | undefined {
    const { record, path } = this.start;
    return path === undefined ? `${record.uid}:${this.turn.calls}:${call}` : undefined;
  }

  attemptOf(call: string): number {
    // Compares the entry too, because models reuse call ids in later turns.
    const isResumed = this.turn.calls === this.start.open?.entry;
    return (isResumed ? this.attempts.get(call) : undefined) ?? 1;
  }

  /**
   * Stores the decisions on the open calls. The same append has the results of calls that do not run, such as denied
   * calls.
   */
  async decide(run: Run): Promise<void> {
    this.isUndecided = false;
    const { open, again, by, record } = this.start;
    const { answer, calls } = run.conversation.resuming ?? {};
    if (answer !== undefined) {
      const [parent = ''] = this.idsOf(run.conversation.history[answer.index]);
      this.writer.put(decisionOn(ANSWER, answer.decision), { parent, by });
      this.collect(run);
    }
    for (const call of open?.open ?? []) {
      const { id } = call;
      const decision = calls?.decisions[id] as ResumeDecision | 'again' | undefined;
      if (decision === undefined) continue;
      const given = again.includes(id) ? 'again' : decision;
      const entry = open?.entry ?? '';
      if (given === 'again') this.attempts.set(id, record.decisions.attemptOf(entry, id) + 1);
      this.writer.put(decisionOn(id, given), { parent: entry, by });
      const result = decision === 'again' ? undefined : resultOf(decision, this.attemptOf(id));
      if (result !== undefined) this.addResult(run, resultPartOf(call, result));
    }
    await this.start.claim.flush();
  }

  async save(run: Run): Promise<void> {
    if (this.isUndecided) return;
    const { claim, path } = this.start;
    this.collect(run);
    const flushing = claim.flush();
    // A nested run continues without readers, because it is part of a tool call.
    if (path === undefined) await claim.log?.checkWatched(run.conversation.added.at(-1));
    return flushing;
  }

  async leave(run: Run, { unlessPosted = false, error }: Parameters<Recorder['leave']>[1]): Promise<boolean> {
    const { claim, runId, path } = this.start;
    if (!this.isUndecided) {
      this.collect(run);
      const calls = run.pending && !this.start.neverWaits ? suspendedCalls(run.pending) : undefined;
      if (calls !== undefined) {
        this.writer.put({ type: 'suspended', calls }, { parent: this.answer ?? this.turn.calls });
      }
      // The caller of the outermost run tells why it failed, and the call of a nested run that it was stopped.
      const isFailed = error !== undefined && !(error instanceof RunAbortedError);
      if (path !== undefined && isFailed) this.writer.follow({ type: 'failed', error: errorToJson(error) });
    }
    if (path !== undefined) return claim.flush().then(() => true);
    if (this.isUndecided) return claim.release();
    this.isLeaving = true;
    claim.set({ waits: run.pending === undefined ? null : runId });
    this.isLeaving = await claim.release(unlessPosted);
    return this.isLeaving;
  }

  nested(place: NestedPlace): Recorder {
    const nextId = () => this.writer.nextId();
    return new SessionRecorder(nestedStart(this.start, place, { outer: this.turn.calls, nextId }));
  }

  addResult(run: Run, part: ToolResultPart): void {
    if (this.isUndecided) return;
    this.putResult(part, turnOf(run));
    // The next save waits for this append and reports its failure.
    this.start.claim.flush().catch(() => {});
  }

  summarize(run: Run, { text, from, keep = [], shorten = [] }: Summary, replacement: Message | undefined): void {
    this.collect(run);
    const idsOf = (message: Message) => this.idsOf(run.conversation.originOf(message));
    const { id } = this.writer.follow({
      type: 'summary',
      text,
      from: from && idsOf(from)[0],
      keep: keep.flatMap(idsOf),
      shorten: shorten.flatMap(({ message, chars }) => idsOf(message).map((one) => ({ id: one, chars }))),
    });
    if (replacement !== undefined) this.ids.set(replacement, [id]);
  }

  async background(work: BackgroundWork, label: string): Promise<string> {
    const { claim, works, options } = this.start;
    const { id } = this.writer.put({ type: 'background', label }, {});
    await claim.flush();
    await works.start({ id, label, work, options });
    return id;
  }

  /** Creates an entry for each message that the run has added since the last call. */
  private collect(run: Run): void {
    const { added, saved, input } = run.conversation;
    const turn = turnOf(run);
    for (const message of added.slice(saved)) {
      if (message.role === 'tool') for (const part of message.content) this.putResult(part, turn);
      else if (!this.ids.has(message)) this.addMessage(message, message === input, turn);
    }
    run.conversation.saved = added.length;
  }

  /** Adds an entry for a tool result, unless the session has it. */
  private putResult(part: ToolResultPart, turn: number): void {
    const { recorded } = this.turn;
    if (recorded.has(part.id)) return;
    recorded.add(part.id);
    const attempt = this.attemptOf(part.id);
    const message: Message = { role: 'tool', content: [part] };
    this.writer.follow({ type: 'message', message, turn, ...(attempt > 1 && { attempt }) });
  }

  private addMessage(message: Message, isInput: boolean, turn: number): void {
    const { inputId, by } = this.start;
    const isStopped = message.role === 'assistant' && message.stopped;
    const own = message.role === 'assistant' && message.suspended ? withoutMark(message) : message;
    const body: EntryBody = { type: 'message', message: own, turn, ...(isStopped && { stopped: true }) };
    const post = this.start.posts.postOf?.(message, isInput);
    const { id } = this.writer.follow(
      post === undefined ? body : { ...body, post: post.id, ...(post.work !== undefined && { work: post.work }) },
      isInput ? { id: inputId, by: post?.by ?? by } : { by: post?.by },
    );
    this.ids.set(message, [id]);
    if (own !== message) this.answer = id;
    if (toolCallsOf(message).length === 0) return;
    this.turn = { calls: id, recorded: new Set() };
  }

  private idsOf(message: Message | undefined): readonly string[] {
    if (message === undefined) return [];
    const { model } = this.start;
    return this.ids.get(message) ?? model.idsAt(model.messages.indexOf(message));
  }
}

/** Returns the result of a denied call. */
export function deniedPart(call: ToolCallPart, reason: string | undefined, attempt?: number): ToolResultPart {
  return resultPartOf(call, errorResult(withAttempts(deniedCall(reason), attempt)));
}

function decisionOn(call: string, decision: ResumeDecision | 'again'): EntryBody {
  const given = decision === 'deny' ? { deny: '' } : decision;
  return { type: 'decision', call, decision: given as 'approve' };
}

/**
 * Returns the waiting calls of a run. If several calls of a nested run wait, the enclosing call gets the reason of the
 * first one.
 */
function suspendedCalls(pending: readonly (PendingCall | PendingAnswer)[]): readonly SuspendedCall[] {
  const calls = new Map<string, SuspendedCall>();
  for (const { id: own, path, reason, by, ...rest } of pending) {
    const id = path?.[0] ?? own;
    const needs = path === undefined && 'needs' in rest ? rest.needs : undefined;
    if (!calls.has(id)) calls.set(id, needs === undefined ? { id, reason, by } : { id, reason, by, needs });
  }
  return [...calls.values()];
}

/** Returns the number of the current turn. A nested run that continues counts from its first turn. */
function turnOf({ context, attached }: Run): number {
  return (attached.turnsBefore ?? 0) + context.turn;
}

function withoutMark({ suspended: _suspended, ...answer }: AssistantMessage): AssistantMessage {
  return answer;
}
