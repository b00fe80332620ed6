import type { Clock } from '../../internal/clock.js';
import type { McpSettings } from '../config/settings.js';
import type { McpServer } from './mcp-server.js';

/**
 * Connects to a server and waits for it as `waitForServers` says. A server that the option does not name has `readyMs`,
 * which begin after the decision of the trust gate. Never rejects.
 */
export async function connectPatiently(server: McpServer, settings: McpSettings): Promise<void> {
  const attempt = server.link.connect();
  if (isAwaited(server.definition.name, settings)) return attempt;
  await server.link.asked;
  await Promise.race([attempt, pause(attempt, { ms: settings.timeouts.readyMs, clock: settings.system.clock })]);
}

function isAwaited(name: string, { waitForServers }: McpSettings): boolean {
  return typeof waitForServers === 'boolean' ? waitForServers : waitForServers.includes(name);
}

/** Resolves after `ms`. The timer ends with `attempt`, so that it keeps no process running. */
function pause(attempt: Promise<void>, { ms, clock }: { readonly ms: number; readonly clock: Clock }): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(resolve, ms);
    void attempt.then(() => clock.clearTimeout(timer));
  });
}
