import { explain } from '../../trace/explain/explain.js';
import type { TraceRecord, TraceRecordOf } from '../../trace/record.js';
import { type GroupDraft, type ItemDraft, type LaneDraft, Lanes } from './drafts.js';
import { lifecycleOrder } from './lifecycle-order.js';
import type { Mark, Story } from './story.js';

/** Arranges the records of a trace as items on a timeline, for the trace page. */
export function buildStory(records: readonly TraceRecord[]): Story {
  const builder = new StoryBuilder(records);
  records.forEach((record, index) => {
    builder.take(record, index);
  });
  const groups = builder.lanes.inOrder(lifecycleOrder(records));
  const items = [...builder.items].sort((a, b) => a.from - b.from);
  const findings = explain(records);
  for (const { kind, records: involved } of findings) {
    const call = kind === 'denied-call' ? builder.itemOf.get(involved.at(-1) ?? -1) : undefined;
    if (call !== undefined) call.mark = 'denied';
  }
  return { records, findings, groups, items, itemOf: builder.itemOf, callers: builder.callers };
}

/** A run of the trace, and its turn and model call that have not ended yet. */
interface OpenRun {
  readonly group: GroupDraft;
  turn: ItemDraft | undefined;
  /** The index of the record at which the latest model call of the run started, including its hooks. */
  begun: number;
  /** The index of the record at which the latest attempt of this model call started. */
  asked: number;
  /** The index of the latest record of the run. */
  last: number;
}

type Drawn = Pick<ItemDraft, 'kind' | 'title' | 'mark'> & { readonly from?: number; readonly ms?: number | undefined };

class StoryBuilder {
  readonly lanes = new Lanes();
  readonly items: ItemDraft[] = [];
  readonly itemOf = new Map<number, ItemDraft>();
  readonly callers = new Map<string, ItemDraft>();
  private readonly runs = new Map<string, OpenRun>();
  /** The items of the tool calls, by path: the ids of the enclosing tool calls and of the call. */
  private readonly calls = new Map<string, ItemDraft>();

  constructor(private readonly records: readonly TraceRecord[]) {}

  take(record: TraceRecord, index: number): void {
    if (record.type === 'trace') return;
    if (record.type === 'run-start') return this.startRun(record, index);
    const run = this.runs.get(record.runId);
    if (run === undefined) return;
    const build = BUILDERS[record.type] as Build | undefined;
    if (build !== undefined) build({ builder: this, run, index }, record);
    else this.note(run, index, { kind: 'event', title: record.type, mark: 'note' });
    run.last = index;
  }

  private startRun({ runId, agent, path }: TraceRecordOf<'run-start'>, index: number): void {
    const caller = path && this.calls.get(keyOf(path));
    // Ignores a repeated start of a run, because the run would then enclose itself.
    if (caller !== undefined && !this.runs.has(runId)) this.callers.set(runId, caller);
    const group = this.lanes.group(agent, caller?.lane);
    this.lanes.lane(group, 'turns', agent);
    this.runs.set(runId, { group, turn: undefined, begun: index, asked: index, last: index });
  }

  /** Adds an item that ends at the record `index` to a lane. Without `from`, the item also starts there. */
  add(lane: LaneDraft, index: number, { from = index, ms, ...drawn }: Drawn): ItemDraft {
    const { runId, turn } = { turn: undefined, ...this.records[index] } as { runId: string; turn: number | undefined };
    const item = { ...drawn, id: index, lane, runId, turn, from, to: index, isOpen: false, ms };
    this.items.push(item);
    lane.items.push(item);
    if (!this.itemOf.has(from)) this.itemOf.set(from, item);
    this.itemOf.set(index, item);
    return item;
  }

  /** Adds an item without a duration to the lane with the turns. */
  note({ group }: OpenRun, index: number, drawn: Drawn): void {
    this.add(this.lanes.lane(group, 'turns', group.agent), index, drawn);
  }

  /** Adds an item that starts at the record `index` and has not ended. `close` sets its end. */
  open(lane: LaneDraft, index: number, drawn: Drawn): ItemDraft {
    const item = this.add(lane, index, drawn);
    item.isOpen = true;
    item.to = this.records.length - 1;
    item.ms = Math.max(0, (this.records.at(-1)?.at ?? 0) - this.timeOf(index));
    return item;
  }

  close(item: ItemDraft, index: number): void {
    item.isOpen = false;
    item.to = index;
    item.ms = Math.max(0, this.timeOf(index) - this.timeOf(item.from));
    this.itemOf.set(index, item);
  }

  startCall({ path = [], callId }: TraceRecordOf<'tool-start'>, item: ItemDraft): void {
    this.calls.set(keyOf([...path, callId]), item);
  }

