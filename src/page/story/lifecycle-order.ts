import type { TraceRecord } from '../../trace/record.js';

/**
 * Returns the names of the lifecycles in the order in which their hooks start. Hooks are recorded when they end, so the
 * records of hooks such as `wrapToolCall` have the opposite order.
 */
export function lifecycleOrder(records: readonly TraceRecord[]): readonly string[] {
  const order: string[] = [];
  const insert = (names: readonly string[]) => {
    names.forEach((name, index) => {
      if (order.includes(name)) return;
      const after = names.slice(0, index).findLast((one) => order.includes(one));
      const before = names.slice(index + 1).find((one) => order.includes(one));
      if (after === undefined && before !== undefined) order.splice(order.indexOf(before), 0, name);
      else if (after !== undefined) order.splice(order.indexOf(after) + 1, 0, name);
      else order.push(name);
    });
  };
  for (const [key, names] of hooksByPlace(records)) insert(key.includes('wrap') ? [...names].reverse() : names);
  for (const record of records) if (record.type === 'decision') insert([record.decision.by]);
  return order;
}

function hooksByPlace(records: readonly TraceRecord[]): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  for (const record of records) {
    if (record.type !== 'hook') continue;
    const { point, runId, turn, call, lifecycle } = record;
    const key = [point, runId, turn, call?.id].join('\n');
    const names = places.get(key);
    if (names === undefined) places.set(key, [lifecycle]);
    else if (!names.includes(lifecycle)) names.push(lifecycle);
  }
  return places;
}
