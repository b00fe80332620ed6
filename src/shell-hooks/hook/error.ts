import { KeelsonError, type KeelsonErrorOptions } from '../../errors.js';
import type { HookEvent } from '../../programs/hook-event.js';

/** Thrown for an invalid hook definition. `problems` lists everything that is wrong with it. */
export class HookInvalidError extends KeelsonError {
  readonly code = 'ERR_HOOK_INVALID';
  readonly hook: string;
  readonly problems: readonly string[];

  constructor(hook: string, problems: readonly string[]) {
    super(`Hook "${hook}" is invalid: ${problems.join('; ')}`);
    this.hook = hook;
    this.problems = problems;
  }
}

/** Thrown for a hook file that is missing or unreadable, is not a JSON object, or contains too many hooks. */
export class HookFileError extends KeelsonError {
  readonly code = 'ERR_HOOK_FILE';
  readonly path: string;

  constructor(path: string, problem: string, options?: KeelsonErrorOptions) {
    super(`The hooks of ${path} were not loaded: ${problem}`, options);
    this.path = path;
  }
}

/** Thrown if a `session_start` hook cancels. The session is not opened. */
export class HookCancelledError extends KeelsonError {
  readonly code = 'ERR_HOOK_CANCELLED';
  readonly hook: string;
  readonly event: HookEvent;
  readonly reason: string;

  constructor(hook: string, event: HookEvent, reason: string) {
    super(`Hook "${hook}" cancelled ${event}: ${reason}`);
    this.hook = hook;
    this.event = event;
    this.reason = reason;
  }
}

/** Thrown by `runner.run` if the event is unknown, or if a field of its data is missing or invalid. */
export class HookEventInvalidError extends KeelsonError {
  readonly code = 'ERR_HOOK_EVENT_INVALID';
  readonly event: string;
  readonly problems: readonly string[];

  constructor(event: string, problems: readonly string[]) {
    super(`Hooks cannot run at "${event}": ${problems.join('; ')}`);
    this.event = event;
    this.problems = problems;
  }
}
