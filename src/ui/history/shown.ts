import type { AssistantMessage, ToolResultPart, UserMessage } from '../../model/message.js';
import { toolCallsOf } from '../../model/message.js';
import { ANSWER } from '../../model/waiting.js';
import type { Entry, MessageBody } from '../../state/record/entry.js';
import type { NestedRecord } from '../../state/record/nested-runs.js';
import { type SessionRecord, waitingOf } from '../../state/record/session-record.js';
import { resultPartOf, toGivenResult } from '../../tools/tool-result.js';

/** One item of a chat that people see: a user message, an answer, or the marker of a summary. */
export type Shown =
  | ShownMessage
  | ShownAnswer
  | { readonly type: 'summary'; readonly id: string; readonly text: string };

/** A user message. */
export interface ShownMessage {
  readonly type: 'user';
  readonly id: string;
  /** The id under which the message was sent during a run. Undefined for other messages. */
  readonly post?: string | undefined;
  readonly message: UserMessage;
}

/** All responses of the model between two user messages. A message that was sent during a run is part of the answer. */
interface ShownAnswer {
  readonly type: 'answer';
  /** The id of the run of the first response. If that run already has an answer, the id of the response's entry. */
  readonly id: string;
  readonly steps: readonly ShownStep[];
}

/** A response of the model, with the state of its tool calls by call id. */
export interface ShownStep {
  /** Identifies the turn of the response. The stream of the run uses the same id. */
  readonly id: string;
  /** The number of the turn in its run, if it is known. */
  readonly turn: number | undefined;
  readonly message: AssistantMessage;
  /** The user messages that the run read before this response. */
  readonly joined: readonly ShownMessage[];
  readonly results: ReadonlyMap<string, ShownResult>;
  /** The reasons of denied tool calls. An empty string if no reason was given. */
  readonly denied: ReadonlyMap<string, string>;
  /**
   * The ids of the calls that wait for an approval or whose nested runs wait. For a suspended answer, `answer`.
   * Excludes calls that the page runs.
   */
  readonly pending: ReadonlySet<string>;
  /** The nested runs that the tool calls have started. */
  readonly nested: readonly NestedRecord<SessionRecord>[];
}

/** The result of a tool call. */
interface ShownResult {
  readonly id: string;
  readonly part: ToolResultPart;
}

/** Returns the messages, answers and summaries that people see, in order. Omits denied answers. */
export function shownIn(record: SessionRecord): readonly Shown[] {
  return new ShownPath(record).items;
}

/**
 * Returns the id of the latest answer if no user message follows it. A run without an input continues this answer.
 * Includes denied answers.
 */
export function openAnswerIn(record: SessionRecord): string | undefined {
  return new ShownPath(record).answer?.id;
}

/**
 * Returns true for a message that was sent during a run, after its first turn had started. Such a message is one of the
 * run's events.
 */
export function isInAnswer(entry: Entry): boolean {
  const { type } = entry.body;
  const { post, turn = 0 } = entry.body as MessageBody;
  return type === 'message' && post !== undefined && turn > 0;
}

/** Returns the id of a turn. The ids of its messages start with it. */
export function turnId(run: string, turn: number): string {
  return `${run}.t${turn}`;
}

type OpenAnswer = ShownAnswer & { readonly steps: ShownStep[] };
type OpenStep = ShownStep & { readonly results: Map<string, ShownResult> };

/** Collects the items that people see, from the first entry of a conversation to the latest one. */
class ShownPath {
  readonly items: Shown[] = [];
  /** The answer to which the next response belongs. */
  answer: OpenAnswer | undefined = undefined;
  private readonly pending: SessionRecord['pending'];
  private readonly steps: OpenStep[] = [];
  /** User messages that a run read after the last response of the answer. */
  private readonly joined: ShownMessage[] = [];
  /** The runs that have turns in the current answer. */
  private readonly answering = new Set<string | undefined>();
  /** The runs whose id is already the id of an answer. */
  private readonly answered = new Set<string>();
  /**
   * The runs whose first user message was already seen. If a run follows a denied answer, this message tells the model
   * about the denial.
   */
  private readonly announced = new Set<string>();

  constructor(private readonly record: SessionRecord) {
    this.pending = record.pending;
    for (const entry of record.pathTo(record.tip)) this.add(entry);
    if (this.joined.length > 0) this.endAnswer();
  }

  private add(entry: Entry): void {
    const { id, body } = entry;
    if (body.type === 'summary' && body.text !== '') this.addSummary({ type: 'summary', id, text: body.text });
    if (body.type !== 'message') return;
    const { message } = body;
    if (message.role === 'assistant') this.addStep(entry, message);
    else if (message.role === 'tool') for (const part of message.content) this.addResult(entry, part);
    else if (message.role === 'user' && !this.isDenial(entry)) {
      this.addMessage(entry, { type: 'user', id, post: body.post, message });
    }
  }

