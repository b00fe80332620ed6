import { type Clock, systemClock } from '../../internal/clock.js';
import { isObject } from '../../internal/json.js';
import {
  boolean,
  callable,
  clock,
  fullText,
  group,
  logger,
  numberRule,
  object,
  oneOf,
  required,
  texts,
  timerMs,
  whole,
  withMethods,
} from '../../internal/options/rules.js';
import { type OptionRule, type OptionTable, validateOptions } from '../../internal/options/validate.js';
import { withDefaults } from '../../internal/options/with-defaults.js';
import { createTrustGate, type TrustGate } from '../../trust/gate.js';
import { VERSION } from '../../version.js';
import type {
  McpClientInfo,
  McpLimits,
  McpReconnectOptions,
  McpServersOptions,
  McpSystem,
  McpTimeouts,
} from '../options.js';

export type CheckArguments = NonNullable<McpServersOptions['checkArguments']>;

export interface McpSettings
  extends Pick<McpServersOptions, 'workspaceDir' | 'elicit' | 'roots' | 'oauth' | 'onEvent'> {
  readonly gate: TrustGate | undefined;
  readonly clientInfo: McpClientInfo;
  readonly waitForServers: boolean | readonly string[];
  readonly timeouts: typeof TIMEOUTS;
  readonly reconnect: typeof RECONNECT;
  readonly limits: McpLimits;
  readonly pinTools: boolean;
  /** Returns how a tool checks its arguments. Called for each call. */
  readonly checkArguments: () => CheckArguments;
  readonly system: Pick<McpSystem, 'spawn'> & {
    readonly env: NodeJS.ProcessEnv;
    readonly clock: Clock;
    readonly fetch: typeof fetch;
  };
}

const TIMEOUTS = {
  ...{ connectMs: 10_000, installMs: 240_000, readyMs: 1_000, callMs: 60_000, totalMs: 600_000 },
} satisfies McpTimeouts;
const CLIENT_INFO: McpClientInfo = { name: 'keelson', version: VERSION };
const RECONNECT = { initialDelayMs: 500, maxDelayMs: 30_000, maxRetries: 10 };
export const defaultLimits: McpLimits = {
  messageBytes: 16 * 1024 * 1024,
  tools: 1_000,
  descriptionLength: 4_000,
  schemaLength: 262_144,
};

const rules = {
  servers: object,
  configFiles: texts,
  workspaceDir: fullText,
  approve: callable,
  gate: withMethods('authorize', 'verify'),
  waitForServers: {
    expected: 'a boolean or an array of server names',
    accepts: (value) => typeof value === 'boolean' || (Array.isArray(value) && value.every(isText)),
  },
  timeouts: group(eachOf(TIMEOUTS, timerMs)),
  reconnect: {
    expected: 'an object or false',
    accepts: (value) => value === false || isObject(value),
    members: {
      initialDelayMs: timerMs,
      maxDelayMs: timerMs,
      maxRetries: numberRule('a number of 0 or more, or Infinity', 0),
    } satisfies OptionTable<McpReconnectOptions>,
  },
  limits: group(eachOf(defaultLimits, whole(1))),
  pinTools: boolean,
  checkArguments: oneOf('coerce', 'strict', 'off'),
  elicit: callable,
  clientInfo: group({
    name: required(fullText),
    version: required(fullText),
    title: fullText,
  } satisfies OptionTable<McpClientInfo>),
  roots: {
    expected: 'an array or a function',
    accepts: (value) => Array.isArray(value) || typeof value === 'function',
  },
  oauth: callable,
  onEvent: callable,
  system: group({ env: object, clock, spawn: callable, fetch: callable, logger } satisfies OptionTable<McpSystem>),
} satisfies OptionTable<McpServersOptions>;

/** Fills in the defaults. Throws an OptionInvalidError if an option is unknown or has an invalid value. */
export function resolveSettings(options: McpServersOptions): McpSettings {
  validateOptions(options, rules);
  const { workspaceDir, elicit, roots, oauth, onEvent, system = {} } = options;
  const timeouts = withDefaults(TIMEOUTS, options.timeouts);
  return {
    workspaceDir,
    elicit,
    roots,
    oauth,
    onEvent,
    pinTools: options.pinTools ?? false,
    checkArguments: () => options.checkArguments ?? 'off',
    gate: gateOf(options),
    clientInfo: options.clientInfo ?? CLIENT_INFO,
    waitForServers: options.waitForServers ?? [],
    timeouts: options.waitForServers === false ? { ...timeouts, readyMs: 0 } : timeouts,
    // With 0 attempts, a lost connection is restored only when a request needs it.
    reconnect:
      options.reconnect === false ? { ...RECONNECT, maxRetries: 0 } : withDefaults(RECONNECT, options.reconnect),
    limits: withDefaults(defaultLimits, options.limits),
    system: {
      clock: system.clock ?? systemClock,
      spawn: system.spawn,
      env: system.env ?? process.env,
      // Reads the global `fetch` at each call, so that a patched `fetch` takes effect.
      fetch: system.fetch ?? ((...args) => fetch(...args)),
    },
  };
}

function eachOf<Defaults extends object>(defaults: Defaults, rule: OptionRule): Record<keyof Defaults, OptionRule> {
  return Object.fromEntries(Object.keys(defaults).map((name) => [name, rule])) as Record<keyof Defaults, OptionRule>;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function gateOf({ gate, approve, workspaceDir, system = {} }: McpServersOptions): TrustGate | undefined {
  if (gate !== undefined || workspaceDir === undefined || approve === undefined) return gate;
  return createTrustGate({ workspaceDir, approve, logger: system.logger, clock: system.clock, path: system.env?.PATH });
}
