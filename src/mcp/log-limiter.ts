import type { Clock } from '../internal/clock.js';
import type { Logger } from '../internal/logger.js';

const MAX_LINES = 100;
const WINDOW_MS = 10_000;

/** Lines about one server: a hundred in ten seconds, then how many were left out. */
export class LogLimiter {
  private start = 0;
  private count = 0;

  constructor(
    private readonly server: string,
    private readonly host: { readonly logger: () => Logger; readonly clock: Clock },
  ) {}

  write(level: keyof Logger, text: string, details?: unknown): void {
    this.open();
    this.count += 1;
    if (this.count > MAX_LINES) return;
    // Errors name the server by themselves.
    const line = text.startsWith('MCP server "') ? text : `MCP server ${JSON.stringify(this.server)}: ${text}`;
    if (details === undefined) this.host.logger()[level](line);
    else this.host.logger()[level](line, details);
  }

  private open(): void {
    const now = this.host.clock.now();
    if (now - this.start < WINDOW_MS && now >= this.start) return;
    const left = this.count - MAX_LINES;
    this.start = now;
    this.count = 0;
    if (left > 0) this.write('warn', `${left} more lines were left out`);
  }
}
