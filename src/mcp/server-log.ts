import { describeError, KeelsonError } from '../errors.js';
import type { Logger } from '../internal/logger.js';
import { safeText } from '../internal/safe-text.js';

const MAX_TEXT = 10_000;

/** Describes any thrown value in one line for a log, a status or a tool result. */
export function failureText(error: unknown): string {
  const text = error instanceof KeelsonError ? error.message : describeWithCause(error);
  return safeText(withoutPages(text), { maxLength: MAX_TEXT });
}

/** Describes an error and its cause, since `fetch` gives the reason of a failure only in the cause. */
export function describeWithCause(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? describeError(error) : `${describeError(error)} (${describeError(cause)})`;
}

const PAGE = /<(?:!doctype\s+html|html[\s>])[\s\S]*?(?:<\/html>|$)/gi;
const MAX_TITLE = 200;

/** Replaces each page of HTML with its title. Gateways and login pages answer with HTML, which nobody reads in a log. */
export function withoutPages(text: string): string {
  return text.replace(PAGE, (page) => {
    const [, title = ''] = /<title[^>]{0,200}>([^<]*)/i.exec(page) ?? [];
    const shown = title.trim().slice(0, MAX_TITLE);
    return shown === '' ? '(a page of HTML)' : `(a page of HTML with the title ${JSON.stringify(shown)})`;
  });
}

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
