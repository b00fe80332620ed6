import { describeError, RunEndedError } from '../../errors.js';
import { consoleLogger, type Logger } from '../../internal/logger.js';
import { describeIssues } from '../../tools/standard-schema.js';
import type { Tool, ToolContext } from '../../tools/tool.js';
import { toToolResult } from '../../tools/tool-result.js';
import type { ToolExecutionResult } from '../plugin.js';
import type { HookManager } from './hook-manager.js';
import { shownResult } from './tool.js';

/** The tools, hooks and agent for the execution of a tool. */
export interface ToolExecution {
  readonly tools: () => readonly Tool[];
  readonly hooks?: Pick<HookManager, 'judgeToolCall' | 'afterToolExecute'> | undefined;
  /** The agent that owns the tools. */
  readonly agent?: { readonly agent: string; readonly signal: AbortSignal; readonly logger: Logger } | undefined;
}

interface Call {
  readonly name: string;
  readonly input: Record<string, unknown>;
}

/**
 * Runs a tool outside of any run, with its hooks and input validation. Every failure becomes a result with `isError:
 * true`.
 */
export async function executeTool({ name, input }: Call, execution: ToolExecution): Promise<ToolExecutionResult> {
  const { hooks } = execution;
  const verdict = (await hooks?.judgeToolCall(name, input)) ?? { name, input };
  if (verdict.blocked !== undefined) return failure(verdict.blocked);
  const result = await runTool(verdict, execution);
  return hooks ? hooks.afterToolExecute(verdict.name, verdict.input, result) : result;
}

async function runTool({ name, input }: Call, execution: ToolExecution): Promise<ToolExecutionResult> {
  const tools = execution.tools();
  const tool = tools.findLast((it) => it.name === name);
  if (tool === undefined) {
    const names = [...new Set(tools.map((it) => it.name))];
    return failure(`There is no tool "${name}". Tools: ${names.join(', ')}.`);
  }
  if (tool.execute === undefined) return failure(`The tool "${name}" has no \`execute\`: only the caller can run it.`);
  try {
    const checked = await tool.check(input);
    if (checked.issues !== undefined) {
      return failure(`The arguments of "${name}" are not valid: ${describeIssues(checked.issues)}`);
    }
    return shownResult(toToolResult(await tool.execute(checked.value, contextOf(name, execution))));
  } catch (error) {
    return failure(describeError(error));
  }
}

let calls = 0;

/** Creates the tool context for a call outside of a run. The methods of its run throw a RunEndedError. */
function contextOf(toolName: string, { agent }: ToolExecution): ToolContext {
  calls += 1;
  const id = `registry-${calls}`;
  const absent = (action: string) => (): never => {
    throw new RunEndedError(action);
  };
  return {
    callId: id,
    toolName,
    idempotencyKey: id,
    attempt: 1,
    context: undefined,
    progress() {},
    signal: agent?.signal ?? new AbortController().signal,
    logger: agent?.logger ?? consoleLogger,
    run: {
      id,
      agent: agent?.agent ?? '',
      turn: 0,
      context: undefined,
      attempt: 1,
      idempotencyKey: id,
      add: absent('run.add'),
      end: absent('run.end'),
      background: absent('run.background'),
    },
  };
}

function failure(content: string): ToolExecutionResult {
  return { content, isError: true };
}
