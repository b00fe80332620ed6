import type { AgentEvent, AgentEventOf } from '../agent/agent-event.js';
import type { Awaitable } from '../internal/promise.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import { HOOKS } from '../lifecycle/registered-lifecycle.js';
import type { HookName } from './hook-name.js';

/** The settings of a recorded lifecycle, and what its hooks do once they are logged; a hook that is absent passes through. */
export interface RecordedLifecycle<Context = unknown> extends Omit<AgentLifecycle<Context>, 'name'> {
  /** The hook points that it takes part in. Default: all of them. */
  readonly only?: readonly HookName[] | undefined;
}

/** What emits events: an agent. */
export interface EventSource {
  /** Calls `listener` for every event of this type. */
  on<Type extends AgentEvent['type']>(type: Type, listener: (event: AgentEventOf<Type>) => void): unknown;
}

/** Writes down what fires, in order. */
export interface Recorder {
  /**
   * One line a firing: `audit.beforeModel`; of a wrap two, `audit.wrapModelCall>` on the way in and
   * `<audit.wrapModelCall` on the way out, with ` threw` after it where it did; of an event its type.
   */
  readonly log: readonly string[];
  /** The events that `listen` was given. */
  readonly events: readonly AgentEvent[];
  /** A lifecycle that logs each hook point under this name and, by itself, changes nothing. */
  lifecycle<Context = unknown>(name: string, behaviour?: RecordedLifecycle<Context>): AgentLifecycle<Context>;
  /**
   * Takes an event: `agent.on('model-end', record.listen)`. A stream's events may be given to it too; they come when the
   * consumer reads them, so they stand behind hooks that fired meanwhile.
   */
  readonly listen: (event: AgentEvent) => void;
  /** Takes every event of an agent, but for deltas unless they are wanted, in exact order with the hooks. */
  listenTo(agent: EventSource, options?: { readonly deltas?: boolean }): void;
  /** Empties `log` and `events`. */
  clear(): void;
}

/**
 * Makes a recorder, to assert the exact order in which hooks and events fire.
 *
 * @example
 * const record = recorder();
 * const gate = record.lifecycle('gate', { priority: 90, beforeAgent: () => HookAction.respond('closed') });
 * await new Agent({ model: scriptedModel([]), lifecycle: [record.lifecycle('audit'), gate] }).run('Hello');
 * expect(record.log).toEqual(['gate.onInit', 'audit.onInit', 'gate.beforeAgent', 'gate.afterAgent']);
 */
export function recorder(): Recorder {
  const log: string[] = [];
  const events: AgentEvent[] = [];
  const listen = (event: AgentEvent) => {
    events.push(event);
    log.push(event.type);
  };
  return {
    log,
    events,
    listen,
    lifecycle: (name, behaviour = {}) => recordHooks(log, name, behaviour),
    listenTo(agent, { deltas = false } = {}) {
      for (const type of EVENT_TYPES) if (deltas || !type.endsWith('-delta')) agent.on(type, listen);
    },
    clear() {
      log.length = 0;
      events.length = 0;
    },
  };
}

const EVENT_TYPES = Object.keys({
  'run-start': true,
  'run-error': true,
  'run-end': true,
  'turn-start': true,
  'turn-end': true,
  'model-start': true,
  'text-delta': true,
  'reasoning-delta': true,
  'tool-input-delta': true,
  'model-error': true,
  'compaction-start': true,
  'compaction-end': true,
  'model-end': true,
  'tool-start': true,
  'tool-delta': true,
  'tool-end': true,
  decision: true,
} satisfies Record<AgentEvent['type'], true>) as readonly AgentEvent['type'][];

function recordHooks<Context>(log: string[], name: string, own: RecordedLifecycle<Context>): AgentLifecycle<Context> {
  const { priority, onFailure, timeoutMs, holdStream, tools, only = HOOKS } = own;
  const lifecycle: Record<string, unknown> = { name, priority, onFailure, timeoutMs, holdStream, tools };
  for (const hook of only) {
    const at = `${name}.${hook}`;
    const act = own[hook] as Hook | undefined;
    if (hook === 'wrapModelCall' || hook === 'wrapToolCall') {
      lifecycle[hook] = (given: unknown, next: Hook) =>
        around(log, at, () => (act ? act.call(own, given, next) : next()));
    } else {
      lifecycle[hook] = (...args: unknown[]) => {
        log.push(at);
        return act?.apply(own, args);
      };
    }
  }
  return lifecycle as AgentLifecycle<Context>;
}

type Hook = (...args: unknown[]) => unknown;

async function around<T>(log: string[], at: string, hook: () => Awaitable<T>): Promise<T> {
  log.push(`${at}>`);
  try {
    const result = await hook();
    log.push(`<${at}`);
    return result;
  } catch (error) {
    log.push(`<${at} threw`);
    throw error;
  }
}
