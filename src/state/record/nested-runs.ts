import type { JsonObject } from '../../internal/json.js';
import type { ToolCallPart, WaitingRun } from '../../model/message.js';
import type { Suspension } from './decisions.js';
import type { Entry } from './entry.js';
import type { MessageList } from './message-list.js';

/** The latest message with tool calls, and its calls without a result. There is at least one such call. */
export interface OpenTurn {
  /** The id of the entry with the message that has the calls. */
  readonly entry: string;
  readonly open: readonly ToolCallPart[];
}

/** The record of one nested run, with the same members as the record of a conversation. */
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
  /** The ids of the tool calls that contain the run, outermost first. */
  readonly path: readonly string[];
  /** The id of the entry with the tool call that started the run. */
  readonly outer: string;
  readonly record: R;
  /** The number of the latest turn of the run. */
  turn: number;
  /** The error of the run as JSON. Undefined if the run has not failed. */
  failure: JsonObject | undefined;
}

const NEW = { turn: 0, failure: undefined };

/**
 * The records of the runs inside tool calls of a conversation, such as runs of sub-agents. The record of the
 * conversation contains their entries, each with a `path`.
 */
export class NestedRuns<R extends RunRecord> {
  private readonly runs = new Map<string, NestedRecord<R>>();

  constructor(private readonly makeRecord: (nested: NestedRuns<R>) => R) {}

  /** Adds an entry to the record of its nested run. Creates the record if the run is new. */
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

  /** Returns the latest nested run that a tool call has started. */
  inside(entry: string, call: string): NestedRecord<R> | undefined {
    return [...this.runs.values()].findLast(({ outer, path }) => outer === entry && path.at(-1) === call);
  }

  /** Returns all nested runs that the tool calls of one entry have started. */
  of(entry: string): readonly NestedRecord<R>[] {
    return [...this.runs.values()].filter(({ outer }) => outer === entry);
  }

  /** Returns a nested run by its id. */
  get(runId: string): NestedRecord<R> | undefined {
    return this.runs.get(runId);
  }

  /**
   * Returns a copy of the call whose field `inside` has its nested run, so that the next run can continue this run.
   * Returns the call itself if it has started no nested run.
   */
  withInside(entry: string, call: ToolCallPart): ToolCallPart {
    const nested = this.inside(entry, call.id);
    return nested === undefined ? call : { ...call, inside: this.toWaitingRun(nested) };
  }

  /**
   * Puts the nested run of each call without a result into the message of the calls, so that the next run can continue
   * it.
   */
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
