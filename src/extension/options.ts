import type { Logger } from '../internal/logger.js';
import { callable, group, logger, oneOf, timerMs, whole, withMethods } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import { MemoryStateStore } from '../state/memory-state-store.js';
import { resolveStatePolicy } from '../state/state-policy.js';
import type { StateStore } from '../state/state-store.js';
import type { MetricsSink } from '../telemetry/metrics.js';
import type { LiveToolSet, Tool } from '../tools/tool.js';
import type { StateAlert } from './state/store-access.js';

/** The options of an ExtensionRegistry. Every option has a default. */
export interface ExtensionRegistryOptions {
  /** The store for the state of extensions. Default: the memory of this process. */
  readonly state?: StateStore | undefined;
  /** The maximum size of the stored state. */
  readonly limits?: StateLimits | undefined;
  /** Time until an unused value expires, in milliseconds. Default: 1 hour. */
  readonly ttlMs?: number | undefined;
  /** Time until an inactive session's state expires, in milliseconds. Default: 24 hours, or `ttlMs` if longer. */
  readonly sessionTtlMs?: number | undefined;
  /** Time limit of one callback or condition, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * The time that all callbacks of one run together may lose by exceeding `timeoutMs`, in milliseconds. After this
   * time, a callback that returns a promise has 1 ms. Default: 60,000, or `timeoutMs` if longer.
   */
  readonly runTimeoutMs?: number | undefined;
  /** Decides when an extension that keeps failing is set aside. Its callbacks are then not called for a while. */
  readonly setAside?: SetAsideOptions | undefined;
  /** Time limit of one call of the state store, in milliseconds. Default: 5,000. */
  readonly stateTimeoutMs?: number | undefined;
  /**
   * Time in milliseconds for which the state store is not called after it has not answered a call. State methods fail
   * at once during this time. Default: the duration of the unanswered call.
   */
  readonly statePauseMs?: number | undefined;
  /**
   * Applies to a callback that fails because the state store failed. `continue` logs the failure; `throw` ends the run with
   * the StateStoreError. Default: `continue`.
   */
  readonly onStateFailure?: 'continue' | 'throw' | undefined;
  /** Receives the metrics of the registry. Default: no metrics are recorded. */
  readonly metrics?: MetricsSink | undefined;
  /** Default: the logger of the agent. */
  readonly logger?: Logger | undefined;
  /**
   * Tools, or names of later tools, that a `toolConfig` may name in addition to the tools of the agents that have loaded
   * the registry. `register` throws on any other name, unless the `toolConfig` is `lazy`.
   */
  readonly tools?: readonly (Tool | string)[] | LiveToolSet | undefined;
  /** Called when the state of a session reaches 80 % of `sessionBytes`. The write does not wait for the callback. */
  readonly onStateAlert?: ((alert: StateAlert) => Awaitable<void>) | undefined;
}

/** Decides when an extension that keeps failing is set aside. */
interface SetAsideOptions {
  /** The number of failures in a row. `Infinity`: never. Default: 5. */
  readonly failures?: number | undefined;
  /** After these failures, the extension is not called for this time, in milliseconds. Default: 60,000. */
  readonly pauseMs?: number | undefined;
}

/** Limits on the stored keys and JSON strings, in UTF-8 bytes. */
interface StateLimits {
  /** For one extension in one session. A new value evicts the least recently used ones. Default: 10,000,000. */
  readonly extensionBytes?: number | undefined;
  /** For all extensions in one session together. Default: 64 MiB. */
  readonly sessionBytes?: number | undefined;
}

const limitRules = { extensionBytes: whole(1), sessionBytes: whole(1) } satisfies OptionTable<StateLimits>;

const setAsideRules = {
  failures: {
    expected: 'a whole number of 1 or more, or Infinity',
    accepts: (value: unknown) => value === Number.POSITIVE_INFINITY || whole(1).accepts(value),
  },
  pauseMs: whole(1),
} satisfies OptionTable<SetAsideOptions>;

const rules = {
  state: withMethods('get', 'set', 'clear', 'clearExtension', 'clearSession', 'touch', 'stats'),
  limits: group(limitRules),
  ttlMs: whole(1),
  sessionTtlMs: whole(1),
  timeoutMs: timerMs,
  runTimeoutMs: timerMs,
  setAside: group(setAsideRules),
  stateTimeoutMs: timerMs,
  statePauseMs: whole(0),
  onStateFailure: oneOf('continue', 'throw'),
  metrics: withMethods('counter', 'histogram'),
  logger,
  tools: { expected: 'an array of tools and names, or a live tool set', accepts: isToolSource },
  onStateAlert: callable,
} satisfies OptionTable<ExtensionRegistryOptions>;

/** Returns the options with their defaults. Throws OptionInvalidError if an option is invalid. */
export function resolveRegistryOptions(options: ExtensionRegistryOptions) {
  validateOptions(options, rules);
  const { limits = {}, ttlMs, timeoutMs = 30_000, onStateFailure = 'continue' } = options;
  const { runTimeoutMs = Math.max(60_000, timeoutMs) } = options;
  const { failures = 5, pauseMs = 60_000 } = options.setAside ?? {};
  const policy = resolveStatePolicy({ ...limits, ttlMs, sessionTtlMs: options.sessionTtlMs });
  const sessionTtlMs = options.sessionTtlMs ?? Math.max(policy.sessionTtlMs, policy.ttlMs);
  const store = options.state ?? new MemoryStateStore();
  const times = { timeoutMs: options.stateTimeoutMs ?? 5_000, pauseMs: options.statePauseMs };
  return {
    timeoutMs,
    runTimeoutMs,
    health: { failures, pauseMs },
    onStateFailure,
    stateSettings: { store, policy: { ...policy, sessionTtlMs }, ...times },
  };
}

function isToolSource(tools: unknown): boolean {
  return Array.isArray(tools) ? tools.every(hasName) : typeof (tools as LiveToolSet | null)?.list === 'function';
}

function hasName(tool: unknown): boolean {
  return typeof tool === 'string' || typeof (tool as Tool | null)?.name === 'string';
}
