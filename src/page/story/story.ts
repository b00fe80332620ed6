import type { Finding } from '../../trace/explain/finding.js';
import type { TraceRecord } from '../../trace/record.js';

/** A traced run as the page shows it: lanes of items over the time, and the conversation. */
export interface Story {
  readonly records: readonly TraceRecord[];
  readonly findings: readonly Finding[];
  /** The agent of the outermost run, and the agents of nested runs, in the order of their lanes. */
  readonly groups: readonly Group[];
  /** In the order of their beginnings. */
  readonly items: readonly Item[];
  /** By the indices of records. */
  readonly itemOf: ReadonlyMap<number, Item>;
  /** The tool calls that started runs, by the ids of the runs. */
  readonly callers: ReadonlyMap<string, Item>;
}

/** The runs of one agent in one place: the outermost run, or all runs that a tool has started. */
export interface Group {
  /** The same in a longer version of the trace. */
  readonly key: string;
  readonly agent: string;
  readonly depth: number;
  /** The row of the tool that started these runs. Undefined for the outermost run. */
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
  /** The index of the record that the item was made from: the same in a longer version of the trace. */
  readonly id: number;
  readonly kind: 'turn' | 'model' | 'hook' | 'tool' | 'decision' | 'event' | 'failure';
  readonly lane: Lane;
  readonly runId: string;
  readonly turn: number | undefined;
  readonly title: string;
  readonly mark: Mark;
  /** The indices of the records at its beginning and its end. */
  readonly from: number;
  readonly to: number;
  /** True if its end is not in the trace. `to` is then the last record. */
  readonly isOpen: boolean;
  /** Milliseconds. Undefined for a moment. */
  readonly ms: number | undefined;
}
