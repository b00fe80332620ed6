import type { Finding } from '../../trace/explain/finding.js';
import type { TraceRecord } from '../../trace/record.js';

/** A traced run in the form of the page: lanes of items over time, and the conversation. */
export interface Story {
  readonly records: readonly TraceRecord[];
  readonly findings: readonly Finding[];
  /** The agent of the outermost run, and the agents of nested runs, in the order of their lanes. */
  readonly groups: readonly Group[];
  /** The items in the order of their start. */
  readonly items: readonly Item[];
  /** The items by the indices of their records. */
  readonly itemOf: ReadonlyMap<number, Item>;
  /** The tool calls that started nested runs, by the id of the nested run. */
  readonly callers: ReadonlyMap<string, Item>;
}

/** The runs of one agent in one place: the outermost run, or all nested runs that a tool has started. */
export interface Group {
  /** Identifies the group. Stays the same in a longer version of the trace. */
  readonly key: string;
  readonly agent: string;
  readonly depth: number;
  /** The lane of the tool that started these runs. Undefined for the outermost run. */
  readonly parent: Lane | undefined;
  readonly lanes: readonly Lane[];
}

/** A row of the timeline. */
export interface Lane {
  readonly kind: 'turns' | 'lifecycle' | 'model' | 'context' | 'tool';
  readonly name: string;
  readonly group: Group;
  readonly items: readonly Item[];
}

/** The state of an item, which decides its colour. */
export type Mark = 'fine' | 'failed' | 'denied' | 'changed' | 'waits' | 'note';

/** Something that happened in a run. */
export interface Item {
  /** The index of the record of the item. Stays the same in a longer version of the trace. */
  readonly id: number;
  readonly kind: 'turn' | 'model' | 'hook' | 'tool' | 'decision' | 'event' | 'failure';
  readonly lane: Lane;
  readonly runId: string;
  readonly turn: number | undefined;
  readonly title: string;
  readonly mark: Mark;
  /** The indices of the first and the last record of the item. */
  readonly from: number;
  readonly to: number;
  /** True if the end of the item is not in the trace. Then `to` is the last record. */
  readonly isOpen: boolean;
  /** The duration in milliseconds. Undefined for an item without a duration. */
  readonly ms: number | undefined;
}
