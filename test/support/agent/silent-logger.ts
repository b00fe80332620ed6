import type { Logger } from 'keelson';

/** A logger that stores its lines and prints nothing. */
export interface KeepingLogger extends Logger {
  readonly lines: string[];
}

export function keepingLogger(): KeepingLogger {
  const lines: string[] = [];
  const keep = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  return { lines, debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
}
