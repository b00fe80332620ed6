import type { Logger } from '../internal/logger.js';
import { callable, group, logger, timerMs, whole, withMethods } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import { MemoryStateStore } from '../state/memory-state-store.js';
import { resolveStatePolicy } from '../state/state-policy.js';
import type { StateStore } from '../state/state-store.js';
import type { MetricsSink } from '../telemetry/metrics-sink.js';
import type { LiveToolSet, Tool } from '../tools/tool.js';
import type { StateAlert } from './state/extension-state.js';

/** How an ExtensionRegistry works. Every option has a default. */
export interface ExtensionRegistryOptions {
  /** Where extensions keep their state. Default: in this process's memory. */
  readonly state?: StateStore | undefined;
  /** How much state may be kept. */
  readonly limits?: StateLimits | undefined;
  /** How long a value lives after its last use, in milliseconds. Default: 1 hour. */
  readonly ttlMs?: number | undefined;
  /** How long a session lives after its last activity, in milliseconds. Default: 24 hours, or `ttlMs` where that is longer. */
  readonly sessionTtlMs?: number | undefined;
  /** Time for one callback or condition, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Time for one call of the state store, in milliseconds. Default: 5,000. */
  readonly stateTimeoutMs?: number | undefined;
  /** Where figures go. Default: nowhere, at no cost. */
  readonly metrics?: MetricsSink | undefined;
  /** Default: the logger of the agent. */
  readonly logger?: Logger | undefined;
  /**
   * The tools that tool guidance may name beside those of the agents: tools, or names of tools to come. With this option
   * `register` refuses other names. Without it they are checked once all loaders of an agent are ready.
   */
  readonly tools?: readonly (Tool | string)[] | LiveToolSet | undefined;
  /** Called as the state of a session comes to 80 % of `sessionBytes`. Nobody waits for it. */
  readonly onStateAlert?: ((alert: StateAlert) => Awaitable<void>) | undefined;
}

/** Bytes of the stored JSON text in UTF-8. */
export interface StateLimits {
  /** For one extension in one session; what was used longest ago makes room. Default: 10,000,000. */
  readonly extensionBytes?: number | undefined;
  /** For all extensions in one session. Default: 64 MiB. */
  readonly sessionBytes?: number | undefined;
}

const limitRules = { extensionBytes: whole(1), sessionBytes: whole(1) } satisfies OptionTable<StateLimits>;

const rules = {
  state: withMethods('get', 'set', 'clear', 'clearExtension', 'clearSession', 'touch', 'stats'),
  limits: group(limitRules),
  ttlMs: whole(1),
  sessionTtlMs: whole(1),
  timeoutMs: timerMs,
  stateTimeoutMs: timerMs,
  metrics: withMethods('counter', 'histogram'),
  logger,
  tools: { expected: 'an array of tools and names, or a live tool set', accepts: isToolSource },
  onStateAlert: callable,
} satisfies OptionTable<ExtensionRegistryOptions>;

/** Checks the options and fills in their defaults. Throws OptionInvalidError. */
export function resolveRegistryOptions(options: ExtensionRegistryOptions) {
  validateOptions(options, rules);
  const { limits = {}, ttlMs, timeoutMs = 30_000, stateTimeoutMs = 5_000 } = options;
  const policy = resolveStatePolicy({ ...limits, ttlMs, sessionTtlMs: options.sessionTtlMs });
  const sessionTtlMs = options.sessionTtlMs ?? Math.max(policy.sessionTtlMs, policy.ttlMs);
  const store = options.state ?? new MemoryStateStore();
  return { store, policy: { ...policy, sessionTtlMs }, timeoutMs, stateTimeoutMs };
}

function isToolSource(tools: unknown): boolean {
  return Array.isArray(tools) ? tools.every(hasName) : typeof (tools as LiveToolSet | null)?.list === 'function';
}

function hasName(tool: unknown): boolean {
  return typeof tool === 'string' || typeof (tool as Tool | null)?.name === 'string';
}
