/** Options of the {@link KeelsonError} constructor. */
export interface KeelsonErrorOptions {
  readonly cause?: unknown;
}

/**
 * Base class of every error that this library throws. `code` is stable across versions; `message` is for people and may
 * change. docs/errors.md lists the codes. `instanceof` also holds between two loaded copies of this library, such as
 * the `import` build and the `require` build.
 */
export abstract class KeelsonError extends Error {
  /**
   * Marks the error classes of every copy of this library.
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

  /**
   * Returns the error's enumerable members and its `message`, which `JSON.stringify` leaves out of an `Error`. Members
   * with parts of the conversation are not enumerable, so neither `JSON.stringify` nor `console.error` shows them.
   */
  toJSON(): object {
    return { ...this, message: this.message };
  }

  /**
   * Returns true for an error of this class. An error of another loaded copy of this library is compared by the name of
   * its class.
   *
   * @internal
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: `this` is the error class that inherits this method.
    let isInstance = super[Symbol.hasInstance](value);
    if (isInstance || !(value instanceof Error)) return isInstance;
    let errorClass = value.constructor as typeof KeelsonError;
    for (; errorClass?.isKeelson; errorClass = Object.getPrototypeOf(errorClass)) {
      if (errorClass === KeelsonError) return false;
      // biome-ignore lint/complexity/noThisInStatic: as above.
      isInstance ||= errorClass.name === this.name;
    }
    return isInstance;
  }
}

/** An option is unknown, missing or invalid. Thrown before anything starts. */
export class OptionInvalidError extends KeelsonError {
  readonly code = 'ERR_OPTION_INVALID';
  /** The path of the option, such as `maxTurns` or `timeouts.runMs`. */
  readonly option: string;

  constructor(option: string, message: string) {
    super(message);
    this.option = option;
  }
}

/** A lifecycle has an unknown or invalid member. `problems` lists every one of them. */
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

/** A tool definition is invalid. */
export class ToolInvalidError extends KeelsonError {
  readonly code = 'ERR_TOOL_INVALID';
  readonly tool: string;

  constructor(tool: string, problem: string) {
    super(`Tool "${tool}" is not valid: ${problem}`);
    this.tool = tool;
  }
}

/** Two tools have the same name. */
export class ToolConflictError extends KeelsonError {
  readonly code = 'ERR_TOOL_CONFLICT';
  readonly tool: string;

  constructor(tool: string) {
    super(`Two tools are named "${tool}". Rename one of them, or leave one out.`);
    this.tool = tool;
  }
}

/** A message or an array of messages is invalid. No model and no tool was called with it. */
export class MessageInvalidError extends KeelsonError {
  readonly code = 'ERR_MESSAGE_INVALID';
}

/** The `resume` decisions do not match the open tool calls of the messages. Nothing ran. */
export class ResumeInvalidError extends KeelsonError {
  readonly code = 'ERR_RESUME_INVALID';
  /** The ids of the tool calls whose decision is missing, unexpected or invalid. */
  readonly calls: readonly string[];

  constructor(problem: string, calls: readonly string[]) {
    super(problem);
    this.calls = calls;
  }
}

/** A hook called its `next` after the hook, or the outermost hook, had settled. The call had no effect. */
export class NextExpiredError extends KeelsonError {
  readonly code = 'ERR_NEXT_EXPIRED';

  constructor(lifecycle: string, point: string) {
    super(
      `"${lifecycle}" called \`next\` after its ${point} hook, or the same hook of an outer lifecycle, had settled. Await \`next\` inside the hook.`,
    );
  }
}

/** A hook, or a callback option, returned an invalid value. Reported as the `cause` of a LifecycleError. */
export class HookResultInvalidError extends KeelsonError {
  readonly code = 'ERR_HOOK_RESULT_INVALID';
  readonly result: unknown;

  constructor(expected: string, result: unknown) {
    super(`${expected}; got ${describeResult(result)}.`);
    this.result = result;
    hideMembers(this, 'result');
  }
}

/** Names the type of an action. Does not quote a string, which can be an answer of the model. */
function describeResult(result: unknown): string {
  if (typeof result === 'string') return 'a string';
  const type: unknown = Object(result).type;
  return typeof type === 'string' ? `an object of type ${describeValue(type)}` : describeValue(result);
}

/** An operation exceeded its time limit. `what` names the operation, such as `model call` or `tool "search"`. */
export class TimeoutExceededError extends KeelsonError {
  readonly code = 'ERR_TIMEOUT';
  /** Always true: a retry may be fast enough. */
  readonly retryable = true;
  /** The `kind` of a ModelError that has this error as its cause. */
  readonly kind = 'network';
  readonly what: string;
  readonly timeoutMs: number;

