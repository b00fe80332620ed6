import type { AgentEvent } from 'keelson';

/** Reports each start without exactly one end, each end without a start, and each event after run-end. */
export function unpairedEvents(events: readonly AgentEvent[]): string[] {
  const open: string[] = [];
  const wrong: string[] = [];
  for (const event of events) {
    const [what, when] = event.type.split('-') as [string, string];
    const id = 'callId' in event ? `${what} ${event.callId}` : what;
    if (open.length === 0 && event !== events[0]) wrong.push(`${event.type} after the end`);
    if (when === 'start') open.push(id);
    if (when !== 'end') continue;
    const at = open.lastIndexOf(id);
    if (at < 0) wrong.push(`${event.type} of ${id} without a start`);
    else open.splice(at, 1);
  }
  return [...wrong, ...open.map((id) => `${id} without an end`)];
}
