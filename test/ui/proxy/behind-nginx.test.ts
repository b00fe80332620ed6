import { once } from 'node:events';
import { connect } from 'node:http2';
import { expect, test } from 'vitest';
import { until } from '../../support/agent/settle.js';
import { ChatClient, loadHistory } from '../../support/ui/chat-client.js';
import { postTo, remoteHandler } from '../../support/ui/chat-server.js';
import { defaults, describeWithNginx, documented, startNginx } from '../../support/ui/proxy/nginx.js';
import {
  checkLongTool,
  endings,
  goBodies,
  type Protocol,
  type ProxiedChatOptions,
  readAll,
  sendGo,
  startProxiedChat,
  withSeconds,
} from '../../support/ui/proxy/proxied-chat.js';
import { type ReadSSE, readSSE } from '../../support/ui/read-sse.js';
import { shownText } from '../../support/ui/read-ui-message.js';

const protocols = Object.keys(endings) as Protocol[];
const NEVER = 3_600_000;
const LISTED = 'https://app.example.com';
const gzip = 'gzip on; gzip_types text/event-stream; gzip_min_length 0;';
const opensAtTool =
  ({ held }: Awaited<ReturnType<typeof startProxiedChat>>) =>
  (text: string) => {
    if (text.includes('"tool-start"')) held.open();
  };

