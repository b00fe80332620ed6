import type { Logger } from '../internal/logger.js';
import { safeText } from '../internal/safe-text.js';
import { withoutPages } from './failure-text.js';

const MAX_TEXT = 10_000;

/** Writes log lines about one server. Each line names the server and contains no terminal control characters. */
export class ServerLog {
  constructor(
    private readonly server: string,
    private readonly logger: () => Logger,
  ) {}

  write(level: keyof Logger, text: string, details?: unknown): void {
    // The message of an error already names the server.
    const named = text.startsWith('MCP server "') ? text : `MCP server ${JSON.stringify(this.server)}: ${text}`;
    const line = safeText(withoutPages(named), { maxLength: MAX_TEXT });
    try {
      this.logger()[level](line, ...(details === undefined ? [] : [details]));
    } catch {
      // A failure of the logger must not affect the server.
    }
  }
}
