import { callModel } from '../agent/run/turn/model-call.js';
import { callTool } from '../agent/run/turn/tool-call.js';
import { type Chain, compileChain } from '../lifecycle/chain.js';
import { KEPT_STATE, type KeptState } from '../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import { type RegisteredLifecycle, registerLifecycle } from '../lifecycle/registered-lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { WaterfallPoint } from '../lifecycle/waterfall.js';
import {
  afterAgentPoint,
  afterModelPoint,
  beforeAgentPoint,
  beforeModelPoint,
  beforeToolSelectionPoint,
} from '../lifecycle/waterfall-points.js';
import { STEP_HOOKS, type StepHook } from './hook-steps.js';
import { nameOf } from './named-lifecycles.js';

/** The names of the hooks that are steps, such as `audit.beforeModel`, in the order in which they run. */
export type HookNames = readonly string[];

/** Calls one hook with its argument and the context of the run. */
type Hook = (value: unknown, run: RunContext) => unknown;
type AsStep = (hook: StepHook, entry: RegisteredLifecycle, call: Hook) => Hook;

/** The hooks that may change the stored state of their lifecycle. */
const WRITERS: readonly StepHook[] = ['beforeModel', 'afterModel'];

/**
 * Returns the hooks that become steps: all hooks of the lifecycles with these names, and the hooks that change stored
 * state.
 */
export function hooksOf(chain: Chain, lifecycles: readonly string[]): HookNames {
  return select(chain, (hook, lifecycle) =>
    stateOf(lifecycle) === undefined ? lifecycles.includes(nameOf(lifecycle) ?? '') : WRITERS.includes(hook),
  );
}

/** Returns the hooks that are steps by the rules of older versions of this library. */
export function namedHooksOf(chain: Chain, lifecycles: readonly string[]): HookNames {
  return select(chain, (_hook, lifecycle) => lifecycles.includes(nameOf(lifecycle) ?? ''));
}

function select(
  chain: Chain,
  isStep: (hook: StepHook, lifecycle: RegisteredLifecycle['lifecycle']) => boolean,
): HookNames {
  return STEP_HOOKS.flatMap((hook) => {
    const lifecycles = entriesOf(chain, hook).map(({ lifecycle }) => lifecycle);
    return lifecycles.filter((one) => isStep(hook, one)).map((one) => `${nameOf(one)}.${hook}`);
  });
}

/**
 * Returns the hooks of an agent, with exactly these hooks as steps. A run that was begun by another version of the
 * program keeps the steps of that version.
 *
 * If a lifecycle was removed since, its hook becomes a step that does nothing. All other hooks are called without a
 * step.
 */
export function withHookSteps(chain: Chain, hooks: HookNames, asStep: AsStep): Chain {
  if (hooks.length === 0) return chain;
  const changed = STEP_HOOKS.map((hook) => {
    const names = hooks.filter((name) => name.endsWith(`.${hook}`)).map((name) => name.slice(0, -hook.length - 1));
    const present = entriesOf(chain, hook);
    if (names.length === 0) return [hook, chain[hook]] as const;
    const entries = inOrder(present, names, (entry) => stepOf(entry, hook, asStep));
    return [hook, hook === 'onError' ? entries : { point: POINTS[hook], entries }] as const;
  });
  return { ...chain, ...Object.fromEntries(changed) };
}

/**
 * Adds the durable lifecycle to the lifecycles of an agent. The `wrap*` hooks of the lifecycles in `outside` run around
 * the steps. The `wrap*` hooks of all other lifecycles run inside a step.
 */
export function durableChain(chain: Chain, durable: AgentLifecycle, outside: readonly string[]): Chain {
  const isOutside = ({ lifecycle }: RegisteredLifecycle) => outside.includes(nameOf(lifecycle) ?? '');
  const around = chain.entries.filter(isOutside).map((entry) => ({ ...entry, priority: 100 }));
  const inside = chain.entries.filter((entry) => !isOutside(entry));
  const entry = registerLifecycle(durable as AgentLifecycle<never>, 0);
  return compileChain([...around, entry, ...inside], callModel, callTool);
}

/** Adds the `beforeToolSelection` hook of a lifecycle in front of all other hooks of this kind. */
export function withFirst(chain: Chain, lifecycle: Pick<AgentLifecycle, 'beforeToolSelection'>): Chain {
  const entries = [{ ...MISSING, name: 'durable', index: 0, lifecycle }, ...entriesOf(chain, 'beforeToolSelection')];
  return { ...chain, beforeToolSelection: { point: beforeToolSelectionPoint, entries } };
}

/**
 * Calls `step` for each lifecycle whose name is in `names`. If the program no longer has such a lifecycle, adds an empty
 * one in its former place, because its stored steps must be read there.
 */
function inOrder(
  present: readonly RegisteredLifecycle[],
  names: readonly string[],
  step: (entry: RegisteredLifecycle) => RegisteredLifecycle,
): readonly RegisteredLifecycle[] {
  const known = present.map(({ lifecycle }) => nameOf(lifecycle) ?? '');
  const missing = names.filter((name) => !known.includes(name));
  const entries: RegisteredLifecycle[] = [];
  let index = 0;
  const addMissing = (end: number) => {
    const count = missing.filter((name) => names.indexOf(name) < end).length;
    for (const name of missing.splice(0, count)) entries.push(step({ ...MISSING, name, index }));
  };
  present.forEach((entry, at) => {
    const name = known[at] as string;
    const place = names.indexOf(name);
    addMissing(place);
    entries.push(place < 0 ? entry : step({ ...entry, name }));
    index = entry.index;
  });
  addMissing(names.length);
  return entries;
}

const MISSING: Omit<RegisteredLifecycle, 'name' | 'index'> = {
  lifecycle: {},
  priority: 50,
  onFailure: 'throw',
  timeoutMs: undefined,
  status: { inert: false },
};

function stepOf(entry: RegisteredLifecycle, hook: StepHook, asStep: AsStep): RegisteredLifecycle {
  const lifecycle = entry.lifecycle as AgentLifecycle;
  const call: Hook = (value, run) => (entry.status.inert ? undefined : lifecycle[hook]?.(value as never, run as never));
  return { ...entry, status: MISSING.status, lifecycle: { [hook]: asStep(hook, entry, call) } };
}

/** Returns the state that a lifecycle stores from run to run. Undefined if it has none. */
export function stateOf(lifecycle: object): KeptState | undefined {
  return (lifecycle as { readonly [KEPT_STATE]?: KeptState })[KEPT_STATE];
}

function entriesOf(chain: Chain, hook: StepHook): readonly RegisteredLifecycle[] {
  return (hook === 'onError' ? chain.onError : chain[hook]?.entries) ?? [];
}

const POINTS: Record<Exclude<StepHook, 'onError'>, WaterfallPoint<never>> = {
  beforeAgent: beforeAgentPoint as WaterfallPoint<never>,
  beforeModel: beforeModelPoint as WaterfallPoint<never>,
  beforeToolSelection: beforeToolSelectionPoint as WaterfallPoint<never>,
  afterModel: afterModelPoint as WaterfallPoint<never>,
  afterAgent: afterAgentPoint as WaterfallPoint<never>,
};
