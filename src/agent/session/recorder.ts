import type { Summary } from '../../lifecycle/run-context.js';
import { deniedCall } from '../../model/denial.js';
import {
  type AssistantMessage,
  type Message,
  type ToolCallPart,
  type ToolResultPart,
  toolCallsOf,
} from '../../model/message.js';
import { ANSWER } from '../../state/record/decisions.js';
import type { EntryBody, SuspendedCall } from '../../state/record/entry.js';
import type { MessageList } from '../../state/record/message-list.js';
import type { OpenTurn, SessionRecord } from '../../state/record/session-record.js';
import type { BackgroundWork } from '../../tools/tool.js';
import { errorResult } from '../../tools/tool-result.js';
import type { AnySessionRunOptions } from '../agent-options.js';
import { type ResumeDecision, type ResumeDecisions, resultOf } from '../run/resume/continuation.js';
import type { Recorder, Run, RunClaim } from '../run/run.js';
import { resultPartOf } from '../run/turn/tool-calls.js';
import type { BackgroundWorks } from './background/works.js';
import { type EntryOrigin, EntryWriter } from './entry-writer.js';
import type { Mailbox } from './mailbox.js';

/** The place in the record where a run begins. */
export interface RecordedStart extends EntryOrigin {
  readonly record: SessionRecord;
  /** The messages that the run continues from. */
  readonly model: MessageList;
  /** The calls that the run resumes, and the decisions on them. */
  readonly open: OpenTurn | undefined;
  readonly resume: ResumeDecisions | undefined;
  /** True if calls or an answer wait for the decisions. */
  readonly waits: boolean;
  /** Calls that are known to have begun before. */
  readonly again: readonly string[];
  /** The id of the entry of the input. */
  readonly inputId: string | undefined;
  readonly by: string | undefined;
  readonly mailbox: Mailbox;
  /** The background works of the session. */
  readonly works: BackgroundWorks;
  /** The options of the run. */
  readonly options: AnySessionRunOptions;
}

/** Writes what a run of a session adds to the record. */
export class SessionRecorder implements Recorder {
  isLeaving = false;
  private readonly writer: EntryWriter;
  /** The entry of the answer that a hook suspended. */
  private answer: string | undefined = undefined;
  /** The current turn: the entry with its calls, and the calls whose result is in the record or waits for the next append. */
  private turn: { readonly calls: string | undefined; readonly recorded: Set<string> };
  /** True until the decisions of a resumed run are added. Until then its calls stay open in the record. */
  private isUndecided: boolean;
  /** Messages of the record that a resumed run adds again behind the results of its calls. */
  private readonly later: ReadonlySet<Message>;
  private readonly ids = new WeakMap<Message, readonly string[]>();
  /** How often each call that runs again has begun, this time included, by its id. */
  private readonly attempts = new Map<string, number>();

  constructor(private readonly start: RecordedStart) {
    const { open, model, record, again } = start;
    const { messages } = model;
    this.writer = new EntryWriter(start);
    this.isUndecided = start.waits;
    const at = open === undefined ? messages.length : model.indexOf(open.entry);
    this.later = new Set(messages.slice(at + 1));
    const next = messages[at + 1];
    this.turn = {
      calls: open?.entry,
      recorded: new Set(next?.role === 'tool' ? next.content.map(({ id }) => id) : []),
    };
    for (const id of again) this.attempts.set(id, record.decisions.attemptOf(open?.entry ?? '', id) + 1);
  }

  get posts(): Mailbox {
    return this.start.mailbox;
  }

  get claim(): RunClaim {
    return this.start.claim;
  }

  get resumed(): Recorder['resumed'] {
    const { open, record } = this.start;
    return open && { attempt: Math.max(1, ...this.attempts.values()), key: `${record.uid}:${open.entry}` };
  }

  callKey(call: string): string {
    return `${this.start.record.uid}:${this.turn.calls}:${call}`;
  }

  attemptOf(call: string): number {
    return this.attempts.get(call) ?? 1;
  }

