import { describeError } from '../../errors.js';
import { logFailure } from '../../internal/logger.js';
import { HookAction } from '../../lifecycle/hook-action.js';
import { isAside } from '../../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle, ModelCallNext, ModelCallRequest } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { Message } from '../../model/message.js';
import type { Model } from '../../model/model.js';
import { OpencodeUnavailableError } from '../error.js';
import { callInTime, hasMessage } from '../hooks/call.js';
import type { OpencodeHost } from './context.js';

interface MessagePart {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly ignored?: unknown;
}

/** The hooks of an opencode plugin that are not about tools. */
export interface OpencodeRunHooks {
  readonly event?: (input: { event: { type: string; properties: object } }) => unknown;
  readonly 'chat.message'?: (input: object, output: { message: object; parts: readonly MessagePart[] }) => unknown;
  readonly 'experimental.chat.system.transform'?: (input: object, output: { system: readonly unknown[] }) => unknown;
}

/** An opencode plugin with its host and time limit. */
export interface OpencodeRun {
  readonly name: string;
  readonly hooks: OpencodeRunHooks;
  readonly host: OpencodeHost;
  readonly timeoutMs: number;
}

/** Converts the hooks of an opencode plugin that are not about tools to lifecycle hooks. */
export function opencodeRunHooks(from: OpencodeRun): Partial<AgentLifecycle> {
  const { hooks } = from;
  return {
    ...(hooks.event ? eventHooks(from) : {}),
    beforeAgent: hooks['chat.message'] && ((input, run) => passMessage(input, run, from)),
    wrapModelCall:
      hooks['experimental.chat.system.transform'] &&
      (async (request, next: ModelCallNext) => next(isAside(request) ? request : await passSystem(request, from))),
  };
}

/** Emits the opencode events that Keelson supports. The run does not wait for the plugin's event handler. */
function eventHooks({ name, hooks, host }: OpencodeRun): Partial<AgentLifecycle> {
  const { logger, workspaceDir: directory } = host;
  const emit = async (type: string, properties: object): Promise<void> => {
    try {
      await hooks.event?.({ event: { type, properties } });
    } catch (error) {
      logFailure({ logger }, `event of plugin "${name}" failed.`, error);
    }
  };
  return {
    onSessionStart({ id, messages }) {
      const info = { id, projectID: 'global', directory, title: '' };
      if (messages.length === 0) void emit('session.created', { info });
    },
    afterAgent: (_result, run) => void emit('session.idle', { sessionID: sessionOf(run) }),
    onError(thrown, run) {
      const error = { name: 'UnknownError', data: { message: describeError(thrown) } };
      void emit('session.error', { sessionID: sessionOf(run), error });
      void emit('session.idle', { sessionID: sessionOf(run) });
    },
  };
}

/** Calls a hook. If the hook fails, logs the error and resolves with it. Rejects only if the run is aborted. */
async function failureOf(
  hook: 'chat.message' | 'experimental.chat.system.transform',
  work: () => unknown,
  { run, from }: { readonly run: RunContext; readonly from: OpencodeRun },
): Promise<{ readonly error: unknown } | undefined> {
  const what = `${hook} of plugin "${from.name}"`;
  const { clock, logger, signal } = run;
  try {
    await callInTime(what, work, { timeoutMs: from.timeoutMs, clock, logger, signal });
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    logFailure(run, `${what} failed.`, error);
    return { error };
  }
}

/**
 * Passes the user's message to the plugin. A thrown error ends the run, because opencode does not send the message
 * then. An OpencodeUnavailableError leaves the message unchanged.
 */
async function passMessage(input: string, run: RunContext, from: OpencodeRun) {
  if (!hasMessage(input, run)) return undefined;
  const [sessionID, messageID] = [sessionOf(run), `${run.id}/0`];
  const given = { sessionID, messageID, agent: run.agent, model: modelOf(run.model) };
  const message = { ...given, id: messageID, role: 'user', time: { created: run.clock.now() } };
  const output = { message, parts: [{ id: `${messageID}/0`, sessionID, messageID, type: 'text', text: input }] };
  const ask = () => from.hooks['chat.message']?.(given, output);
  const failure = await failureOf('chat.message', ask, { run, from });
  if (failure === undefined) return textOf(output.parts);
  return failure.error instanceof OpencodeUnavailableError
    ? undefined
    : HookAction.reject(describeError(failure.error));
}

function textOf(parts: readonly MessagePart[]): string {
  return parts.flatMap(({ type, text, ignored }) => (type === 'text' && !ignored ? [String(text)] : [])).join('\n');
}

/**
 * Returns the request with the system instructions that the plugin returns. If the plugin fails or removes all
 * instructions, the instructions stay unchanged.
 */
async function passSystem(request: ModelCallRequest, from: OpencodeRun) {
  const { run, messages } = request;
  const [before, rest] = divide(messages);
  const output = { system: [...before] };
  const given = { sessionID: sessionOf(run), model: modelOf(request.model) };
  const ask = () => from.hooks['experimental.chat.system.transform']?.(given, output);
  if ((await failureOf('experimental.chat.system.transform', ask, { run, from })) !== undefined) return request;
  const content = output.system.filter((text) => typeof text === 'string' && text !== '').join('\n');
  if (content === '' || content === before.join('\n')) return request;
  return { ...request, messages: [{ role: 'system', content } as const, ...rest] };
}

function divide(messages: readonly Message[]): [string[], readonly Message[]] {
  const end = messages.findIndex(({ role }) => role !== 'system');
  const count = end < 0 ? messages.length : end;
  return [messages.slice(0, count).map(({ content }) => content as string), messages.slice(count)];
}

function sessionOf(run: RunContext): string {
  return run.session?.id ?? run.id;
}

function modelOf({ id, provider = '' }: Model): object {
  return { id, modelID: id, providerID: provider };
}