describeWithNginx('an answer through nginx', () => {
  test.concurrent.each([
    ...protocols.map((protocol) => [protocol, 'its defaults', defaults] as const),
    ['sse', 'the documented configuration', documented] as const,
  ])(
    'is read to its end while a tool works for longer than `proxy_read_timeout`: %s, with %s',
    async (...args) => {
      const [protocol, , site] = args;
      await withSeconds((seconds) =>
        checkLongTool({ protocol, site, seconds, toolMs: seconds * 1_000 + 200, keepAliveMs: 50 }),
      );
    },
    120_000,
  );

  test('is cut if the stream is silent for longer, and the run goes on', { timeout: 120_000 }, () =>
    withSeconds(async (seconds) => {
      const http = `proxy_read_timeout ${seconds}s;`;
      await using chat = await startProxiedChat({ http, handler: { protocol: 'sse', keepAliveMs: NEVER } });
      await expect(readAll(await sendGo(chat, 'sse'))).rejects.toThrow('terminated');

      chat.held.open();
      await until(() => chat.agents[0]?.status().runs === 0);
      const { messages } = await loadHistory(remoteHandler(chat.nginx));
      expect(messages.map(shownText)).toEqual(['Go.', 'Wait. Done.']);
    }),
  );

  test.each<[string, ProxiedChatOptions & { readonly encoding?: string }]>([
    ['with its defaults', { site: defaults }],
    ['with the documented configuration', {}],
    ['with gzip', { http: gzip, encoding: 'gzip' }],
  ])('comes event by event %s, so that the page sees a tool that works', async (_title, { encoding, ...options }) => {
    await using chat = await startProxiedChat({ ...options, handler: { protocol: 'sse', keepAliveMs: NEVER } });
    const response = await sendGo(chat, 'sse');
    expect(response.headers.get('content-encoding')).toBe(encoding ?? null);
    expect(await readAll(response, opensAtTool(chat))).toMatch(endings.sse);
  });

  test('comes event by event through a second nginx with its defaults', async () => {
    await using chat = await startProxiedChat({ handler: { protocol: 'sse', keepAliveMs: NEVER } });
    await using outer = await startNginx({ site: defaults, servers: [new URL(chat.nginx.url).host] });
    const response = await sendGo({ url: `${outer.url}/api/chat` }, 'sse');
    expect(await readAll(response, opensAtTool(chat))).toMatch(endings.sse);
  });

  test('goes on after nginx was killed and started again, behind the `Last-Event-ID` of the page', async () => {
    await using chat = await startProxiedChat({ handler: { protocol: 'sse', keepAliveMs: 20 } });
    let read = '';
    const keep = (text: string) => {
      read = text;
    };
    const cut = expect(readAll(await sendGo(chat, 'sse'), keep)).rejects.toThrow('terminated');
    await until(() => read.includes('"tool-start"'));
    await chat.nginx.kill();
    await cut;
    await chat.nginx.start();

    const seen = await eventsIn(read);
    const headers = { 'last-event-id': seen.at(-1)?.id ?? '' };
    const back = await fetch(`${chat.url}/stream?id=chat`, { headers });
    const whole = await fetch(`${chat.url}/stream?id=chat`);
    chat.held.open();
    const rest = await eventsIn(await readAll(back));

    expect(rest[0]?.event).toBe('tool-end');
    expect(textOf([...seen, ...rest])).toBe(textOf(await eventsIn(await readAll(whole))));
    expect((await fetch(`${chat.url}/stream?id=chat`, { headers })).status).toBe(204);
  });

  test.each(['ai-sdk', 'ai-sdk-6'] as const)(
    'goes on after nginx was killed and started again, in the chat of `useChat`: %s',
    async (protocol) => {
      await using chat = await startProxiedChat({ handler: { protocol, keepAliveMs: 20 } });
      const handler = remoteHandler(chat.nginx);
      const page = new ChatClient(handler);
      const sending = page.sendMessage({ text: 'Go.' });
      await until(() => chat.held.arrived === 1 && page.messages.map(shownText)[1] === 'Wait. ');
      await chat.nginx.kill();
      await sending;
      expect(page.errors.map(({ message }) => message)).toEqual(['terminated']);
      await chat.nginx.start();

      const reloaded = new ChatClient(handler);
      reloaded.messages = (await loadHistory(handler)).messages;
      expect(reloaded.messages.map(shownText)).toEqual(['Go.']);
      const resuming = [page, reloaded].map((each) => each.resumeStream());
      await until(() => handler.statuses.length === 4);
      chat.held.open();
      await Promise.all(resuming);

      for (const { messages } of [page, reloaded]) expect(messages.map(shownText)).toEqual(['Go.', 'Wait. Done.']);
      expect([page.errors.length, reloaded.errors.length]).toEqual([1, 0]);
    },
  );

  test('is stopped by a page that leaves, with `abort`', async () => {
    await using chat = await startProxiedChat({ handler: { protocol: 'sse', onDisconnect: 'abort' } });
    const leaving = new AbortController();
    await sendGo(chat, 'sse', { signal: leaving.signal });
    await until(() => chat.held.arrived === 1);
    leaving.abort();
    await until(() => chat.agents[0]?.status().runs === 0);
  });

  test('comes event by event over HTTP/2, and a page that leaves stops it', async () => {
    const handler = { protocol: 'sse', keepAliveMs: NEVER, onDisconnect: 'abort' } as const;
    await using chat = await startProxiedChat({ listen: 'http2', handler });
    const client = connect(chat.nginx.url);
    const headers = { 'content-type': 'application/json', origin: chat.nginx.url };
    const stream = client.request({ ':method': 'POST', ':path': '/api/chat', ...headers });
    stream.end(JSON.stringify(goBodies.sse));
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('"tool-start"')) stream.close();
    });
    await once(stream, 'close');
    await until(() => chat.agents[0]?.status().runs === 0);
    client.destroy();
  });
});

const eventsIn = (text: string) => readSSE(new Response(text.replaceAll(': keep-alive\n\n', '')));

/** Returns the texts of deltas, which may be joined, and the types of the other events. */
function textOf(events: readonly ReadSSE[]): string {
  return events.map(({ data, event }) => (data as { readonly text?: string }).text ?? `<${event}>`).join('');
}

