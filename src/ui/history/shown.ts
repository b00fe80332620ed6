import type { AssistantMessage, ToolResultPart, UserMessage } from '../../model/message.js';
import { toolCallsOf } from '../../model/message.js';
import { ANSWER } from '../../state/record/decisions.js';
import type { Entry, EntryDecision, MessageBody } from '../../state/record/entry.js';
import { SessionRecord } from '../../state/record/session-record.js';

/** One item of a chat as people read it: a message of a person, an answer, or the place of a summary. */
export type Shown =
  | { readonly type: 'user'; readonly id: string; readonly message: UserMessage }
  | ShownAnswer
  | { readonly type: 'summary'; readonly id: string; readonly text: string };

/** All responses of the model between two messages of a person. */
interface ShownAnswer {
  readonly type: 'answer';
  /** The run of the first response, or the entry of that response if its run has an earlier answer. */
  readonly id: string;
  readonly steps: readonly ShownStep[];
}

/** A response of the model, with the state of its calls by call id. */
export interface ShownStep {
  /** Identifies the turn of the response: the same in the stream of the run. */
  readonly id: string;
  readonly message: AssistantMessage;
  readonly results: ReadonlyMap<string, ShownResult>;
  /** The reasons of denied calls. An empty string stands for no reason. */
  readonly denied: ReadonlyMap<string, string>;
  /** The calls that wait for a decision, or `answer`. */
  readonly pending: ReadonlySet<string>;
}

/** The result of a call. */
interface ShownResult {
  readonly id: string;
  readonly part: ToolResultPart;
}

/** Builds the record of the entries of a session. */
export function recordOf(entries: readonly Entry[]): SessionRecord {
  const record = new SessionRecord();
  for (const entry of entries) record.add(entry);
  return record;
}

/** Returns what people read from the first message to the latest. Denied answers are left out. */
export function shownIn(record: SessionRecord): readonly Shown[] {
  return new ShownPath(record).items;
}

/** Returns the id of the answer at the end of the path, which a run without an input continues. Denied answers count. */
export function openAnswerIn(record: SessionRecord): string | undefined {
  return new ShownPath(record).answer?.id;
}

/** Returns the id of a turn, for the ids of its messages. */
export function turnId(run: string, turn: number): string {
  return `${run}.t${turn}`;
}

type OpenAnswer = ShownAnswer & { readonly steps: ShownStep[] };
type OpenStep = ShownStep & { readonly results: Map<string, ShownResult> };

/** Collects what people read on the path of a record. */
class ShownPath {
  readonly items: Shown[] = [];
  /** The answer that the next response belongs to. */
  answer: OpenAnswer | undefined = undefined;
  private readonly steps: OpenStep[] = [];
  /** The runs that have an answer. */
  private readonly answered = new Set<string>();
  private readonly decisions: Decisions;

  constructor(record: SessionRecord) {
    this.decisions = new Decisions(record);
    for (const entry of record.pathTo(record.tip)) this.add(entry);
  }

  private add(entry: Entry): void {
    const { id, body } = entry;
    if (body.type === 'summary' && body.text !== '') this.addSummary({ type: 'summary', id, text: body.text });
    if (body.type !== 'message') return;
    const { message } = body;
    if (message.role === 'assistant') this.addStep(entry, message);
    else if (message.role === 'tool') for (const part of message.content) this.addResult(entry, part);
    else if (message.role === 'user' && !this.decisions.isDenial(entry)) {
      this.answer = undefined;
      this.items.push({ type: 'user', id, message });
    }
  }

  /** The place of a summary is before the answer that it interrupts: the page continues the last message. */
  private addSummary(summary: Shown): void {
    const at = this.answer === undefined ? -1 : this.items.indexOf(this.answer);
    this.items.splice(at < 0 ? this.items.length : at, 0, summary);
  }

  private addStep(entry: Entry, message: AssistantMessage): void {
    this.answer ??= { type: 'answer', id: this.answerId(entry), steps: [] };
    const { decisions, answer } = this;
    if (decisions.isDenied(entry.id, ANSWER)) return;
    if (answer.steps.length === 0) this.items.push(answer);
    const results = message.content.flatMap((part) =>
      part.type === 'tool-result' ? [[part.id, { id: `${entry.id}.${part.id}`, part }] as const] : [],
    );
    const step: OpenStep = {
      id: idOf(entry),
      message,
      results: new Map(results),
      denied: decisions.denialsOf(entry.id, toolCallsOf(message)),
      pending: decisions.pendingOf(entry.id),
    };
    this.steps.push(step);
    answer.steps.push(step);
  }

  private answerId({ id, run }: Entry): string {
    if (run === undefined || this.answered.has(run)) return id;
    this.answered.add(run);
    return run;
  }

  /** Adds a result to the latest response with its call. */
  private addResult(entry: Entry, part: ToolResultPart): void {
    const step = this.steps.findLast(({ message }) => toolCallsOf(message).some(({ id }) => id === part.id));
    if (step === undefined || step.results.has(part.id)) return;
    step.results.set(part.id, { id: `${idOf(entry)}.${part.id}`, part });
  }
}

function idOf({ id, run, body }: Entry): string {
  const { turn } = body as MessageBody;
  return run === undefined || turn === undefined ? id : turnId(run, turn);
}

/** The decisions in a record, by the entry and the call. */
class Decisions {
  private readonly latest = new Map<string, EntryDecision>();
  /** The runs that denied an answer. The first message that such a run adds tells the model. */
  private readonly denying = new Set<string>();
  private readonly waiting: SessionRecord['pending'];

  constructor({ entries, pending }: SessionRecord) {
    this.waiting = pending;
    for (const { body, parent, run, path } of entries) {
      if (body.type !== 'decision' || path !== undefined) continue;
      this.latest.set(keyOf(parent ?? '', body.call), body.decision);
      if (run !== undefined && body.call === ANSWER && denialOf(body.decision) !== undefined) this.denying.add(run);
    }
  }

  isDenied(entry: string, call: string): boolean {
    return denialOf(this.latest.get(keyOf(entry, call))) !== undefined;
  }

  denialsOf(entry: string, calls: readonly { readonly id: string }[]): ReadonlyMap<string, string> {
    const denied = calls.map(({ id }) => [id, denialOf(this.latest.get(keyOf(entry, id)))] as const);
    return new Map(denied.filter((pair): pair is readonly [string, string] => pair[1] !== undefined));
  }

  pendingOf(entry: string): ReadonlySet<string> {
    return new Set(this.waiting?.entry === entry ? this.waiting.calls.map(({ id }) => id) : []);
  }

  /** True for the message that tells the model about a denied answer. */
  isDenial({ run, body }: Entry): boolean {
    return (body as MessageBody).post === undefined && run !== undefined && this.denying.delete(run);
  }
}

function keyOf(entry: string, call: string): string {
  return JSON.stringify([entry, call]);
}

function denialOf(decision: EntryDecision | undefined): string | undefined {
  return typeof decision === 'object' && 'deny' in decision ? decision.deny : undefined;
}
