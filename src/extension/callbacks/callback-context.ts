import type { Logger } from '../../internal/logger.js';
import { cloneData } from '../../internal/plain-data.js';
import type { ToolSpec } from '../../model/model.js';
import type { StateScope } from '../../state/state-store.js';
import type { StandardSchema } from '../../tools/standard-schema.js';
import type { Tool } from '../../tools/tool.js';
import type { ExtensionContext } from '../context.js';
import type { Registration } from '../registration.js';
import type { ExtensionRun } from '../run.js';
import type { ExtensionState } from '../state/extension-state.js';
import type { StateCodec } from '../state/state-codec.js';
import type { StateSite } from '../state/store-calls.js';

/** The callback that a context belongs to. */
export interface CallbackSite {
  readonly id: string;
  readonly run: ExtensionRun;
  readonly registration: Registration;
  readonly scope: StateScope;
  readonly site: StateSite;
  readonly signal: AbortSignal;
  assertGood(operation: string): void;
}

type Decoder<T> = StandardSchema<unknown, T> | StateCodec<T>;

/**
 * The context that one callback receives. The state methods are getters that return functions, so they also work after
 * `const { getState } = context`.
 */
export class CallbackContext implements ExtensionContext {
  readonly #callback: CallbackSite;
  #tools: readonly ToolSpec[] | undefined = undefined;

  constructor(callback: CallbackSite) {
    this.#callback = callback;
  }

  get extensionId(): string {
    return this.#callback.id;
  }

  get sessionId(): string {
    return this.#callback.run.sessionId;
  }

  get agent(): string {
    return this.#callback.run.run.agent;
  }

  get turn(): number {
    return this.#callback.run.run.turn;
  }

  get context(): unknown {
    return this.#callback.run.run.context;
  }

  get tools(): readonly ToolSpec[] {
    this.#tools ??= Object.freeze(this.#callback.run.run.tools.map(specOf));
    return this.#tools;
  }

  get signal(): AbortSignal {
    return this.#callback.signal;
  }

  get logger(): Logger {
    return prefixed(this.#callback);
  }

  get getState() {
    const callback = this.#callback;
    return async <T = unknown>(key: string, as?: Decoder<T>): Promise<T | undefined> => {
      return begin(callback, 'getState', false).get(callback.scope, { key, as }, callback.site);
    };
  }

  get setState() {
    const callback = this.#callback;
    return async <T = unknown>(key: string, value: T, codec?: StateCodec<T>): Promise<void> => {
      await begin(callback, 'setState', true).set(callback.scope, { key, value, codec }, callback.site);
    };
  }

  get updateState() {
    const callback = this.#callback;
    return async <T = unknown>(key: string, update: (value: T | undefined) => T, as?: Decoder<T>): Promise<T> => {
      const check = () => callback.assertGood('updateState');
      return begin(callback, 'updateState', true).update(callback.scope, { key, update, as, check }, callback.site);
    };
  }

  get clearState() {
    const callback = this.#callback;
    return async (key?: string): Promise<void> => {
      await begin(callback, 'clearState', false).clear(callback.scope, key, callback.site);
    };
  }
}

/** Returns the state for a method of the context. Throws if the callback has ended. */
function begin(callback: CallbackSite, operation: string, writes: boolean): ExtensionState {
  callback.assertGood(operation);
  callback.run.useState(callback.registration);
  callback.run.wrote ||= writes;
  return callback.run.settings.state;
}

function specOf({ name, description, inputSchema }: Tool): ToolSpec {
  return Object.freeze({ name, description, inputSchema: cloneData(inputSchema) });
}

function prefixed({ id, run }: CallbackSite): Logger {
  const { logger } = run;
  const line = (message: string) => `Extension "${id}": ${message}`;
  return {
    debug: (message, details) => logger.debug(line(message), details),
    info: (message, details) => logger.info(line(message), details),
    warn: (message, details) => logger.warn(line(message), details),
    error: (message, details) => logger.error(line(message), details),
  };
}