  constructor(what: string, timeoutMs: number) {
    super(`The ${what} took longer than ${timeoutMs} ms.`);
    this.what = what;
    this.timeoutMs = timeoutMs;
  }
}

/** The agent was closed. It starts no new run, and the active runs were aborted. */
export class AgentClosedError extends KeelsonError {
  readonly code = 'ERR_AGENT_CLOSED';

  constructor(agent: string) {
    super(`Agent "${agent}" is closed. Make a new one.`);
  }
}

/** The run already had its final answer when `run.add`, `run.end` or `next` was called. */
export class RunEndedError extends KeelsonError {
  readonly code = 'ERR_RUN_ENDED';

  constructor(action: string) {
    super(`\`${action}\` was called after the run had its answer. Call it before afterAgent.`);
  }
}

/** `run.background` was called in a run that cannot have background works. The work was not started. */
export class BackgroundUnavailableError extends KeelsonError {
  readonly code = 'ERR_BACKGROUND_UNAVAILABLE';

  constructor(problem: 'without a session' | 'in a durable run') {
    const remedy =
      problem === 'without a session'
        ? 'A message in the session tells the result. Open one with `agent.session()`, and start the run there.'
        : 'A replay cannot repeat it. Await the work in the tool.';
    super(`\`run.background\` was called ${problem}. ${remedy}`);
  }
}

/** A run was started in a closed session. */
export class SessionClosedError extends KeelsonError {
  readonly code = 'ERR_SESSION_CLOSED';

  constructor(id: string) {
    super(`Session "${id}" is closed. Open it again with \`agent.session({ id })\`.`);
  }
}

/** A run was started inside another run of the same session. Both runs would wait for each other for ever. */
export class SessionReentryError extends KeelsonError {
  readonly code = 'ERR_SESSION_REENTRY';

  constructor(id: string) {
    super(`Session "${id}" was entered again inside one of its runs. Use \`agent.run\`, or another session.`);
  }
}

/** A session cannot be forked to an id that is in use. Nothing was changed. */
export class SessionExistsError extends KeelsonError {
  readonly code = 'ERR_SESSION_EXISTS';
  readonly session: string;

  constructor(id: string) {
    super(`Session "${id}" exists already. Fork to a new id, or delete this session first.`);
    this.session = id;
  }
}

/** A loader failed, and the loader is not `optional`. */
export class LoaderError extends KeelsonError {
  readonly code = 'ERR_LOADER_FAILED';
  readonly loader: string;

  constructor(loader: string, cause: unknown) {
    super(`Loader "${loader}" failed: ${describeError(cause)}`, { cause });
    this.loader = loader;
  }
}

/** An optional package is needed, but is not installed or cannot be loaded. */
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

/** Keeps members of an error out of logs and JSON. The members stay readable. */
export function hideMembers<Failure extends Error>(error: Failure, ...names: readonly (keyof Failure)[]): void {
  for (const name of names) Object.defineProperty(error, name, { enumerable: false });
}

const LONGEST_SHOWN = 80;

/** Describes an invalid value for an error message. Strings are quoted and cut; invisible characters are escaped. */
export function describeValue(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'string') return String(value);
  const shown = JSON.stringify(value.slice(0, LONGEST_SHOWN));
  const seen = shown.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (unseen) => `\\u{${unseen.codePointAt(0)?.toString(16)}}`);
  return value.length > LONGEST_SHOWN ? `${seen}…` : seen;
}

/** Returns the message of any thrown value, for use inside another message. */
export function describeError(error: unknown): string {
  try {
    if (typeof error === 'string') return error;
    // An error of another realm fails `instanceof Error`. An AggregateError may have an empty message.
    const { message, name, errors } = Object(error);
    const text = message || errors?.map?.(describeError).join('; ') || name;
    return String(text || (JSON.stringify(error) ?? error));
  } catch {
    return 'a value that cannot be shown';
  }
}
