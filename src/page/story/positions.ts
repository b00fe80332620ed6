import type { TraceRecord } from '../../trace/record.js';

/**
 * Returns the position of each record on the timeline, in pixels from 0 to `width`.
 *
 * Half of the width is divided by time. The other half is divided equally among the records, so that short ones are
 * readable too.
 */
export function positionsOf(records: readonly TraceRecord[], width: number): Float64Array {
  const times = records.map(writtenAt);
  for (let index = 1; index < times.length; index += 1) {
    times[index] = Math.max(times[index] ?? 0, times[index - 1] ?? 0);
  }
  const [start = 0] = times;
  const total = (times.at(-1) ?? 0) - start;
  const last = Math.max(1, records.length - 1);
  const share = total === 0 ? 0 : 0.5;
  return Float64Array.from(times, (time, index) => {
    const byTime = total === 0 ? 0 : ((time - start) / total) * share;
    return width * (byTime + (index / last) * (1 - share));
  });
}

/**
 * Returns the time at which a record was written. Records of hooks and model calls are written at their end, but
 * contain the time of their start.
 */
function writtenAt(record: TraceRecord): number {
  return record.type === 'hook' || record.type === 'model-call' ? record.at + record.ms : record.at;
}