  /** Appends the decisions on the open calls. The result of a call that does not run is part of the same append. */
  async decide(run: Run): Promise<void> {
    this.isUndecided = false;
    const { open, resume, again, by } = this.start;
    const answer = run.conversation.resuming?.answer;
    if (answer !== undefined) {
      const [parent = ''] = this.idsOf(run.conversation.history[answer.index]);
      this.writer.put(decisionOn(ANSWER, answer.decision), { parent, by });
    }
    for (const call of open?.open ?? []) {
      const decision = resume?.[call.id] as ResumeDecision;
      const given = again.includes(call.id) ? 'again' : decision;
      this.writer.put(decisionOn(call.id, given), { parent: open?.entry ?? '', by });
      const result = resultOf(decision);
      if (result !== undefined) this.addResult(run, resultPartOf(call, result));
    }
    await this.start.claim.flush();
  }

  async save(run: Run): Promise<void> {
    if (this.isUndecided) return;
    const { claim } = this.start;
    this.collect(run);
    const flushing = claim.flush();
    await claim.log?.checkWatched(run.conversation.added.at(-1));
    return flushing;
  }

  async leave(run: Run, unlessPosted = false): Promise<boolean> {
    const { claim, runId } = this.start;
    if (this.isUndecided) return claim.release();
    this.collect(run);
    this.isLeaving = true;
    const { pending } = run;
    if (pending !== undefined) {
      const calls = (pending as readonly SuspendedCall[]).map(suspendedCall);
      this.writer.put({ type: 'suspended', calls }, { parent: this.answer ?? this.turn.calls });
    }
    claim.set({ waits: pending === undefined ? null : runId });
    this.isLeaving = await claim.release(unlessPosted);
    return this.isLeaving;
  }

  addResult({ context }: Run, part: ToolResultPart): void {
    if (this.isUndecided) return;
    this.putResult(part, context.turn);
    // The next save waits for this append, and reports its failure.
    this.start.claim.flush().catch(() => {});
  }

  summarize(run: Run, { text, from, keep = [], shorten = [] }: Summary, told: Message | undefined): void {
    this.collect(run);
    const idsOf = (message: Message) => this.idsOf(run.conversation.originOf(message));
    const { id } = this.writer.follow({
      type: 'summary',
      text,
      from: from && idsOf(from)[0],
      keep: keep.flatMap(idsOf),
      shorten: shorten.flatMap(({ message, chars }) => idsOf(message).map((one) => ({ id: one, chars }))),
    });
    if (told !== undefined) this.ids.set(told, [id]);
  }

  async background(work: BackgroundWork, label: string): Promise<string> {
    const { claim, works, options } = this.start;
    const { id } = this.writer.put({ type: 'background', label }, {});
    await claim.flush();
    await works.start({ id, label, work, options });
    return id;
  }

  /** Makes an entry of each message that the run has added since the last call. */
  private collect(run: Run): void {
    const { conversation, context } = run;
    const { added, saved, input } = conversation;
    for (const message of added.slice(saved)) {
      if (message.role === 'tool') for (const part of message.content) this.putResult(part, context.turn);
      else if (!this.later.has(message) && !this.ids.has(message))
        this.addMessage(message, message === input, context.turn);
    }
    conversation.saved = added.length;
  }

  /** Adds a result, unless the record has it. */
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
    const post = this.posts.postOf(message, isInput);
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
export function deniedPart(call: ToolCallPart, reason: string | undefined): ToolResultPart {
  return resultPartOf(call, errorResult(deniedCall(reason)));
}

function decisionOn(call: string, decision: ResumeDecision | 'again'): EntryBody {
  const given = decision === 'deny' ? { deny: '' } : decision;
  return { type: 'decision', call, decision: given as 'approve' };
}

function suspendedCall({ id, reason, by, needs }: SuspendedCall): SuspendedCall {
  return needs === undefined ? { id, reason, by } : { id, reason, by, needs };
}

function withoutMark({ suspended: _suspended, ...answer }: AssistantMessage): AssistantMessage {
  return answer;
}
