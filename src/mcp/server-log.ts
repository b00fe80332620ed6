import type { Logger } from '../internal/logger.js';
import { safeText } from '../internal/safe-text.js';

const MAX_TEXT = 10_000;

/** Writes the log lines about one server: they name the server, and none of them steers a terminal. */
export class ServerLog {
  constructor(
    private readonly server: string,
    private readonly logger: () => Logger,
  ) {}

  write(level: keyof Logger, text: string, details?: unknown): void {
    // Errors name the server by themselves.
    const said = text.startsWith('MCP server "') ? text : `MCP server ${JSON.stringify(this.server)}: ${text}`;
    const line = safeText(said, { maxLength: MAX_TEXT });
    try {
      this.logger()[level](line, ...(details === undefined ? [] : [details]));
    } catch {
      // A logger that throws changes nothing about a server.
    }
  }
}
