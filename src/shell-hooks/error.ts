import { KeelsonError, type KeelsonErrorOptions } from '../errors.js';
import type { HookEvent } from './hook/event.js';

/** A hook's definition cannot be used. Lists everything that is wrong with it. */
export class HookInvalidError extends KeelsonError {
  readonly code = 'ERR_HOOK_INVALID';
  readonly hook: string;
  readonly problems: readonly string[];

  constructor(hook: string, problems: readonly string[]) {
    super(`Hook "${hook}" is not valid: ${problems.join('; ')}`);
    this.hook = hook;
    this.problems = problems;
  }
}

/** A file of hooks that the host named cannot be read or is none. */
export class HookFileError extends KeelsonError {
  readonly code = 'ERR_HOOK_FILE';
  readonly path: string;

  constructor(path: string, problem: string, options?: KeelsonErrorOptions) {
    super(`The hooks of ${path} were not loaded: ${problem}`, options);
    this.path = path;
  }
}

/** A hook cancelled the opening of a session. */
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

/** `runner.run` was given an unknown event, or data that lacks a field or has an invalid one. */
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