describeWithNginx('each line of the documented configuration has a reason', () => {
  test.each<[string, number, { readonly without?: RegExp; readonly padding?: number; readonly origin?: string }]>([
    ['of its own origin', 200, {}],
    ['of its own origin, without `Host`', 403, { without: /proxy_set_header Host.*/ }],
    ['of a listed origin, without `Host`', 200, { without: /proxy_set_header Host.*/, origin: LISTED }],
    ['with a chat of 2 MB', 200, { padding: 2_000_000 }],
    ['with a chat of 2 MB, without `client_max_body_size`', 413, { padding: 2_000_000, without: /client_max.*/ }],
  ])('a page %s gets status code %i', async (_title, status, { without, padding = 0, origin }) => {
    const site = documented.replace(without ?? '', '');
    await using chat = await startProxiedChat({ site, handler: { origins: [LISTED] } });
    const { messages, ...body } = goBodies['ai-sdk'];
    const old = { id: 'old', role: 'assistant', parts: [{ type: 'text', text: 'x'.repeat(padding) }] };
    const headers = { origin: origin ?? chat.nginx.url };
    const response = await postTo(chat.url, { ...body, messages: [old, ...messages] }, { headers });
    expect(response.status).toBe(status);
  });

  test.each([
    ['is cut for the page', documented, false],
    ['seems complete to the page with HTTP/1.0', documented.replace(/proxy_http_version.*/, ''), true],
  ])('the answer of a process that dies %s', async (_title, site, seemsComplete) => {
    await using chat = await startProxiedChat({ site, handler: { protocol: 'sse' } });
    const reading = readAll(await sendGo(chat, 'sse')).then(
      () => true,
      () => false,
    );
    await until(() => chat.held.arrived === 1);
    chat.servers[0]?.server.closeAllConnections();
    expect(await reading).toBe(seemsComplete);
  });

  test('without `proxy_pass_header`, a second nginx holds the events back until the end', async () => {
    const site = documented.replace(/proxy_pass_header.*/, '');
    await using chat = await startProxiedChat({ site, handler: { protocol: 'sse', keepAliveMs: 20 } });
    await using outer = await startNginx({ site: defaults, servers: [new URL(chat.nginx.url).host] });
    let isHeld = true;
    const answer = sendGo({ url: `${outer.url}/api/chat` }, 'sse').then((response) => {
      isHeld = false;
      return readAll(response);
    });
    await until(() => chat.held.arrived === 1);
    const inner = await fetch(`${chat.url}/stream?id=chat`);
    await readAll(inner, (text) => {
      if (isHeld && text.split(': keep-alive').length > 3) chat.held.open();
    });
    expect(await answer).toMatch(endings.sse);
  });
});

describeWithNginx('several web servers behind nginx', () => {
  test('answer for each other: the page comes back, loads the history and stops the run through any of them', async () => {
    await using chat = await startProxiedChat({ count: 2, handler: { protocol: 'sse', keepAliveMs: 20 } });
    const answer = readAll(await sendGo(chat, 'sse'));
    await until(() => chat.held.arrived === 1);

    const followed = await Promise.all([1, 2].map(() => fetch(`${chat.url}/stream?id=chat`)));
    const ends = followed.map((response) => readAll(response));
    const histories = await Promise.all([1, 2].map(() => loadHistory(remoteHandler(chat.nginx))));
    expect(histories.map(({ running }) => running)).toEqual([true, true]);
    const stopped = await postTo(`${chat.url}/stop`, { id: 'chat' });

    expect(await stopped.json()).toEqual({ stopped: true });
    for (const text of await Promise.all([answer, ...ends])) expect(text).toMatch(endings.sse);
    for (const seen of chat.requests) expect(seen).toContain('GET /api/chat/stream');
  });

  test('a server that takes no connections any more gets no messages, and ends its answers', async () => {
    await using chat = await startProxiedChat({ count: 2, handler: { protocol: 'sse', keepAliveMs: 20 } });
    const answer = readAll(await sendGo(chat, 'sse'));
    await until(() => chat.held.arrived === 1);
    const leaving = chat.requests.findIndex((seen) => seen.length > 0);
    chat.servers[leaving]?.server.close();

    const statuses = await Promise.all(
      [1, 2, 3, 4].map(async (chatId) => (await fetch(`${chat.url}/history?id=${chatId}`)).status),
    );
    expect(statuses).toEqual([200, 200, 200, 200]);
    expect(chat.requests[leaving]).toHaveLength(1);
    chat.held.open();
    expect(await answer).toMatch(endings.sse);
  });
});
