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
  const at = (hook: keyof AgentLifecycle) => entries.filter(({ lifecycle }) => lifecycle[hook] !== undefined);
  return {
    entries,
    beforeAgent: threadOf(beforeAgentPoint, at('beforeAgent')),
    beforeModel: threadOf(beforeModelPoint, at('beforeModel')),
    beforeToolSelection: threadOf(beforeToolSelectionPoint, at('beforeToolSelection')),
    wrapModelCall: nested(wrapModelCallPoint, at('wrapModelCall'), cores.callModel),
    afterModel: threadOf(afterModelPoint, at('afterModel')),
    wrapToolCall: nested(wrapToolCallPoint, at('wrapToolCall'), cores.callTool),
    afterAgent: threadOf(afterAgentPoint, at('afterAgent')),
    onError: orUndefined(at('onError')),
    holdStream: entries.some(({ lifecycle }) => lifecycle.holdStream === true),
  };
}

function threadOf<T>(point: ThreadPoint<T>, entries: readonly Entry[]): Thread<T> | undefined {
  return entries.length === 0 ? undefined : { point, entries };
}

function nested<Request, Result>(
  point: WrapPoint<Request, Result>,
  entries: readonly Entry[],
  core: Step<Request, Result>,
): Step<Request, Result> | undefined {
  return entries.length === 0 ? undefined : nestSteps(point, entries, core);
}

function orUndefined(entries: readonly Entry[]): readonly Entry[] | undefined {
  return entries.length === 0 ? undefined : entries;
}
