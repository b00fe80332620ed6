import type { JsonObject } from '../../internal/json.js';
import type { ToolCallPart, WaitingRun } from '../../model/message.js';
import type { Suspension } from './decisions.js';
import type { Entry } from './entry.js';
import type { MessageList } from './message-list.js';

/** The calls of the latest turn, if at least one has no result. */
export interface OpenTurn {
  /** The id of the entry with the calls. */
  readonly entry: string;
  readonly open: readonly ToolCallPart[];
}

/** The record of one nested run, in the form of a conversation. */
interface RunRecord {
  readonly model: MessageList;
  readonly tip: string | undefined;
  readonly openTurn: OpenTurn | undefined;
  readonly pending: Suspension | undefined;
  get(id: string): Entry | undefined;
  add(entry: Entry): void;
}

/** A nested run. */
export interface NestedRecord<R extends RunRecord> {
  readonly runId: string;
  readonly agent: string;
  /** The ids of the enclosing tool calls, outermost first. */
  readonly path: readonly string[];
  /** The id of the entry with the tool call that started the run. */
  readonly outer: string;
  readonly record: R;
  /** The number of the latest turn of the run. */
  turn: number;
  /** The error of a run that has failed. */
  failure: JsonObject | undefined;
}

const NEW = { turn: 0, failure: undefined };

/** The records of the nested runs of a conversation. Their entries have a `path`. */
export class NestedRuns<R extends RunRecord> {
  private readonly runs = new Map<string, NestedRecord<R>>();

  constructor(private readonly makeRecord: (nested: NestedRuns<R>) => R) {}

  /** Adds an entry of a nested run. */
  add({ path = [], ...entry }: Entry): void {
    const { run: runId = '', agent = '', parent = '', body } = entry;
    const known = this.runs.get(runId);
    const nested = known ?? { runId, agent, path, outer: parent, record: this.makeRecord(this), ...NEW };
    // Moves the run to the end, because the order shows which run is the latest.
    this.runs.delete(runId);
    this.runs.set(runId, nested);
    nested.record.add(nested.record.get(parent) === undefined ? { ...entry, parent: undefined } : entry);
    if (body.type === 'message') nested.turn = body.turn ?? nested.turn;
    nested.failure = body.type === 'failed' ? body.error : undefined;
  }

  /** Returns the latest nested run of a call. */
  inside(entry: string, call: string): NestedRecord<R> | undefined {
    return [...this.runs.values()].findLast(({ outer, path }) => outer === entry && path.at(-1) === call);
  }

  /** Returns all nested runs of the calls of an entry. */
  of(entry: string): readonly NestedRecord<R>[] {
    return [...this.runs.values()].filter(({ outer }) => outer === entry);
  }

  /** Returns a nested run by its id. */
  get(runId: string): NestedRecord<R> | undefined {
    return this.runs.get(runId);
  }

  /**
   * Returns a call with its waiting nested run, which the next run continues. Returns the call itself if it has none.
   */
  withInside(entry: string, call: ToolCallPart): ToolCallPart {
    const nested = this.inside(entry, call.id);
    return nested === undefined ? call : { ...call, inside: this.toWaitingRun(nested) };
  }

  /** Stores the waiting nested runs of the open calls in the message with these calls. */
  mark(list: MessageList, { entry, open }: OpenTurn): void {
    if (this.runs.size === 0) return;
    const mark = (call: ToolCallPart) => (open.some(({ id }) => id === call.id) ? this.withInside(entry, call) : call);
    list.replace(entry, (message) => {
      const content = message.content.map((part) => (part.type === 'tool-call' ? mark(part) : part));
      return { ...message, content };
    });
  }

  private toWaitingRun({ runId, agent, turn, record }: NestedRecord<R>): WaitingRun {
    const { model, openTurn, pending } = record;
    const list = model.copy();
    if (openTurn !== undefined) this.mark(list, openTurn);
    const isInside = (id: string) => openTurn !== undefined && this.inside(openTurn.entry, id) !== undefined;
    const waits = pending?.calls.filter(({ id }) => !isInside(id)) ?? [];
    return { runId, agent, turn, messages: list.messages, waits };
  }
}
