import { Agent, type AgentOptions } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import type { SessionStore } from 'keelson/store';
import { createAgentHandler } from 'keelson/ui';
import { onTestFinished } from 'vitest';
import { keepingLogger } from '../agent/silent-logger.js';
import { temporaryFolder } from '../stores/temporary-folder.js';
import { type RemoteHandler, remoteHandler, startChatServer } from './chat-server.js';

/** A server of a host with its own agent and its own store object, as a process has them. */
export interface ChatProcess {
  readonly agent: Agent;
  readonly store: SessionStore;
  /** Sends requests over HTTP. */
  readonly handler: RemoteHandler;
}

/** Starts servers that share the sessions in one folder. The route `undo` goes back to the place before a message. */
export async function startChatProcesses(count: number, options: AgentOptions): Promise<readonly ChatProcess[]> {
  const folder = await temporaryFolder();
  const logger = keepingLogger();
  const start = async (): Promise<ChatProcess> => {
    const store = new FileSessionStore({ folder });
    const agent = new Agent({ logger, ...options, store });
    const chat = createAgentHandler(agent, { authorize: 'none', session: (id) => id, logger });
    const server = await startChatServer((request) =>
      new URL(request.url).pathname.endsWith('/undo') ? undo(agent, request) : chat(request),
    );
    onTestFinished(async () => {
      await server[Symbol.asyncDispose]();
      await agent.close();
    });
    return { agent, store, handler: remoteHandler(server) };
  };
  return Promise.all(Array.from({ length: count }, start));
}

async function undo(agent: Agent, request: Request): Promise<Response> {
  const { id, message } = (await request.json()) as { readonly id: string; readonly message: string };
  await using session = await agent.session({ id });
  await session.allMessages();
  const entry = session.entries.find((one) => one.id === message);
  if (entry === undefined) return new Response(null, { status: 404 });
  await session.branch(entry.parent ?? null);
  return Response.json({ ok: true });
}
