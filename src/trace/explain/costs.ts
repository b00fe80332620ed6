import type { TraceRecordOf } from '../record.js';
import type { Finding } from './finding.js';
import { largestSource, sizeOf, type TraceIndex } from './trace-index.js';

/**
 * Explains each prompt cache miss. Names the lifecycles that changed the beginning of the request, if the trace shows
 * them.
 */
export function cacheMissesIn(trace: TraceIndex): readonly Finding[] {
  return trace.all('cache-miss').map(({ record, index }) => {
    const { runId, turn, cachedTokens, expectedTokens, cause, difference, by } = record;
    const [name] = by;
    const missed = `The service read ${cachedTokens} of ${expectedTokens} tokens of agent ${trace.agentOf(runId)} from its cache`;
    const text = difference === undefined ? `${missed} (${cause}).` : `${missed}: ${changed(difference, by)}.`;
    return {
      kind: 'cache-miss',
      text,
      by: name === undefined ? undefined : { kind: 'lifecycle', name },
      runId,
      turn,
      records: [index],
    };
  });
}

function changed({ part, name, index }: CacheDifference, by: readonly string[]): string {
  const number = index === undefined ? '' : ` ${index}`;
  const which = name === undefined ? number : ` "${name}"`;
  const who = by.length === 0 ? '' : ` by lifecycle ${by.map((one) => JSON.stringify(one)).join(' and ')}`;
  return `${part}${which} was changed${who}`;
}

type CacheDifference = NonNullable<TraceRecordOf<'cache-miss'>['difference']>;

/** Explains the last model call of a run if the results of one tool are more than half of its context. */
export function largeContextsIn(trace: TraceIndex): readonly Finding[] {
  return trace.all('run-start').flatMap(({ record: { runId } }): Finding[] => {
    const last = trace.lastModelCall(runId, trace.records.length);
    const largest = last && largestSource(last.record);
    if (last === undefined || largest === undefined || !largest.name.startsWith('tool ')) return [];
    const name = largest.name.slice(5);
    const first = trace.all('model-call', runId)[0]?.record ?? last.record;
    const text = `Results of tool "${name}" are ${largest.size} of the ${largest.total} characters that agent ${trace.agentOf(runId)} read. At first, it read ${sizeOf(first)}.`;
    return [
      { kind: 'context', text, by: { kind: 'tool', name }, runId, turn: last.record.turn, records: [last.index] },
    ];
  });
}

/** Explains the slowest turn of the outermost run if one model call, hook or tool took at least half of its time. */
export function slowTurnIn(trace: TraceIndex): readonly Finding[] {
  const turns = trace.all('turn-start').flatMap((start) => {
    const end = trace
      .all('turn-end', start.record.runId)
      .find(({ record, index }) => record.turn === start.record.turn && index > start.index);
    return end === undefined || start.record.path !== undefined
      ? []
      : [{ start, end, ms: end.record.at - start.record.at }];
  });
  const slowest = turns.reduce<(typeof turns)[number] | undefined>(
    (most, turn) => (most === undefined || turn.ms > most.ms ? turn : most),
    undefined,
  );
  if (slowest === undefined || slowest.ms === 0) return [];
  const { start, end, ms } = slowest;
  const longest = partsOf(trace, start.index, end.index).reduce<Part | undefined>(
    (most, part) => (most === undefined || part.ms > most.ms ? part : most),
    undefined,
  );
  if (longest === undefined || longest.ms * 2 < ms) return [];
  const { runId, turn } = start.record;
  const text = `The slowest turn, turn ${turn} of agent ${trace.agentOf(runId)}, took ${ms} ms: ${longest.text} took ${longest.ms} ms of it.`;
  return [{ kind: 'slow-turn', text, by: longest.by, runId, turn, records: [longest.index, end.index] }];
}

interface Part {
  readonly text: string;
  readonly ms: number;
  readonly by: NonNullable<Finding['by']>;
  readonly index: number;
}

