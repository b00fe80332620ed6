import type { Clock } from '../../../internal/clock.js';
import { isObject } from '../../../internal/json.js';
import { McpRequestError } from '../../error.js';
import { wholeError } from '../../transport/json-rpc.js';
import { pauseFor } from '../../transport/time-limits.js';
import { AnswerError, type AnswerServer } from '../answer-server.js';
import { keepErrorData } from '../request-error.js';
import type { McpAnswer, McpParams, SdkRequestOptions } from '../sdk.js';

/** The extension of the protocol that lets a server answer a call with a task. */
export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** Milliseconds between two questions for the state of a task, unless the server sets another interval. */
const PAUSE_MS = 1_000;
const MIN_PAUSE_MS = 100;

interface TaskOptions extends SdkRequestOptions {
  readonly server: string;
  readonly clock: Clock;
  readonly answers: AnswerServer;
  readonly request: (method: string, params: McpParams, signal?: AbortSignal) => Promise<McpAnswer>;
}

/**
 * Asks for the state of a task until it has ended, and returns its result. Each state counts as progress of the call. Cancels
 * the task when the call is aborted.
 */
export async function finishTask(first: McpAnswer, options: TaskOptions): Promise<McpAnswer> {
  const { clock, signal, onProgress, request } = options;
  const { taskId } = first;
  const answered = new Set<string>();
  try {
    for (let task = first, progress = 1; ; progress++) {
      const { status, pollIntervalMs, statusMessage, inputRequests } = task;
      if (status === 'completed' && isObject(task.result)) return task.result;
      if (status !== 'working' && status !== 'input_required') throw failureOf(task, options.server);
      onProgress({ progress, ...(typeof statusMessage === 'string' && { message: statusMessage }) });
      if (isObject(inputRequests)) await answer(taskId, inputRequests, { ...options, answered });
      const pauseMs = typeof pollIntervalMs === 'number' ? Math.max(pollIntervalMs, MIN_PAUSE_MS) : PAUSE_MS;
      await pauseFor(pauseMs, { clock, signal });
      task = await request('tasks/get', { taskId }, signal);
    }
  } catch (error) {
    if (signal.aborted) void request('tasks/cancel', { taskId }).catch(() => {});
    throw error;
  }
}

/**
 * Answers new questions of a task. Skips known ones: a question stays in the state of the task until the server has its
 * answer.
 */
async function answer(
  taskId: unknown,
  questions: McpParams,
  { answered, answers, request, signal }: TaskOptions & { readonly answered: Set<string> },
): Promise<void> {
  const open = Object.entries(questions).filter(([key]) => !answered.has(key));
  const inputResponses: Record<string, unknown> = {};
  for (const [key, question] of open) {
    const { method, params } = (question ?? {}) as { readonly method?: unknown; readonly params?: McpParams };
    inputResponses[key] = await answers.asked(String(method), params, signal);
    answered.add(key);
  }
  if (open.length > 0) await request('tasks/update', { taskId, inputResponses }, signal);
}

function failureOf({ status, error }: McpAnswer, server: string): Error {
  if (status !== 'failed') {
    return new McpRequestError(server, `The task of MCP server "${server}" ended without a result: it is ${status}.`);
  }
  const message = { jsonrpc: '2.0', id: 0, error: wholeError(error) } as const;
  keepErrorData(message);
  return Object.assign(new AnswerError(message.error.code, message.error.message), { data: message.error.data });
}
