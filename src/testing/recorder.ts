import type { AgentEvent, AgentEventOf } from '../agent/agent-event.js';
import type { Awaitable } from '../internal/promise.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import { HOOKS } from '../lifecycle/registered-lifecycle.js';

/** The name of a hook, from `onInit` to `onShutdown`. */
export type HookName = Exclude<
  keyof AgentLifecycle,
  'name' | 'priority' | 'onFailure' | 'timeoutMs' | 'holdStream' | 'tools'
>;

/**
 * The settings of a recorded lifecycle, and its own hooks. Each hook runs after its call is logged; a hook that is
 * missing changes nothing.
 */
export interface RecordedLifecycle<Context = unknown> extends Omit<AgentLifecycle<Context>, 'name'> {
  /** The hooks to record. Default: all hooks. */
  readonly only?: readonly HookName[] | undefined;
}

/** An object that emits events, such as an agent. */
interface EventSource {
  /** Calls `listener` for every event of this type. */
  on<Type extends AgentEvent['type']>(type: Type, listener: (event: AgentEventOf<Type>) => void): unknown;
}

/** Records hooks and events in order. */
export interface Recorder {
  /**
   * The log, one line per call. `audit.beforeModel` is a hook of the lifecycle `audit`. A wrap has two lines:
   * `audit.wrapModelCall>` before and `<audit.wrapModelCall` after, with ` threw` added if it threw. An event gives its
   * type.
   */
  readonly log: readonly string[];
  /** The events passed to `listen`. */
  readonly events: readonly AgentEvent[];
  /** Creates a lifecycle that logs its hooks under this name, and otherwise changes nothing. */
  lifecycle<Context = unknown>(name: string, behaviour?: RecordedLifecycle<Context>): AgentLifecycle<Context>;
  /**
   * Records an event: `agent.on('model-end', record.listen)`. Also accepts the events of a stream. These are logged
   * when the stream is read, so hooks may be logged earlier than an event that happened before them.
   */
  readonly listen: (event: AgentEvent) => void;
  /** Records every event of an agent in order with the hooks. Delta events are recorded only with `deltas`. */
  listenTo(agent: EventSource, options?: { readonly deltas?: boolean }): void;
  /** Empties `log` and `events`. */
  clear(): void;
}

/**
 * Creates a recorder, to assert the exact order of hooks and events.
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
  'cache-miss': true,
  'compaction-start': true,
  'compaction-end': true,
  'extension-error': true,
  'server-error': true,
  'model-end': true,
  'tool-start': true,
  'tool-delta': true,
  'tool-end': true,
  post: true,
  decision: true,
  handoff: true,
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
