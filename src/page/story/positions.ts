import type { TraceRecord } from '../../trace/record.js';

/**
 * Returns the place of each record on the time line, in pixels from 0 to `width`. Half of the width is shared by time, and half by
 * the number of records, so that a run without waits can be read too.
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

/** The record of a hook or of a model call has the time of its beginning, and is written at its end. */
function writtenAt(record: TraceRecord): number {
  return record.type === 'hook' || record.type === 'model-call' ? record.at + record.ms : record.at;
}
