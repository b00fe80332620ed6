import type { TraceRecord, TraceRecordOf } from '../../trace/record.js';
import type { Item, Mark, Story } from './story.js';

/** One block of the conversation: a message, a tool call, a note or an error. */
export interface Block {
  readonly role: 'user' | 'assistant' | 'reasoning' | 'call' | 'note' | 'error';
  readonly who: string;
  readonly text: string;
  /** The arguments of a tool call. */
  readonly input?: string | undefined;
  /** The ids of the nested runs that a tool call has started. */
  readonly inside?: readonly string[] | undefined;
  readonly mark: Mark;
  readonly depth: number;
  readonly runId: string;
  /** The position in the trace of the record that contains the text. */
  readonly index: number;
  readonly item: Item | undefined;
}

/** Returns a string unchanged, and any other value as JSON. */
export function jsonText(value: unknown, indent = 0): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, indent) ?? '');
}

/** Returns the blocks of the conversation of a run and its nested runs, in order. */
export function conversationOf(story: Story): readonly Block[] {
  const agents = new Map<string, string>();
  return story.records.flatMap((record, index) => {
    const item = story.itemOf.get(index);
    const { runId, path = [] } = record;
    if (record.type === 'run-start') agents.set(runId, record.agent);
    if (record.type === 'handoff') agents.set(runId, record.to);
    const agent = agents.get(runId) ?? 'agent';
    const base = { mark: 'fine', depth: path.length, runId, index, item } as const;
    return blocksIn({ story, item, agent }, record).map((block): Block => ({ ...base, ...block }));
  });
}

interface Place {
  readonly story: Story;
  readonly item: Item | undefined;
  readonly agent: string;
}

type BlockContent = Pick<Block, 'role' | 'who' | 'text'> & Partial<Block>;

function blocksIn(place: Place, record: TraceRecord): readonly BlockContent[] {
  switch (record.type) {
    case 'run-start':
      return record.input === ''
        ? []
        : [{ role: 'user', who: record.path === undefined ? 'user' : 'task', text: record.input }];
    case 'post':
      return [{ role: 'user', who: record.by ?? 'post', text: jsonText(record.message.content) }];
    case 'model-end':
      return (record.response?.content ?? []).flatMap((part): BlockContent[] => {
        if (part.type === 'text') return [{ role: 'assistant', who: place.agent, text: part.text }];
        return part.type === 'reasoning' ? [{ role: 'reasoning', who: 'reasoning', text: part.text }] : [];
      });
    case 'tool-start':
      return [callOf(place, record)];
    case 'handoff':
      return [{ role: 'note', who: 'handoff', text: `${record.from} handed over to ${record.to}.` }];
    case 'compaction-end':
      return [{ role: 'note', who: 'compaction', text: 'Old messages were replaced by a summary.' }];
    case 'run-error':
      return [{ role: 'error', who: place.agent, text: record.error.message, mark: 'failed' }];
    default:
      return [];
  }
}

/** Returns the block of a tool call with its result. It stands at the start of the call, before its nested runs. */
function callOf({ story, item }: Place, { name, input }: TraceRecordOf<'tool-start'>): BlockContent {
  const end = item?.isOpen === false ? story.records[item.to] : undefined;
  const inside = [...story.callers].flatMap(([runId, caller]) => (caller === item ? [runId] : []));
  const shown = { role: 'call', who: name, input: jsonText(input), mark: item?.mark ?? 'fine', inside } as const;
  if (end?.type !== 'tool-end') return { ...shown, text: 'did not end' };
  if (end.result === undefined) return { ...shown, text: 'waits for a decision' };
  return { ...shown, text: end.error?.message ?? contentText(end.result.content) };
}

function contentText(content: unknown): string {
  if (!Array.isArray(content)) return jsonText(content);
  return content.map((part) => (typeof part?.text === 'string' ? part.text : jsonText(part))).join('\n');
}
