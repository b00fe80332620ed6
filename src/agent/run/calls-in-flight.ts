import type { Stop } from '../../internal/stop.js';
import type { ToolResult } from '../../tools/tool.js';

/** The tool calls of a turn, while they run. */
export interface CallsInFlight {
  /** What the signals of these calls follow. Made on first use. */
  readonly stop: Stop;
  /** Whether every call has its result, whatever still runs. */
  readonly halted: boolean;
  /** Whether the call still waits for its result. */
  accepts(id: string): boolean;
  /** Aborts the calls that have no result yet, and gives each an error result at once. */
  halt(): void;
  /** Has a call that a hook waits for interrupted by `halt`. */
  wait(call: Interruptible): void;
}

/** A call that somebody waits for. */
export interface Interruptible {
  interrupt(result: ToolResult): void;
}
