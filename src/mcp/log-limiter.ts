import type { Clock } from '../internal/clock.js';
import type { Logger } from '../internal/logger.js';
import { safeText } from '../internal/safe-text.js';

const MAX_LINES = 100;
const WINDOW_MS = 10_000;
const MAX_TEXT = 10_000;

/** Lines about one server: a hundred in ten seconds, then how many were left out. None of them steers a terminal. */
export class LogLimiter {
  private start = 0;
  private count = 0;
  private own: LogLimiter | undefined = undefined;

  constructor(
    private readonly server: string,
    private readonly host: { readonly logger: () => Logger; readonly clock: Clock },
  ) {}

  /** The lines that the server causes itself: however many, there is room for what Keelson says of it. */
  get apart(): LogLimiter {
    this.own ??= new LogLimiter(this.server, this.host);
    return this.own;
  }

  write(level: keyof Logger, text: string, details?: unknown): void {
    this.open();
    this.count += 1;
    if (this.count > MAX_LINES) return;
    // Errors name the server by themselves.
    const said = text.startsWith('MCP server "') ? text : `MCP server ${JSON.stringify(this.server)}: ${text}`;
    const line = safeText(said, { maxLength: MAX_TEXT });
    try {
      this.host.logger()[level](line, ...(details === undefined ? [] : [details]));
    } catch {
      // A logger that throws changes nothing about a server.
    }
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