  private addMessage(entry: Entry, message: ShownMessage): void {
    // A message about the end of a background work is not shown, because nobody typed it.
    const shown = (entry.body as MessageBody).work === undefined ? [message] : [];
    if (isInAnswer(entry) || this.isResumed(entry)) return void this.joined.push(...shown);
    this.endAnswer();
    this.items.push(...shown);
  }

  /** Returns true for a message that a resumed run read after the results of its waiting calls. */
  private isResumed({ run, body }: Entry): boolean {
    return (body as MessageBody).post !== undefined && this.answering.has(run);
  }

  /** Ends the current answer. Messages after its last response become separate items. */
  private endAnswer(): void {
    this.items.push(...this.joined.splice(0));
    this.answer = undefined;
    this.answering.clear();
  }

  /**
   * Adds the marker of a summary. If it interrupts an answer, adds it before the answer, because a page continues only
   * its last message.
   */
  private addSummary(summary: Shown): void {
    const at = this.answer === undefined ? -1 : this.items.indexOf(this.answer);
    this.items.splice(at < 0 ? this.items.length : at, 0, summary);
  }

  private addStep(entry: Entry, given: AssistantMessage): void {
    this.answer ??= { type: 'answer', id: this.answerId(entry), steps: [] };
    const { answer, pending } = this;
    const { decisions } = this.record;
    if (decisions.denialOf(entry.id, ANSWER) !== undefined) return;
    const message = decisions.withEdits(entry.id, given);
    const denials = toolCallsOf(message).map(({ id }) => [id, decisions.denialOf(entry.id, id)] as const);
    const waiting = pending?.entry === entry.id ? waitingOf(this.record) : [];
    const asked = waiting.filter(({ question }) => question?.needs === undefined);
    if (answer.steps.length === 0) this.items.push(answer);
    const ofProvider = message.content.filter((part) => part.type === 'tool-result');
    const results = [...ofProvider, ...this.givenResults(entry, message)];
    // The run that continues after the approval streams the answer, before its first turn.
    const approval = decisions.approvalOf(entry.id);
    const step: OpenStep = {
      id: approval === undefined ? idOf(entry) : turnId(approval, 0),
      turn: (entry.body as MessageBody).turn,
      message,
      joined: this.joined.splice(0),
      results: new Map(results.map((part) => [part.id, { id: `${entry.id}.${part.id}`, part }])),
      denied: new Map(denials.filter((pair): pair is readonly [string, string] => pair[1] !== undefined)),
      pending: new Set(asked.map(({ id, callers: [caller] }) => caller?.id ?? id)),
      nested: this.record.nested.of(entry.id),
    };
    this.steps.push(step);
    this.answering.add(entry.run);
    answer.steps.push(step);
  }

  /**
   * Returns the results that the page itself sent for the calls of a message. During a run, the history of the page has
   * no entries with tool results yet, so these results are read from the decisions on the calls.
   */
  private givenResults({ id: entry }: Entry, message: AssistantMessage): readonly ToolResultPart[] {
    return toolCallsOf(message).flatMap((call) => {
      const given = this.record.decisions.resultOf(entry, call.id);
      return given === undefined ? [] : [resultPartOf(call, toGivenResult(given.result, given.isError))];
    });
  }

  /** Returns true for the message that tells the model about a denied answer. People do not see it. */
  private isDenial({ run, body }: Entry): boolean {
    if ((body as MessageBody).post !== undefined || run === undefined || this.announced.has(run)) return false;
    this.announced.add(run);
    return this.record.decisions.hasDenied(run);
  }

  private answerId({ id, run }: Entry): string {
    if (run === undefined || this.answered.has(run)) return id;
    this.answered.add(run);
    return run;
  }

  /** Adds a result to the latest response that has its call. */
  private addResult(entry: Entry, part: ToolResultPart): void {
    const step = this.steps.findLast(({ message }) => toolCallsOf(message).some(({ id }) => id === part.id));
    if (step === undefined || step.results.has(part.id)) return;
    step.results.set(part.id, { id: `${idOf(entry)}.${part.id}`, part });
    // A run closes calls of another run before its own turns, so such a result has no turn.
    if ((entry.body as MessageBody).turn !== undefined) this.answering.add(entry.run);
  }
}

function idOf({ id, run, body }: Entry): string {
  const { turn } = body as MessageBody;
  return run === undefined || turn === undefined ? id : turnId(run, turn);
}
