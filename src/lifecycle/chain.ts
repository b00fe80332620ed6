import type { ModelResponse } from '../model/model.js';
import type { ToolResult } from '../tools/tool.js';
import { compose, type Step, type WrapPoint } from './compose.js';
import { wrapModelCallPoint, wrapToolCallPoint } from './compose-points.js';
import { DURABLE, type DurableEngine } from './hook-run/hook-run.js';
import type { AgentLifecycle, ModelCallRequest, ToolCallRequest } from './lifecycle.js';
import type { RegisteredLifecycle } from './registered-lifecycle.js';
import type { Waterfall, WaterfallPoint } from './waterfall.js';
import {
  afterAgentPoint,
  afterModelPoint,
  beforeAgentPoint,
  beforeModelPoint,
  beforeToolSelectionPoint,
} from './waterfall-points.js';

/**
 * The hooks of an agent, compiled when the list of lifecycles changes. A hook point that no lifecycle implements is
 * `undefined`, so that a run skips the hook point with one comparison.
 */
export type Chain = Readonly<ReturnType<typeof compileChain>>;

/**
 * Sorts the lifecycles by priority, and prepares each hook point for the runs. `registered` must be in registration
 * order. `callModel` and `callTool` are the innermost steps of the wrap hooks.
 */
export function compileChain(
  registered: readonly RegisteredLifecycle[],
  callModel: Step<ModelCallRequest, ModelResponse>,
  callTool: Step<ToolCallRequest, ToolResult>,
) {
  const sorted = [...registered].sort((a, b) => b.priority - a.priority);
  const entries: readonly RegisteredLifecycle[] = sorted.map((entry, index) => ({ ...entry, index }));
  const implementersOf = (hook: keyof AgentLifecycle): readonly RegisteredLifecycle[] | undefined => {
    const found = entries.filter(({ lifecycle }) => lifecycle[hook] !== undefined);
    return found.length === 0 ? undefined : found;
  };
  const thread = <T>(point: WaterfallPoint<T>): Waterfall<T> | undefined => {
    const found = implementersOf(point.name);
    return found && { point, entries: found };
  };
  const nest = <Request, Result>(point: WrapPoint<Request, Result>, core: Step<Request, Result>) => {
    const found = implementersOf(point.name);
    return found && compose(point, found, core);
  };
  const gates = entries.filter(({ lifecycle }) => typeof lifecycle.holdStream === 'function');
  return {
    /** Set if a lifecycle makes the runs durable. */
    durable: entries.map(({ lifecycle }) => engineOf(lifecycle)).find((engine) => engine !== undefined),
    /** All lifecycles, by descending priority, then by registration order. */
    entries,
    beforeAgent: thread(beforeAgentPoint),
    beforeModel: thread(beforeModelPoint),
    beforeToolSelection: thread(beforeToolSelectionPoint),
    wrapModelCall: nest(wrapModelCallPoint, callModel),
    afterModel: thread(afterModelPoint),
    wrapToolCall: nest(wrapToolCallPoint, callTool),
    afterAgent: thread(afterAgentPoint),
    onError: implementersOf('onError'),
    /** True if a lifecycle delays all text. Otherwise the lifecycles with a `holdStream` function, or false without any. */
    holdStream: entries.some(({ lifecycle }) => lifecycle.holdStream === true) || (gates.length > 0 && gates),
  };
}

function engineOf(lifecycle: object): DurableEngine | undefined {
  return (lifecycle as { readonly [DURABLE]?: DurableEngine })[DURABLE];
}
