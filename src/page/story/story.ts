import type { Finding } from '../../trace/explain/finding.js';
import type { TraceRecord } from '../../trace/record.js';

/** A traced run as the page shows it: its findings, and a timeline of items in lanes and groups. */
export interface Story {
  readonly records: readonly TraceRecord[];
  readonly findings: readonly Finding[];
  /** The groups of the timeline, from top to bottom. The first one is the agent of the outermost run. */
  readonly groups: readonly Group[];
  /** The items of the timeline, in the order of their start. */
  readonly items: readonly Item[];
  /** The items of the timeline, by the positions of their records in the trace. */
  readonly itemOf: ReadonlyMap<number, Item>;
  /** The tool calls that started nested runs, by the id of the nested run. */
  readonly callers: ReadonlyMap<string, Item>;
}

/** A group of lanes for one agent: the outermost run, or all nested runs of the agent that one tool has started. */
export interface Group {
  /** Identifies the group. It stays the same when the trace grows. */
  readonly key: string;
  readonly agent: string;
  readonly depth: number;
  /** The lane of the tool that started the runs of this group. Undefined for the outermost run. */
  readonly parent: Lane | undefined;
  readonly lanes: readonly Lane[];
}

/** A row of the timeline, for example for one tool or one lifecycle. */
export interface Lane {
  readonly kind: 'turns' | 'lifecycle' | 'model' | 'context' | 'tool';
  readonly name: string;
  readonly group: Group;
  readonly items: readonly Item[];
}

/** The state of an item, which decides its colour. */
export type Mark = 'fine' | 'failed' | 'denied' | 'changed' | 'waits' | 'note';

/** A bar or a mark on the timeline, for something that happened in a run. */
export interface Item {
  /** The position of the item's record in the trace. It stays the same when the trace grows. */
  readonly id: number;
  readonly kind: 'turn' | 'model' | 'hook' | 'tool' | 'decision' | 'event' | 'failure';
  readonly lane: Lane;
  readonly runId: string;
  readonly turn: number | undefined;
  readonly title: string;
  readonly mark: Mark;
  /** The positions in the trace of the first and the last record of the item. */
  readonly from: number;
  readonly to: number;
  /** True if the item has not ended in the trace. Then `to` is the last record of the trace. */
  readonly isOpen: boolean;
  /** The duration in milliseconds. Undefined for an item without a duration. */
  readonly ms: number | undefined;
}
