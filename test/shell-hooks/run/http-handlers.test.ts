import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { calls, says } from 'keelson/testing';
import type { ApprovalRequest } from 'keelson/trust';
import { expect, onTestFinished, test, vi } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { claudeHooks } from '../../support/shell-hooks/claude-file.js';
import { agentWith, countingTool, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

interface Seen {
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

/** Starts a server that records its requests. Returns its URL. */
async function guardServer(answer: (response: ServerResponse) => void) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    seen.push({ headers: request.headers, body: JSON.parse(text) });
    answer(response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/guard`, seen };
}

/** Runs one call of Bash under an HTTP handler. */
async function guarded(handler: object, options: object = {}) {
  const hooks = claudeHooks(
    lab,
    { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'http', timeout: 20, ...handler }] }] },
    options,
  );
  const { tool, inputs } = countingTool('run_command');
  const { agent } = agentWith(lab, hooks, {
    script: [calls('run_command', { command: 'ls' }), says('ok')],
    tools: [tool],
  });
  const { messages } = await agent.run('go');
  const { diagnostics } = hooks.status();
  const [codes, problems] = [diagnostics.map(({ code }) => code), diagnostics.map(({ message }) => message).join()];
  return { ran: inputs.length, text: JSON.stringify(messages), codes, problems };
}

const json = (value: object) => (response: ServerResponse) => void response.end(JSON.stringify(value));
const denial = { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'not here' } };

test('an HTTP handler gets the event, and its answer refuses the call', async () => {
  vi.stubEnv('GUARD_TOKEN', 'listed').stubEnv('OTHER_TOKEN', 'unlisted');
  const { url, seen } = await guardServer(json(denial));
  const headers = { 'X-Token': 'Bearer $GUARD_TOKEN', 'X-Other': `a\${OTHER_TOKEN}b`, 'X-Number': 1 };
  const { ran, text } = await guarded({ url, headers, allowedEnvVars: ['GUARD_TOKEN'] });

  expect([ran, text.includes('not here')]).toEqual([0, true]);
  expect(seen).toMatchObject([
    {
      headers: { 'content-type': 'application/json', 'x-token': 'Bearer listed', 'x-other': 'ab', 'x-number': '1' },
      body: { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } },
    },
  ]);
});

test('the approval shows the URL, the headers before expansion and the variables, and is bound to them', async () => {
  vi.stubEnv('GUARD_TOKEN', 'secret');
  const { url } = await guardServer(json({}));
  const asked: ApprovalRequest[] = [];
  const approve = (request: ApprovalRequest) => asked.push(request) > 0;
  const handler = { url, headers: { Authorization: 'Bearer $GUARD_TOKEN' }, allowedEnvVars: ['GUARD_TOKEN'] };
  const changed = [
    handler,
    { ...handler, url: `${url}2` },
    { ...handler, allowedEnvVars: [] },
    { ...handler, headers: {} },
  ];
  for (const one of [handler, ...changed]) await guarded(one, { approve });

  expect(asked[0]?.item).toMatchObject({
    reads: ['GUARD_TOKEN'],
    details: { url, headers: { Authorization: 'Bearer $GUARD_TOKEN' } },
  });
  expect(JSON.stringify(asked)).not.toContain('secret');
  expect(new Set(asked.map(({ digest }) => digest)).size).toBe(4);
  expect(asked).toHaveLength(4);
});

test('no request is sent before the approval', async () => {
  const { url, seen } = await guardServer(json(denial));

  expect(await guarded({ url }, { approve: () => false })).toMatchObject({ ran: 1 });
  expect(seen).toEqual([]);
});

test.each([
  ['a redirect', (response: ServerResponse) => void response.writeHead(302, { location: '/elsewhere' }).end()],
  ['an error', (response: ServerResponse) => void response.writeHead(500).end()],
  ['text', (response: ServerResponse) => void response.end('fine')],
])('%s is a failure, which refuses with `onFailure`', async (_what, answer) => {
  const { url, seen } = await guardServer(answer);

  expect(await guarded({ url })).toMatchObject({ ran: 1, codes: ['gate-broken'] });
  expect(await guarded({ url, onFailure: 'block' })).toMatchObject({ ran: 0 });
  expect(seen).toHaveLength(2);
});

test.each([
  ['another status', (response: ServerResponse) => void response.writeHead(403).end(JSON.stringify(denial))],
  ['a redirect', (response: ServerResponse) => void response.writeHead(302).end(JSON.stringify(denial))],
  [
    'a lost connection',
    (response: ServerResponse) => void response.write(JSON.stringify(denial), () => response.destroy()),
  ],
])('a refusal counts with %s', async (_what, answer) => {
  const { url } = await guardServer(answer);
  const { ran, text } = await guarded({ url });

  expect([ran, text.includes('not here')]).toEqual([0, true]);
});

test('a refusal counts if the answer does not end', async () => {
  const clock = fakeClock();
  const chunks = [new TextEncoder().encode(JSON.stringify(denial))];
  // The second chunk is requested after the first one was read.
  const pull = (controller: ReadableStreamDefaultController) => {
    const chunk = chunks.shift();
    if (chunk === undefined) clock.advance(2_000);
    else controller.enqueue(chunk);
  };
  const send = async () => new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
  const { ran } = await guarded(
    { url: 'http://guard.example/', timeout: 2 },
    { machine: { clock, fetch: send, logger: lab.logger } },
  );

  expect(ran).toBe(0);
});

test('a failed connection is reported with its cause', async () => {
  const { url } = await guardServer((response) => void response.socket?.destroy());

  expect((await guarded({ url })).problems).toMatch(/fetch failed: \w/);
});

test('a variable with a line break is reported without its value', async () => {
  vi.stubEnv('GUARD_TOKEN', 'abc\ndef');
  const { url, seen } = await guardServer(json(denial));
  const { problems } = await guarded({ url, headers: { 'X-Token': '$GUARD_TOKEN' }, allowedEnvVars: ['GUARD_TOKEN'] });

  expect(problems).toContain('The value of a variable in the header "X-Token" contains a line break');
  expect([problems.includes('abc'), seen]).toEqual([false, []]);
});

test('an empty answer passes, and one that is too long to read refuses, with any status', async () => {
  const empty = await guardServer((response) => void response.end());
  const long = await guardServer((response) => void response.end('x'.repeat(1_100_000)));

  expect(await guarded({ url: empty.url })).toMatchObject({ ran: 1, codes: [] });
  const failed = await guardServer((response) => void response.writeHead(500).end('x'.repeat(1_100_000)));

  expect(await guarded({ url: long.url })).toMatchObject({ ran: 0 });
  expect(await guarded({ url: failed.url })).toMatchObject({ ran: 0 });
});

test('a server that does not answer fails at the time limit', async () => {
  const clock = fakeClock();
  const { url } = await guardServer(() => clock.advance(2_000));

  expect(
    await guarded({ url, timeout: 2, onFailure: 'block' }, { machine: { clock, logger: lab.logger } }),
  ).toMatchObject({
    ran: 0,
    text: expect.stringContaining('time limit'),
  });
});

test.each([
  ['ftp://example.com/', {}],
  ['http://me:hidden@example.com/', {}],
  ['guard', {}],
  ['https://example.com/', { headers: { 'A\nB': 'x' } }],
  ['https://example.com/', { allowedEnvVars: 'TOKEN' }],
])('refuses a handler with %s and %j', async (url, more) => {
  const { ran, codes, problems } = await guarded({ url, ...more });

  expect([ran, codes]).toEqual([1, ['hook-unsupported']]);
  expect(problems).not.toContain('hidden');
});
