import { describeError } from '../../errors.js';
import { logFailure } from '../../internal/logger.js';
import { isPromise } from '../../internal/promise.js';
import { HookAction } from '../../lifecycle/hook-action.js';
import type { AgentLifecycle, ModelCall, ModelCallRequest } from '../../lifecycle/lifecycle.js';
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

/** The hooks of a plugin for opencode that are called outside of tools. */
export interface OpencodeRunHooks {
  readonly event?: (input: { event: { type: string; properties: object } }) => unknown;
  readonly 'chat.message'?: (input: object, output: { message: object; parts: readonly MessagePart[] }) => unknown;
  readonly 'experimental.chat.system.transform'?: (input: object, output: { system: readonly unknown[] }) => unknown;
}

/** Who is called, and how. */
export interface OpencodeRun {
  readonly name: string;
  readonly hooks: OpencodeRunHooks;
  readonly host: OpencodeHost;
  readonly timeoutMs: number;
}

/** The hooks of a plugin for opencode outside of tools, as those of a lifecycle. */
export function opencodeRunHooks(from: OpencodeRun): Partial<AgentLifecycle> {
  const { hooks } = from;
  return {
    ...(hooks.event && eventHooks(from)),
    ...(hooks['chat.message'] && { beforeAgent: (input, run) => passMessage(input, run, from) }),
    ...(hooks['experimental.chat.system.transform'] && {
      wrapModelCall: async (request, next: ModelCall) => next(await passSystem(request, from)),
    }),
  };
}

/** Of opencode's events those that there are here. Nobody waits for what a plugin does about them. */
function eventHooks({ name, hooks, host }: OpencodeRun): Partial<AgentLifecycle> {
  const { logger, workspaceDir: directory } = host;
  const fail = (error: unknown) => logFailure({ logger }, `event of plugin "${name}" failed.`, error);
  const tell = (type: string, properties: object) => {
    try {
      const told = hooks.event?.({ event: { type, properties } });
      if (isPromise(told)) told.then(undefined, fail);
    } catch (error) {
      fail(error);
    }
  };
  return {
    onSessionStart({ id, messages }) {
      if (messages.length === 0) tell('session.created', { info: { id, projectID: 'global', directory, title: '' } });
    },
    afterAgent: (_result, run) => tell('session.idle', { sessionID: sessionOf(run) }),
    onError(thrown, run) {
      const error = { name: 'UnknownError', data: { message: describeError(thrown) } };
      tell('session.error', { sessionID: sessionOf(run), error });
      tell('session.idle', { sessionID: sessionOf(run) });
    },
  };
}

/** A throw ends the run: in opencode the message is not sent then. What there is only in opencode is no verdict. */
async function passMessage(input: string, run: RunContext, { name, hooks, timeoutMs }: OpencodeRun) {
  if (!hasMessage(input, run)) return undefined;
  const [sessionID, messageID] = [sessionOf(run), `${run.id}/0`];
  const given = { sessionID, messageID, agent: run.agent, model: modelOf(run.model) };
  const message = { ...given, id: messageID, role: 'user', time: { created: run.clock.now() } };
  const output = { message, parts: [{ id: `${messageID}/0`, sessionID, messageID, type: 'text', text: input }] };
  const what = `chat.message of plugin "${name}"`;
  try {
    await callInTime(what, () => hooks['chat.message']?.(given, output) as Promise<void>, callingOf(run, timeoutMs));
    return textOf(output.parts);
  } catch (error) {
    run.signal.throwIfAborted();
    logFailure(run, `${what} failed.`, error);
    return error instanceof OpencodeUnavailableError ? undefined : HookAction.reject(describeError(error));
  }
}

function textOf(parts: readonly MessagePart[]): string {
  return parts.flatMap(({ type, text, ignored }) => (type === 'text' && !ignored ? [String(text)] : [])).join('\n');
}

/** The request with the instructions as the plugin wants them: where it leaves none, as they were. */
async function passSystem(request: ModelCallRequest, { name, hooks, timeoutMs }: OpencodeRun) {
  const { run, messages } = request;
  const [before, rest] = divide(messages);
  const output = { system: [...before] };
  const what = `experimental.chat.system.transform of plugin "${name}"`;
  try {
    const given = { sessionID: sessionOf(run), model: modelOf(request.model) };
    const asked = () => hooks['experimental.chat.system.transform']?.(given, output) as Promise<void>;
    await callInTime(what, asked, callingOf(run, timeoutMs));
    const content = output.system.filter((text) => typeof text === 'string' && text !== '').join('\n');
    if (content === '' || content === before.join('\n')) return request;
    return { ...request, messages: [{ role: 'system', content } as const, ...rest] };
  } catch (error) {
    run.signal.throwIfAborted();
    logFailure(run, `${what} failed, and is passed over.`, error);
    return request;
  }
}

/** The instructions, which come first, and the conversation. */
function divide(messages: readonly Message[]): [string[], readonly Message[]] {
  const end = messages.findIndex(({ role }) => role !== 'system');
  const count = end < 0 ? messages.length : end;
  return [messages.slice(0, count).map(({ content }) => content as string), messages.slice(count)];
}

function callingOf({ clock, logger, signal }: RunContext, timeoutMs: number) {
  return { timeoutMs, clock, logger, signal };
}

function sessionOf(run: RunContext): string {
  return run.session?.id ?? run.id;
}

function modelOf({ id, provider = '' }: Model): object {
  return { id, modelID: id, providerID: provider };
}
