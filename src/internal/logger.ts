import { safeText } from './safe-text.js';

/** Where the library says what it passed over. Any logger with these four methods fits. */
export interface Logger {
  /** For whoever looks for a fault. */
  debug(message: string, details?: unknown): void;
  /** What happened. */
  info(message: string, details?: unknown): void;
  /** Something was passed over. */
  warn(message: string, details?: unknown): void;
  /** Something failed. */
  error(message: string, details?: unknown): void;
}

/** The default: warnings and errors go to the console, the rest nowhere. What a terminal would obey is left out of a text. */
export const consoleLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (...entry) => console.warn(...lineOf(entry)),
  error: (...entry) => console.error(...lineOf(entry)),
};

/** Logs what failed. A log that fails as well does not undo what is done about it. */
export function logFailure({ logger }: { readonly logger: Logger }, message: string, error: unknown): void {
  try {
    logger.error(message, error);
  } catch {}
}

function lineOf([message, details]: readonly [message: string, details?: unknown]): unknown[] {
  // A message may be anything where no types are checked, such as an error.
  const parts = [`[keelson] ${message}`, ...(details === undefined ? [] : [details])];
  return parts.map((part) => (typeof part === 'string' ? safeText(part) : part));
}
