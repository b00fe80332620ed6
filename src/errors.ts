/** What every error of this library has in common. */
export interface KeelsonErrorOptions {
  readonly cause?: unknown;
}

/**
 * The base of every error that this library throws. `code` is stable across versions; `message` is for people and may
 * change. The table of codes stands in docs/errors.md. `instanceof` holds between copies of this library as well, such
 * as the one for `import` and the one for `require`: an application may load both.
 */
export abstract class KeelsonError extends Error {
  /**
   * Says so of the classes of another copy.
   *
   * @internal
   */
  static readonly isKeelson = true;
  /** Stable identifier of the failure, such as `ERR_OPTION_INVALID`. */
  abstract readonly code: `ERR_${string}`;

  constructor(message: string, options?: KeelsonErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }

  /** What its JSON holds: its own members and the message, which JSON leaves out of an error by itself. */
  toJSON(): object {
    return { ...this, message: this.message };
  }

  /**
   * By name where the error is of another copy, whose classes are others; never where it is of this one.
   *
   * @internal
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: every class of errors inherits this, and means itself.
    let isOne = super[Symbol.hasInstance](value);
    if (isOne || !(value instanceof Error)) return isOne;
    let at = value.constructor as typeof KeelsonError;
    for (; at?.isKeelson; at = Object.getPrototypeOf(at)) {
      if (at === KeelsonError) return false;
      // biome-ignore lint/complexity/noThisInStatic: as above.
      isOne ||= at.name === this.name;
    }
    return isOne;
  }
}

/** An option is unknown, missing, or has a value that it cannot have. Thrown before anything starts. */
export class OptionInvalidError extends KeelsonError {
  readonly code = 'ERR_OPTION_INVALID';
  /** The path of the option, such as `maxTurns` or `timeouts.runMs`. */
  readonly option: string;

  constructor(option: string, message: string) {
    super(message);
    this.option = option;
  }
}

/** A lifecycle has an unknown member, or a member of the wrong kind. Lists everything that is wrong with it. */
export class LifecycleInvalidError extends KeelsonError {
  readonly code = 'ERR_LIFECYCLE_INVALID';
  readonly lifecycle: string;
  readonly problems: readonly string[];

  constructor(lifecycle: string, problems: readonly string[]) {
    super(`Lifecycle "${lifecycle}" is not valid: ${problems.join('; ')}`);
    this.lifecycle = lifecycle;
    this.problems = problems;
  }
}

/** A tool's definition cannot be used. */
export class ToolInvalidError extends KeelsonError {
  readonly code = 'ERR_TOOL_INVALID';
  readonly tool: string;

  constructor(tool: string, problem: string) {
    super(`Tool "${tool}" is not valid: ${problem}`);
    this.tool = tool;
  }
}

/** Two tools would be offered to the model under one name. */
export class ToolConflictError extends KeelsonError {
  readonly code = 'ERR_TOOL_CONFLICT';
  readonly tool: string;

  constructor(tool: string) {
    super(`Two tools are named "${tool}". Rename one of them, or leave one out.`);
    this.tool = tool;
  }
}

/** A message, or a list of messages, that no model could be given. Nothing ran. */
export class MessageInvalidError extends KeelsonError {
  readonly code = 'ERR_MESSAGE_INVALID';
}

/** A run was started from open tool calls without a decision on each of them. Nothing ran. */
export class ResumeInvalidError extends KeelsonError {
  readonly code = 'ERR_RESUME_INVALID';
  /** The ids of the calls that the error is about. */
  readonly calls: readonly string[];

  constructor(problem: string, calls: readonly string[]) {
    super(problem);
    this.calls = calls;
  }
}

/** `next` was called after the hook that it was given to had settled. The call did nothing. */
export class NextExpiredError extends KeelsonError {
  readonly code = 'ERR_NEXT_EXPIRED';

  constructor(lifecycle: string, point: string) {
    super(`"${lifecycle}" called \`next\` after its ${point} had settled. Await \`next\` inside the hook.`);
  }
}

/** A hook gave something that cannot be taken there. Becomes the cause of a LifecycleError. */
export class HookResultInvalidError extends KeelsonError {
  readonly code = 'ERR_HOOK_RESULT_INVALID';
  readonly result: unknown;

