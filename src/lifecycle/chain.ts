import type { Message } from '../model/message.js';
import type { ModelResponse } from '../model/model.js';
import type { Tool, ToolResult } from '../tools/tool.js';
import type { Entry } from './entry.js';
import type { AgentLifecycle, ModelCallRequest, ToolCallRequest } from './lifecycle.js';
import type { Thread, ThreadPoint } from './thread.js';
import {
  afterAgentPoint,
  afterModelPoint,
  beforeAgentPoint,
  beforeModelPoint,
  beforeToolSelectionPoint,
} from './thread-points.js';
import { nestSteps, type Step, type WrapPoint } from './wrap.js';
import { wrapModelCallPoint, wrapToolCallPoint } from './wrap-points.js';

/**
 * The hooks of an agent, made once when its list changes. A point that nobody implements is `undefined`, so that a run
 * passes it with one comparison.
 */
export interface Chain {
  /** All parts in order: priority descending, then registration. */
  readonly entries: readonly Entry[];
  readonly beforeAgent: Thread<string> | undefined;
  readonly beforeModel: Thread<readonly Message[]> | undefined;
  readonly beforeToolSelection: Thread<readonly Tool[]> | undefined;
  readonly wrapModelCall: Step<ModelCallRequest, ModelResponse> | undefined;
  readonly afterModel: Thread<ModelResponse> | undefined;
  readonly wrapToolCall: Step<ToolCallRequest, ToolResult> | undefined;
  readonly afterAgent: Thread<string> | undefined;
  readonly onError: readonly Entry[] | undefined;
  readonly holdStream: boolean;
}

/** The innermost steps: the calls themselves. */
export interface ChainCores {
  readonly callModel: Step<ModelCallRequest, ModelResponse>;
  readonly callTool: Step<ToolCallRequest, ToolResult>;
}

/** Sorts parts (`registered` stands in registration order) and compiles what each point has to call. */
export function compileChain(registered: readonly Entry[], cores: ChainCores): Chain {
  const sorted = [...registered].sort((a, b) => b.priority - a.priority);
  const entries = sorted.map((entry, index): Entry => ({ ...entry, index }));
  const at = (hook: keyof AgentLifecycle): readonly Entry[] | undefined => {
    const found = entries.filter(({ lifecycle }) => lifecycle[hook] !== undefined);
    return found.length === 0 ? undefined : found;
  };
  const thread = <T>(point: ThreadPoint<T>): Thread<T> | undefined => {
    const found = at(point.name);
    return found && { point, entries: found };
  };
  const nest = <Request, Result>(point: WrapPoint<Request, Result>, core: Step<Request, Result>) => {
    const found = at(point.name);
    return found && nestSteps(point, found, core);
  };
  return {
    entries,
    beforeAgent: thread(beforeAgentPoint),
    beforeModel: thread(beforeModelPoint),
    beforeToolSelection: thread(beforeToolSelectionPoint),
    wrapModelCall: nest(wrapModelCallPoint, cores.callModel),
    afterModel: thread(afterModelPoint),
    wrapToolCall: nest(wrapToolCallPoint, cores.callTool),
    afterAgent: thread(afterAgentPoint),
    onError: at('onError'),
    holdStream: entries.some(({ lifecycle }) => lifecycle.holdStream === true),
  };
}
