import { report } from '../lifecycle/hook-run/hook-run.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { McpServerStatus } from './server/status.js';

/** States of servers that a run does not miss. */
const EXPECTED: readonly McpServerStatus['state'][] = ['connected', 'disabled', 'denied', 'closed'];

/** Emits a `server-error` event that lists the servers without a connection, unless all servers are connected. */
export function reportMissing(run: RunContext, statuses: readonly McpServerStatus[]): void {
  const missing = statuses.filter(({ state }) => !EXPECTED.includes(state));
  if (missing.length === 0) return;
  const servers = missing.map(({ name, state, lastError }) => ({ name, state, error: lastError }));
  report(run, { type: 'server-error', servers });
}
