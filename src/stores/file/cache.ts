import type { LogFile } from './log.js';

const MAX_BYTES = 64 * 1024 * 1024;
/** Estimated memory of a cached log in addition to its text, in bytes. */
const OVERHEAD_BYTES = 1_024;

/**
 * Keeps recently used logs in memory, so that their next use reads only new lines. Evicts the least recently used logs.
 */
export class LogCache<State> {
  private readonly logs: Map<string, { readonly log: LogFile<State>; readonly bytes: number }> = new Map();
  private bytes = 0;

  /**
   * Removes a log from the cache and returns it. The caller puts the log back only after success, so that a log whose
   * use failed is read again from disk.
   */
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