  constructor(expected: string, result: unknown) {
    super(`It gave ${kindOf(result)}; ${expected}.`);
    this.result = result;
  }
}

/** Something took longer than it may. `what` says what, such as `model call` or `tool "search"`. */
export class TimeoutExceededError extends KeelsonError {
  readonly code = 'ERR_TIMEOUT';
  /** The same may take less time later. */
  readonly retryable = true;
  readonly what: string;
  readonly timeoutMs: number;

  constructor(what: string, timeoutMs: number) {
    super(`The ${what} took longer than ${timeoutMs} ms.`);
    this.what = what;
    this.timeoutMs = timeoutMs;
  }
}

/** The agent was closed: it starts no run, and ends those that were going on. */
export class AgentClosedError extends KeelsonError {
  readonly code = 'ERR_AGENT_CLOSED';

  constructor(agent: string) {
    super(`Agent "${agent}" is closed. Make a new one.`);
  }
}

/** The run is over, so nothing can join it or end it any more. */
export class RunEndedError extends KeelsonError {
  readonly code = 'ERR_RUN_ENDED';

  constructor(action: string) {
    super(`\`${action}\` came after the run had its answer. Call it before afterAgent.`);
  }
}

/** The session was closed. */
export class SessionClosedError extends KeelsonError {
  readonly code = 'ERR_SESSION_CLOSED';

  constructor(id: string) {
    super(`Session "${id}" is closed. Open it again with \`agent.session({ id })\`.`);
  }
}

/** A run inside a run of the same session would wait for itself for ever. */
export class SessionReentryError extends KeelsonError {
  readonly code = 'ERR_SESSION_REENTRY';

  constructor(id: string) {
    super(`Session "${id}" was entered again inside one of its runs. Use \`agent.run\`, or another session.`);
  }
}

/** A loader that is not optional could not load. */
export class LoaderError extends KeelsonError {
  readonly code = 'ERR_LOADER_FAILED';
  readonly loader: string;

  constructor(loader: string, cause: unknown) {
    super(`Loader "${loader}" failed: ${describeError(cause)}`, { cause });
    this.loader = loader;
  }
}

/** An optional package that this part of the library needs is not installed, or cannot be loaded. */
export class PackageMissingError extends KeelsonError {
  readonly code = 'ERR_PACKAGE_MISSING';
  /** The package's name. */
  readonly package: string;
  readonly retryable = false;

  constructor(name: string, cause: unknown) {
    super(`The package \`${name}\` could not be loaded. Install it beside keelson: npm install ${name}`, { cause });
    this.package = name;
  }
}

const LONGEST_SHOWN = 80;

/** A few words for a value of the wrong kind. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `${typeof value} ${String(value).slice(0, 40)}`;
  const { type } = value as { type?: unknown };
  return typeof type === 'string' ? `an object of type "${type.slice(0, 40)}"` : 'an object without a known type';
}

/** A value of the wrong kind, in a few words: a string in quotes, cut, and with its unseen characters as numbers. */
export function describeValue(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'string') return String(value);
  const shown = JSON.stringify(value.slice(0, LONGEST_SHOWN));
  const seen = shown.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (unseen) => `\\u{${unseen.codePointAt(0)?.toString(16)}}`);
  return value.length > LONGEST_SHOWN ? `${seen}…` : seen;
}

/** A short text for any thrown value, for use inside another message. */
export function describeError(error: unknown): string {
  try {
    // By its stack: an error of another realm, such as a test runner's, is no instance of this one's.
    if (error instanceof Error || typeof (error as Error | undefined)?.stack === 'string') {
      // An AggregateError, such as of a connection that was refused, may have no message of its own.
      const { message, name, errors } = error as Error & Partial<AggregateError>;
      const text = message || errors?.map?.(describeError).join('; ') || name;
      if (text) return String(text);
    }
    return typeof error === 'string' ? error : (JSON.stringify(error) ?? String(error));
  } catch {
    return 'something that cannot be shown';
  }
}
