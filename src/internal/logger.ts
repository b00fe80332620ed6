import { safeText } from './safe-text.js';

/** Receives the log messages of the library. Any object with these four methods works. */
export interface Logger {
  /** Logs details for debugging. */
  debug(message: string, details?: unknown): void;
  /** Logs a normal event. */
  info(message: string, details?: unknown): void;
  /** Logs a problem that the library worked around. */
  warn(message: string, details?: unknown): void;
  /** Logs a failure. */
  error(message: string, details?: unknown): void;
}

/**
 * The default logger: writes warnings and errors to the console, and drops the rest.
 * Removes terminal control sequences from strings.
 */
export const consoleLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (...entry) => console.warn(...lineOf(entry)),
  error: (...entry) => console.error(...lineOf(entry)),
};

/** Logs an error. Ignores an exception from the logger itself. */
export function logFailure({ logger }: { readonly logger: Logger }, message: string, error: unknown): void {
  try {
    logger.error(message, error);
  } catch {}
}

function lineOf([message, details]: readonly [message: string, details?: unknown]): unknown[] {
  // Untyped callers may pass any value as the message, for example an error.
  const parts = [`[keelson] ${message}`, ...(details === undefined ? [] : [details])];
  return parts.map((part) => (typeof part === 'string' ? safeText(part) : part));
}
