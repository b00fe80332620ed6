import { OptionInvalidError } from '../errors.js';
import { MAX_TIMER_MS } from '../internal/clock.js';
import type { Logger } from '../internal/logger.js';
import type { Awaitable } from '../internal/promise.js';
import { MemoryStateStore } from '../state/memory-state-store.js';
import type { StatePolicy, StateStore } from '../state/state-store.js';
import type { MetricsSink } from '../telemetry/metrics-sink.js';
import type { LiveToolSet, Tool } from '../tools/tool.js';
import type { StateAlert } from './extension-state.js';

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
  /** Tools that tool guidance may name before an agent is there, or that are still to come: tools, or their names. */
  readonly tools?: readonly (Tool | string)[] | LiveToolSet | undefined;
  /** Called as the state of a session comes to 80 % of `sessionBytes`. */
  readonly onStateAlert?: ((alert: StateAlert) => Awaitable<void>) | undefined;
}

/** Bytes of the stored JSON text in UTF-8. */
export interface StateLimits {
  /** For one extension in one session; what was used longest ago makes room. Default: 10,000,000. */
  readonly extensionBytes?: number | undefined;
  /** For all extensions in one session. Default: 64 MiB. */
  readonly sessionBytes?: number | undefined;
}

/** The options with their defaults. */
export interface ResolvedRegistryOptions {
  readonly store: StateStore;
  readonly policy: StatePolicy;
  readonly timeoutMs: number;
  readonly stateTimeoutMs: number;
}

const HOUR_MS = 3_600_000;
const OPTIONS = [
  ...['state', 'limits', 'ttlMs', 'sessionTtlMs', 'timeoutMs', 'stateTimeoutMs'],
  ...['metrics', 'logger', 'tools', 'onStateAlert'],
];

/** Checks the options and fills in their defaults. Throws OptionInvalidError. */
export function resolveRegistryOptions(options: ExtensionRegistryOptions): ResolvedRegistryOptions {
  const unknown = Object.keys(options).find((key) => !OPTIONS.includes(key));
  if (unknown !== undefined) throw new OptionInvalidError(unknown, `it is none of ${OPTIONS.join(', ')}`);
  const { limits = {}, ttlMs = HOUR_MS, timeoutMs = 30_000, stateTimeoutMs = 5_000 } = options;
  const { extensionBytes = 10_000_000, sessionBytes = 64 * 1024 * 1024 } = limits;
  const sessionTtlMs = options.sessionTtlMs ?? Math.max(24 * HOUR_MS, ttlMs);
  const policy = { ttlMs, sessionTtlMs, extensionBytes, sessionBytes };
  for (const [name, value] of Object.entries(policy)) assertNumber(name, value, Number.MAX_SAFE_INTEGER);
  for (const [name, value] of Object.entries({ timeoutMs, stateTimeoutMs })) assertNumber(name, value, MAX_TIMER_MS);
  return { store: options.state ?? new MemoryStateStore(), policy, timeoutMs, stateTimeoutMs };
}

function assertNumber(name: string, value: number, most: number): void {
  if (typeof value === 'number' && value > 0 && value <= most) return;
  throw new OptionInvalidError(name, `${String(value)} is no number above 0, at most ${most}`);
}
