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

/** The default: warnings and errors go to the console, the rest nowhere. */
export const consoleLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (message, details) => console.warn(`[keelson] ${message}`, ...(details === undefined ? [] : [details])),
  error: (message, details) => console.error(`[keelson] ${message}`, ...(details === undefined ? [] : [details])),
};
