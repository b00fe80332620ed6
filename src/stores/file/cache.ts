import type { LogFile } from './log.js';

const MAX_BYTES = 64 * 1024 * 1024;
/** What a log takes in memory beside its text. */
const OVERHEAD_BYTES = 1_024;

/** Logs that were read, so that the next use reads only what was added. Those used longest ago are read again. */
export class LogCache<State> {
  private readonly logs: Map<string, { readonly log: LogFile<State>; readonly bytes: number }> = new Map();
  private bytes = 0;

  /** Takes a log out: whoever uses it puts it back, unless it failed. */
  take(name: string): LogFile<State> | undefined {
    const found = this.logs.get(name);
    if (found === undefined) return undefined;
    this.logs.delete(name);
    this.bytes -= found.bytes;
    return found.log;
  }

  put(name: string, log: LogFile<State>): void {
    const bytes = log.size + OVERHEAD_BYTES;
    this.logs.set(name, { log, bytes });
    this.bytes += bytes;
    for (const oldest of this.logs.keys()) {
      if (this.bytes <= MAX_BYTES || oldest === name) break;
      this.take(oldest);
    }
  }
}
