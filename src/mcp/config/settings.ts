import { OptionInvalidError, refuse, refuseUnless, validateNames } from '../../errors.js';
import { type Clock, MAX_TIMER_MS, systemClock } from '../../internal/clock.js';
import { isObject } from '../../internal/json.js';
import { createTrustGate, type TrustGate } from '../../trust/gate.js';
import type { McpLimits, McpReconnectOptions, McpServersOptions, McpSystem } from '../options.js';

/** The options with their defaults. */
export interface McpSettings
  extends Pick<McpServersOptions, 'workspaceDir' | 'elicit' | 'roots' | 'oauth' | 'onEvent'> {
  readonly gate: TrustGate | undefined;
  readonly timeouts: { readonly connectMs: number; readonly callMs: number; readonly totalMs: number };
  readonly reconnect: Required<{ readonly [Key in keyof McpReconnectOptions]: number }>;
  readonly limits: McpLimits;
  readonly pinTools: boolean;
  readonly system: Pick<McpSystem, 'spawn'> & {
    readonly env: NodeJS.ProcessEnv;
    readonly clock: Clock;
    readonly fetch: typeof fetch;
  };
}

const TIMEOUTS = { connectMs: 10_000, callMs: 60_000, totalMs: 600_000 };
const RECONNECT = { initialMs: 500, maxMs: 30_000, attempts: 10 };
/** What one server may send, where nothing else is said. */
export const defaultLimits: McpLimits = {
  messageBytes: 16 * 1024 * 1024,
  tools: 1_000,
  pages: 1_000,
  descriptionLength: 4_000,
  schemaLength: 262_144,
};

const KNOWN = [
  ...(['servers', 'configFiles', 'workspaceDir', 'approve', 'gate', 'timeouts', 'reconnect', 'limits'] as const),
  ...(['pinTools', 'elicit', 'roots', 'oauth', 'onEvent', 'system'] as const),
] satisfies readonly (keyof McpServersOptions)[] as readonly string[];

/** Fills in the defaults. Throws an OptionInvalidError where an option is unknown or of the wrong kind. */
export function resolveSettings(options: McpServersOptions): McpSettings {
  validateKinds(options);
  const { workspaceDir, elicit, roots, oauth, onEvent, system = {} } = options;
  const clock = system.clock ?? systemClock;
  return {
    ...{ workspaceDir, elicit, roots, oauth, onEvent, pinTools: options.pinTools ?? false },
    gate: gateOf(options),
    timeouts: numbers('timeouts', TIMEOUTS, options.timeouts),
    // No attempts at all: what was lost stays lost until somebody asks for it.
    reconnect: options.reconnect === false ? { ...RECONNECT, attempts: 0 } : reconnectOf(options.reconnect),
    limits: numbers('limits', defaultLimits, options.limits),
    system: {
      ...{ clock, spawn: system.spawn, env: system.env ?? process.env },
      // Looked up at each call, so that a patched one is honoured.
      fetch: system.fetch ?? ((...args) => fetch(...args)),
    },
  };
}

function gateOf({ gate, approve, workspaceDir, system = {} }: McpServersOptions): TrustGate | undefined {
  if (gate !== undefined || workspaceDir === undefined || approve === undefined) return gate;
  return createTrustGate({ workspaceDir, approve, logger: system.logger, clock: system.clock, path: system.env?.PATH });
}

function reconnectOf(given: McpReconnectOptions = {}): McpSettings['reconnect'] {
  validateNames(given, Object.keys(RECONNECT), 'reconnect');
  const { attempts = RECONNECT.attempts, ...times } = given;
  if (!(typeof attempts === 'number' && attempts >= 0)) {
    throw new OptionInvalidError(
      'reconnect.attempts',
      `it is ${String(attempts)}; give a number from 0 on, or Infinity.`,
    );
  }
  return { ...numbers('reconnect', { initialMs: RECONNECT.initialMs, maxMs: RECONNECT.maxMs }, times), attempts };
}

function numbers<Names extends string>(
  option: string,
  defaults: Readonly<Record<Names, number>>,
  given: object = {},
): Record<Names, number> {
  validateNames(given, Object.keys(defaults), option);
  const result: Record<Names, number> = { ...defaults };
  for (const [name, value] of Object.entries(given) as [Names, unknown][]) {
    if (value === undefined) continue;
    if (!(typeof value === 'number' && value >= 1 && value <= MAX_TIMER_MS)) {
      throw new OptionInvalidError(`${option}.${name}`, `it is ${String(value)}; give 1 to ${MAX_TIMER_MS}.`);
    }
    result[name] = value;
  }
  return result;
}

function validateKinds(options: McpServersOptions): void {
  validateNames(options, KNOWN);
  for (const name of ['approve', 'elicit', 'oauth', 'onEvent'] as const) {
    refuseUnless(options[name] === undefined || typeof options[name] === 'function', name, 'it is no function.');
  }
  const { servers = {}, configFiles = [], workspaceDir = '.', roots = [], gate, system = {} } = options;
  if (!isObject(servers)) refuse('servers', servers, 'give an object, by names.');
  const areTexts = Array.isArray(configFiles) && configFiles.every((file) => typeof file === 'string');
  if (!areTexts) refuse('configFiles', configFiles, 'give a list of paths.');
  refuseUnless(typeof workspaceDir === 'string' && workspaceDir !== '', 'workspaceDir', 'give the path of a folder.');
  if (typeof roots !== 'function' && !Array.isArray(roots)) refuse('roots', roots, 'give a list, or a function.');
  const isGate = gate === undefined || [gate?.authorize, gate?.verify].every((method) => typeof method === 'function');
  refuseUnless(isObject(system), 'system', 'it is no object.');
  refuseUnless(isGate, 'gate', 'make it with `createTrustGate`.');
}
