import type { Run } from '../agent/run/run.js';
import type { Awaitable } from '../internal/promise.js';
import { hookRunOf } from '../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { Message } from '../model/message.js';
import type { Tool } from '../tools/tool.js';
import { StepDataError } from './error.js';
import { stepScope } from './record/scope.js';
import type { Steps } from './record/steps.js';

/** The hooks that `durable({ hooks })` turns into steps. The wraps are inside of the steps of the calls. */
const STEP_HOOKS = [
  'beforeAgent',
  'beforeModel',
  'beforeToolSelection',
  'afterModel',
  'afterAgent',
  'onError',
] as const satisfies readonly (keyof AgentLifecycle)[];

type StepHook = (typeof STEP_HOOKS)[number];
type AnyHook = (value: unknown, run: RunContext) => Awaitable<unknown>;

/** How the return value of a hook is stored. Arrays refer to the items that the hook got. */
interface HookForm {
  pack(returned: unknown, value: unknown, step: string): unknown;
  unpack(stored: unknown, value: unknown): unknown;
}

/** Returns the hooks of a lifecycle as steps. */
export function hooksAsSteps(lifecycle: AgentLifecycle<never>, name: string, steps: Steps): AgentLifecycle<never> {
  const calls = new WeakMap<RunContext, Map<StepHook, number>>();
  const numberOf = (run: RunContext, hook: StepHook): number => {
    const counts = calls.get(run) ?? new Map<StepHook, number>();
    calls.set(run, counts);
    const number = (counts.get(hook) ?? 0) + 1;
    counts.set(hook, number);
    return number;
  };
  const asStep =
    (hook: StepHook, call: AnyHook): AnyHook =>
    async (value, run) => {
      if (stepScope.getStore() !== undefined) return call(value, run);
      const step = `hook ${name}.${hook} ${numberOf(run, hook)}`;
      const request = {
        name: step,
        key: `${run.idempotencyKey}:${step}`,
        kind: 'hook',
        run: hookRunOf(run) as Run,
      } as const;
      const form = FORMS[hook] ?? PLAIN;
      // In an object, because `undefined` is not JSON.
      const boxed = await steps.perform(request, async () => ({
        value: form.pack(await call(value, run), value, step),
      }));
      return form.unpack(boxed.value, value);
    };
  const hooks: Record<string, AnyHook> = {};
  for (const hook of STEP_HOOKS) {
    const call = lifecycle[hook] as AnyHook | undefined;
    if (call !== undefined) hooks[hook] = asStep(hook, call);
  }
  return hooks as AgentLifecycle<never>;
}

const PLAIN: HookForm = { pack: (returned) => returned, unpack: (stored) => stored };

const FORMS: Partial<Record<StepHook, HookForm>> = {
  beforeModel: {
    pack(returned, value) {
      if (!Array.isArray(returned)) return returned;
      if (returned === value) return 'same';
      const known = value as readonly Message[];
      return returned.map((message) => {
        const index = known.indexOf(message);
        return index < 0 ? message : index;
      });
    },
    unpack(stored, value) {
      if (stored === 'same') return value;
      if (!Array.isArray(stored)) return stored;
      return stored.map((item) => (typeof item === 'number' ? (value as readonly Message[])[item] : item));
    },
  },
  beforeToolSelection: {
    pack(returned, value, step) {
      if (!Array.isArray(returned)) return returned;
      const known = value as readonly Tool[];
      const added = (returned as readonly Tool[]).find((tool) => !known.includes(tool));
      if (added === undefined) return returned.map((tool: Tool) => tool.name);
      throw new StepDataError(
        step,
        `contains the tool "${added.name}", which the hook did not get. Return tools of the hook's first argument.`,
      );
    },
    unpack(stored, value) {
      if (!Array.isArray(stored)) return stored;
      const known = value as readonly Tool[];
      return stored.flatMap((name) => known.find((tool) => tool.name === name) ?? []);
    },
  },
};
