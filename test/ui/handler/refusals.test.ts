import { HttpAgent } from '@ag-ui/client';
import { DefaultChatTransport } from 'ai';
import { DefaultChatTransport as DefaultChatTransport6 } from 'ai-6';
import { EventSource } from 'eventsource';
import { Agent } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { type AgentHandlerOptions, createAgentHandler } from 'keelson/ui';
import { describe, expect, test, vi } from 'vitest';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { ChatClient, post } from '../../support/ui/chat-client.js';
import { postTo, remoteHandler, startChatServer } from '../../support/ui/chat-server.js';

const UNKNOWN = 'The chat is unknown, or belongs to another user.';
const ID = { id: 'm1', role: 'user' } as const;
const message = { ...ID, parts: [{ type: 'text' as const, text: 'Hi' }] };

function handlerOf(options: Partial<AgentHandlerOptions>) {
  const agent = new Agent({ model: scriptedModel(() => 'Hello.') });
  const session = (id: string) => (id === 'foreign' ? undefined : id);
  return createAgentHandler(agent, {
    authorize: 'none',
    session,
    logger: keepingLogger(),
    ...options,
  });
}
const serve = (options: Partial<AgentHandlerOptions>) => startChatServer(handlerOf(options));

describe('a refused request', () => {
  test('is shown by `useChat` in words, when it sends a message and when it comes back', async () => {
    await using server = await serve({});
    const client = new ChatClient(remoteHandler(server), 'foreign');

    await client.sendMessage({ text: 'Hi' });
    await client.resumeStream();

    expect(client.errors.map(({ message }) => message)).toEqual([UNKNOWN, UNKNOWN]);
    expect(client.error).toMatchObject({ statusCode: 404 });
  });

  test('is an error in words for the transport of version 6 of `ai`', async () => {
    await using server = await serve({ protocol: 'ai-sdk-6' });
    const transport = new DefaultChatTransport6({ api: `${server.url}/chat` });
    const chat = { chatId: 'foreign' };

    const sent = transport.sendMessages({
      ...chat,
      messageId: undefined,
      abortSignal: undefined,
      trigger: 'submit-message',
      messages: [message],
    });

    await expect(sent).rejects.toThrow(new Error(UNKNOWN));
    await expect(transport.reconnectToStream(chat)).rejects.toThrow(new Error(UNKNOWN));
  });

  test('is shown by the client of AG-UI in words, behind the status code', async () => {
    await using server = await serve({ protocol: 'ag-ui' });
    const client = new HttpAgent({ url: `${server.url}/chat`, threadId: 'foreign' });
    client.addMessage({ ...ID, content: 'Hi' });
    using logged = vi.spyOn(console, 'error').mockReturnValue();

    await expect(client.runAgent()).rejects.toMatchObject({ message: `HTTP 404: ${UNKNOWN}`, payload: UNKNOWN });

    expect(logged).toHaveBeenCalledOnce();
  });

  test.each(['ai-sdk', 'ai-sdk-6', 'ag-ui'] as const)(
    'of protocol %s has its code in a header, and a failure of the server says no more than its code',
    async (protocol) => {
      const fail = () => {
        throw Object.assign(new TypeError('cannot reach db.internal'), { code: 'ERR_DATABASE' });
      };
      await using refusing = await serve({ protocol, authorize: () => undefined });
      await using failing = await serve({ protocol, authorize: fail });

      const refused = await postTo(`${refusing.url}/chat`, {});
      const failed = await postTo(`${failing.url}/chat`, {});

      expect(refused.status).toBe(401);
      expect(refused.headers.get('content-type')).toMatch(/^text\/plain/);
      expect(refused.headers.get('keelson-error')).toBe('ERR_UI_UNAUTHORIZED');
      expect(await refused.text()).toBe('The request has no identity. Sign in first.');
      expect(failed.status).toBe(500);
      expect(await failed.text()).toBe('The run failed (ERR_DATABASE).');
    },
  );

  test.each([
    ['ai-sdk', '/decide', { id: 'foreign', decisions: { call_1: 'approve' } }],
    ['ai-sdk', '/stop', { id: 'foreign' }],
    ['ag-ui', '/stop', { id: 'foreign' }],
    ['sse', '', { id: 'foreign', message: 'Hi' }],
  ] as const)('of protocol %s to `%s` is JSON for the program that sent it', async (protocol, route, body) => {
    const response = await post(handlerOf({ protocol }), route, body);

    expect(response.headers.get('keelson-error')).toBe('ERR_UI_CHAT_UNKNOWN');
    expect(await response.json()).toEqual({ error: { code: 'ERR_UI_CHAT_UNKNOWN', message: UNKNOWN } });
  });

  test('can be read with its code by a page of a listed origin', async () => {
    const handler = handlerOf({ origins: ['https://app.example.com'] });
    const headers = { 'content-type': 'application/json', origin: 'https://app.example.com' };
    const init = { method: 'POST', headers, body: JSON.stringify({ id: 'foreign', messages: [message] }) };

    const response = await handler(new Request('http://localhost/chat', init));

    expect(response.headers.get('access-control-expose-headers')).toContain('keelson-error');
  });
});

describe('a page that asks for a running answer while nothing runs', () => {
  test.each([
    ['7', 'ai-sdk', (api: string) => new DefaultChatTransport({ api })],
    ['6', 'ai-sdk-6', (api: string) => new DefaultChatTransport6({ api })],
  ] as const)('gets none, with version %s of `ai`', async (_version, protocol, transportOf) => {
    await using server = await serve({ protocol });
    const transport = transportOf(`${server.url}/chat`);

    expect(await transport.reconnectToStream({ chatId: 'chat' })).toBeNull();
  });

  test.each([
    ['nothing runs', 'chat', 204],
    ['the chat belongs to somebody else', 'foreign', 404],
  ])('is not asked to come again by an `EventSource` if %s', async (_title, id, code) => {
    await using server = await serve({ protocol: 'sse' });
    const source = new EventSource(`${server.url}/chat/stream?id=${id}`);

    const error = await new Promise((resolve) => source.addEventListener('error', resolve));

    expect(error).toMatchObject({ code });
    expect(source.readyState).toBe(source.CLOSED);
  });
});
