/** Where the library says what it passed over. Any logger with these four methods fits. */
export interface Logger {
  debug(message: string, details?: unknown): void;
  info(message: string, details?: unknown): void;
  warn(message: string, details?: unknown): void;
  error(message: string, details?: unknown): void;
}

/** The default: warnings and errors go to the console, the rest nowhere. */
export const consoleLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (message, details) => console.warn(`[keelson] ${message}`, ...(details === undefined ? [] : [details])),
  error: (message, details) => console.error(`[keelson] ${message}`, ...(details === undefined ? [] : [details])),
};
