import type { Run } from '../agent/run/run.js';
import type { JsonValue } from '../internal/json.js';
import type { Awaitable } from '../internal/promise.js';
import type { KeptState } from '../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import type { Message } from '../model/message.js';
import type { Tool } from '../tools/tool.js';
import { StepDataError } from './error.js';
import type { Steps } from './record/steps.js';

/**
 * The hooks that become steps if `durable({ hooks })` names their lifecycle. Wrap hooks are not listed, because they
 * already run inside the step of a model call or tool call.
 */
export const STEP_HOOKS = [
  'beforeAgent',
  'beforeModel',
  'beforeToolSelection',
  'afterModel',
  'afterAgent',
  'onError',
] as const satisfies readonly (keyof AgentLifecycle)[];

export type StepHook = (typeof STEP_HOOKS)[number];

/**
 * How a step stores the return value of a hook. Arrays refer to the messages or tools that the hook received, so that
 * the stored value stays small.
 */
interface HookForm {
  pack(returned: unknown, value: unknown, step: string): unknown;
  unpack(stored: unknown, value: unknown): unknown;
}

/** A call of a hook that runs as a step. */
export interface HookCall {
  readonly hook: StepHook;
  /** The name of the step, such as `hook audit.beforeModel 2`. */
  readonly step: string;
  readonly run: Run;
  /** The argument with which the hook is called. */
  readonly value: unknown;
  /** The state that the lifecycle stores from run to run, if it has any. */
  readonly state: KeptState | undefined;
}

/** The stored result of a hook. `value` is inside an object, because JSON cannot represent `undefined` itself. */
interface StoredHook {
  readonly value: unknown;
  /** The changes that the hook has made to the stored state of its lifecycle. */
  readonly writes?: JsonValue | undefined;
}

/**
 * Runs a hook as a step, and returns the return value of the hook. On a replay, returns the stored value without
 * calling the hook.
 */
export async function hookStep(
  steps: Steps,
  { hook, step, run, value, state }: HookCall,
  call: () => Awaitable<unknown>,
): Promise<unknown> {
  const request = { name: step, key: `${run.context.idempotencyKey}:${step}`, kind: 'hook', run } as const;
  const form = FORMS[hook] ?? PLAIN;
  let isReplay = true;
  const stored = await steps.perform(request, async (): Promise<StoredHook> => {
    isReplay = false;
    const returned = form.pack(await call(), value, step);
    return { value: returned, writes: state?.take(run.context) };
  });
  if (isReplay && stored.writes !== undefined) await state?.restore(run.context, stored.writes);
  return form.unpack(stored.value, value);
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
