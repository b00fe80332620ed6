import { Agent, defineTool, MemorySessionStore } from 'keelson';
import { says, scriptedModel, streams } from 'keelson/testing';
import { type AgentHandlerOptions, createAgentHandler, MemoryRunLog } from 'keelson/ui';
import { expect } from 'vitest';
import { z } from 'zod';
import { aborted, type Gate, gate } from '../../agent/settle.js';
import { keepingLogger } from '../../agent/silent-logger.js';
import { type ChatServer, postTo, startChatServer } from '../chat-server.js';
import { documented, type Nginx, type NginxOptions, startNginx } from './nginx.js';

export interface ProxiedChatOptions extends Partial<Omit<NginxOptions, 'servers'>> {
  /** The number of web servers behind nginx. They share a store and a run log. */
  readonly count?: number;
  readonly handler?: Partial<AgentHandlerOptions>;
}

/** A chat behind nginx. The agent says "Wait. ", calls a tool that works until the gate opens, and says "Done.". */
export interface ProxiedChat extends AsyncDisposable {
  readonly nginx: Nginx;
  /** The URL of the chat at nginx. */
  readonly url: string;
  readonly held: Gate;
  readonly agents: readonly Agent[];
  readonly servers: readonly ChatServer[];
  /** The method and the path of each request that reached a server, one list for each server. */
  readonly requests: readonly string[][];
}

export async function startProxiedChat(options: ProxiedChatOptions = {}): Promise<ProxiedChat> {
  const { count = 1, handler, site = documented, ...rest } = options;
  const held = gate();
  const work = defineTool({
    name: 'work',
    description: 'Works.',
    input: z.object({}),
    execute: (_input, { signal }) => Promise.race([held.pass().then(() => 'worked'), aborted(signal)]),
  });
  const shared = { store: new MemorySessionStore(), logger: keepingLogger() };
  const runLog = new MemoryRunLog();
  const all = { authorize: () => 'ada', session: (id: string) => id, runLog } as const;
  const model = scriptedModel([says('Wait. ', { calls: [{ name: 'work' }] }), streams(['Do', 'ne.'])]);
  const requests: string[][] = [];
  const agents = Array.from({ length: count }, () => new Agent({ model, tools: [work], ...shared }));
  const servers = await Promise.all(
    agents.map((agent) => {
      const chat = createAgentHandler(agent, { ...all, logger: shared.logger, ...handler });
      const seen: string[] = [];
      requests.push(seen);
      return startChatServer((request) => {
        seen.push(`${request.method} ${new URL(request.url).pathname}`);
        return chat(request);
      });
    }),
  );
  const nginx = await startNginx({ ...rest, site, servers: servers.map(({ url }) => new URL(url).host) });
  return {
    ...{ nginx, held, agents, servers, requests },
    url: `${nginx.url}/api/chat`,
    async [Symbol.asyncDispose]() {
      held.open();
      await nginx[Symbol.asyncDispose]();
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
      await Promise.all(agents.map((agent) => agent.close()));
    },
  };
}

/** The body of the message "Go." in each protocol. */
export const goBodies = {
  'ai-sdk': { id: 'chat', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Go.' }] }] },
  'ai-sdk-6': { id: 'chat', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Go.' }] }] },
  'ag-ui': {
    ...{ threadId: 'chat', runId: 'r', state: {}, tools: [], context: [], forwardedProps: {} },
    messages: [{ id: 'm', role: 'user', content: 'Go.' }],
  },
  sse: { id: 'chat', message: 'Go.', messageId: 'm' },
};

export type Protocol = keyof typeof goBodies;

/** The end of a complete answer in each protocol. */
export const endings: Readonly<Record<Protocol, RegExp>> = {
  'ai-sdk': /"type":"finish".*\n\ndata: \[DONE\]\n\n$/,
  'ai-sdk-6': /"type":"finish".*\n\ndata: \[DONE\]\n\n$/,
  'ag-ui': /"type":"RUN_FINISHED".*\n\n$/,
  sse: /"type":"run-end".*\n\n$/,
};

/** Sends "Go.". */
export function sendGo(
  { url }: Pick<ProxiedChat, 'url'>,
  protocol: Protocol,
  init: RequestInit = {},
): Promise<Response> {
  return postTo(url, goBodies[protocol], init);
}

/** Reads a body to its end. Calls `see` with the text so far, after each chunk. A cut rejects. */
export async function readAll({ body }: Response, see: (text: string) => void = () => {}): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    see(text);
  }
  return text;
}

/**
 * Runs a test that gives nginx a number of seconds. A busy machine may be silent for longer than nginx waits, so a test that
 * fails runs again with more seconds.
 */
export async function withSeconds(test: (seconds: number) => Promise<void>): Promise<void> {
  for (const seconds of [1, 4]) {
    try {
      return await test(seconds);
    } catch {}
  }
  await test(16);
}

/** A tool that works for longer than nginx waits for a silent server. */
export interface LongTool {
  readonly protocol: Protocol;
  readonly site: string;
  /** `proxy_read_timeout`. */
  readonly seconds: number;
  readonly toolMs: number;
  readonly keepAliveMs?: number;
}

/** Checks that the answer is read to its end through nginx. */
export async function checkLongTool({ protocol, site, seconds, toolMs, keepAliveMs }: LongTool): Promise<void> {
  const http = `proxy_read_timeout ${seconds}s;`;
  await using chat = await startProxiedChat({ site, http, handler: { protocol, keepAliveMs } });
  const response = await sendGo(chat, protocol);
  let since: number | undefined;
  const answer = await readAll(response, () => {
    if (chat.held.arrived > 0) since ??= Date.now();
    // The clock of nginx cannot be driven.
    if (since !== undefined && Date.now() - since > toolMs) chat.held.open();
  });
  expect(answer).toMatch(endings[protocol]);
}