/**
 * Returns the durations in a turn, including its nested runs: of each model call, each hook, and each tool. Each
 * duration excludes the others.
 */
function partsOf(trace: TraceIndex, from: number, to: number): readonly Part[] {
  const isHere = ({ index }: { readonly index: number }) => index > from && index < to;
  const models = trace.all('model-call').filter(isHere);
  const hooks = trace.all('hook').filter(isHere);
  return [
    ...models.map(({ record: { model: name, ms }, index }): Part => {
      return { text: `model "${name}"`, ms, by: { kind: 'model', name }, index };
    }),
    ...hooks.map(({ record: { lifecycle: name, point, ownMs: ms }, index }): Part => {
      return { text: `${point} of lifecycle "${name}"`, ms, by: { kind: 'lifecycle', name }, index };
    }),
    ...trace
      .all('tool-end')
      .filter(isHere)
      .flatMap((end) => toolPart(trace, end)),
  ];
}

/**
 * Returns the duration of one tool call, without the time of its hooks. Returns an empty array for a tool with a nested
 * run, because the model calls and tools of that run are measured instead.
 */
function toolPart(trace: TraceIndex, { record, index }: ReturnType<typeof trace.all<'tool-end'>>[number]): Part[] {
  const { runId, callId, name, turn } = record;
  const start = trace.all('tool-start', runId).find(({ record }) => record.callId === callId && record.turn === turn);
  const hasInside = trace.records.some(({ path }) => path?.at(-1) === callId);
  if (start === undefined || hasInside) return [];
  const own = trace
    .all('hook', runId)
    .filter(({ record }) => record.call?.id === callId && record.turn === turn)
    .reduce((sum, { record }) => sum + record.ownMs, 0);
  const ms = Math.max(0, record.at - start.record.at - own);
  return [{ text: `tool "${name}"`, ms, by: { kind: 'tool', name }, index }];
}

/**
 * Names the agent that caused more than half of the cost. If some calls have no price, names the agent with more than
 * half of the tokens. Returns nothing if only one agent ran.
 */
export function tokensIn(trace: TraceIndex): readonly Finding[] {
  const sums = new Map<string, Sum>();
  for (const { record, index } of trace.all('model-call')) {
    const agent = trace.agentOf(record.runId);
    const sum = sums.get(agent) ?? { tokens: 0, cost: 0, runId: record.runId, index };
    const tokens = sum.tokens + (record.usage?.totalTokens ?? 0);
    sums.set(agent, { ...sum, tokens, cost: sum.cost + (record.cost ?? 0), index });
  }
  const total = [...sums.values()].reduce(
    (all, { tokens, cost }) => ({ tokens: all.tokens + tokens, cost: all.cost + cost }),
    { tokens: 0, cost: 0 },
  );
  // If some calls have no price, the costs could blame the wrong agent.
  const isPriced = trace
    .all('model-call')
    .every(({ record }) => record.usage === undefined || record.cost !== undefined);
  const unit = isPriced && total.cost > 0 ? 'cost' : 'tokens';
  const [most] = [...sums].sort(([, a], [, b]) => b[unit] - a[unit]);
  if (most === undefined || sums.size < 2) return [];
  const [agent, { tokens, cost, runId, index }] = most;
  if (most[1][unit] * 2 <= total[unit]) return [];
  const price = unit === 'cost' ? `, and cost ${moneyText(cost)} of ${moneyText(total.cost)}` : '';
  const text = `Agent ${agent} used ${tokens} of the ${total.tokens} tokens${price}.`;
  return [{ kind: 'tokens', text, by: { kind: 'agent', name: JSON.parse(agent) }, runId, records: [index] }];
}

interface Sum {
  readonly tokens: number;
  /** The cost in US dollars. */
  readonly cost: number;
  readonly runId: string;
  readonly index: number;
}

/** Formats an amount of US dollars for display, such as `$0.42`. */
export function moneyText(dollars: number): string {
  return dollars > 0 && dollars < 0.01 ? `$${dollars.toPrecision(2)}` : `$${dollars.toFixed(2)}`;
}