  endCall({ path = [], callId }: TraceRecordOf<'tool-end'>): ItemDraft | undefined {
    return this.calls.get(keyOf([...path, callId]));
  }

  recordAt(index: number): TraceRecord | undefined {
    return this.records[index];
  }

  private timeOf(index: number): number {
    return this.records[index]?.at ?? 0;
  }
}

interface Scene {
  readonly builder: StoryBuilder;
  readonly run: OpenRun;
  readonly index: number;
}

type Build = (scene: Scene, record: TraceRecord) => void;

const DECISION_MARKS: Readonly<Record<string, Mark>> = {
  approve: 'fine',
  reject: 'denied',
  respond: 'denied',
  block: 'denied',
  suspend: 'waits',
  modify: 'changed',
  pass: 'failed',
};

/**
 * The function that adds the items of each type of record. A type without an entry becomes a note in the lane with the
 * turns. An empty function skips its type.
 */
const BUILDERS: { readonly [Type in TraceRecord['type']]?: (scene: Scene, record: TraceRecordOf<Type>) => void } = {
  'turn-start'({ builder, run, index }, { turn }) {
    const lane = builder.lanes.lane(run.group, 'turns', run.group.agent);
    run.turn = builder.open(lane, index, { kind: 'turn', title: `turn ${turn}`, mark: 'fine' });
  },
  'turn-end'({ builder, run, index }) {
    if (run.turn !== undefined) builder.close(run.turn, index);
  },
  'model-start'({ run, index }) {
    run.begun = index;
    run.asked = index;
  },
  'model-call'({ builder, run, index }, { model, attempt, ms, error }) {
    const from = attempt === 0 ? run.last : run.asked;
    const drawn = { kind: 'model', title: model, mark: error === undefined ? 'fine' : 'failed', from, ms } as const;
    builder.add(builder.lanes.lane(run.group, 'model', model), index, drawn);
    builder.lanes.lane(run.group, 'context', 'context');
    run.asked = index;
  },
  'model-end'({ builder, run, index }) {
    const call = builder.itemOf.get(run.asked);
    if (call !== undefined) builder.itemOf.set(index, call);
  },
  'model-error': () => {},
  hook({ builder, run, index }, { lifecycle, point, ms, call }) {
    const callStart = point === 'wrapToolCall' && call ? startOf(builder, run, call.id) : undefined;
    const from = callStart ?? (point === 'wrapModelCall' ? run.begun : run.last);
    const drawn = { kind: 'hook', title: `${lifecycle}: ${point}`, mark: 'fine', from, ms } as const;
    builder.add(builder.lanes.lane(run.group, 'lifecycle', lifecycle), index, drawn);
  },
  decision({ builder, run, index }, { decision: { type, by, point, call } }) {
    const title = `${by}: ${type} in ${point}${call === undefined ? '' : ` of "${call.name}"`}`;
    const drawn = { kind: 'decision', title, mark: DECISION_MARKS[type] ?? 'note' } as const;
    builder.add(builder.lanes.lane(run.group, 'lifecycle', by), index, drawn);
  },
  'tool-start'({ builder, run, index }, record) {
    const lane = builder.lanes.lane(run.group, 'tool', record.name);
    builder.startCall(record, builder.open(lane, index, { kind: 'tool', title: record.name, mark: 'waits' }));
  },
  'tool-end'({ builder, index }, record) {
    const item = builder.endCall(record);
    if (item === undefined) return;
    builder.close(item, index);
    if (record.result === undefined) return;
    item.mark = record.result.isError === true ? 'failed' : 'fine';
  },
  'cache-miss'({ builder, run, index }) {
    builder.note(run, index, { kind: 'event', title: 'cache miss', mark: 'changed' });
  },
  'server-error'({ builder, run, index }, { servers }) {
    const title = `server ${servers.map(({ name }) => JSON.stringify(name)).join(', ')} not connected`;
    builder.note(run, index, { kind: 'event', title, mark: 'failed' });
  },
  'run-error'({ builder, run, index }) {
    builder.note(run, index, { kind: 'failure', title: `${run.group.agent} failed`, mark: 'failed' });
  },
  'run-end': () => {},
  entry: () => {},
};

function startOf(builder: StoryBuilder, { group }: OpenRun, callId: string): number | undefined {
  const isCall = ({ from }: ItemDraft) => {
    const start = builder.recordAt(from);
    return start?.type === 'tool-start' && start.callId === callId;
  };
  return builder.items.findLast((item) => item.kind === 'tool' && item.lane.group === group && isCall(item))?.from;
}

function keyOf(path: readonly string[]): string {
  return path.join('\n');
}
