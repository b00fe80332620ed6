import { Agent, defineTool, HookAction } from 'keelson';
import { approval, openRun, sealRun } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';

const key = 'a secret of at least thirty-two bytes';
const options = { agent: 'cashier', expiresInMs: 60_000 };

function cashier(lifecycle: ConstructorParameters<typeof Agent>[0]['lifecycle'] = [approval({ tools: ['pay'] })]) {
  const paid: unknown[] = [];
  const pay = (name: string) =>
    defineTool({ name, description: 'Pays.', input: { type: 'object' }, execute: (input) => `${paid.push(input)}` });
  const model = scriptedModel([calls({ name: 'pay', input: { amount: 40 } }), 'done', 'done']);
  const agent = new Agent({ model, name: 'cashier', tools: [pay('pay'), pay('give')], lifecycle });
  return { agent, paid };
}

async function suspended() {
  const { agent, paid } = cashier();
  const result = await agent.run('pay');
  if (result.status !== 'suspended') throw new TypeError('the run must be suspended');
  return { agent, paid, result, text: await sealRun(result, key, options) };
}

const approve = (pending: readonly { readonly id: string }[]) =>
  Object.fromEntries(pending.map(({ id }) => [id, 'approve']));
const at = (ms: number) => ({ now: () => ms, setTimeout: () => 0, clearTimeout: () => {} });

test('a sealed run is restored and resumes with the arguments that were sealed', async () => {
  const { agent, paid, result, text } = await suspended();
  const run = await openRun(text, key, { agent: 'cashier' });

  expect(run).toMatchObject({ agent: 'cashier', messages: result.history, pending: result.pending });
  await agent.run('', { messages: run.messages, resume: approve(run.pending) });
  expect(paid).toEqual([{ amount: 40 }]);
});

test('refuses a text with other arguments, another name or another call', async () => {
  const { text } = await suspended();
  const [name, version, payload = '', signature] = text.split('.');
  const document = atob(payload.replaceAll('-', '+').replaceAll('_', '/'));
  const changes: readonly [string, string][] = [
    ['40', '4000'],
    ['pay', 'give'],
    ['"pending":[', '"pending":[{"type":"tool-call","id":"x","name":"pay","input":{}},'],
    ['cashier', 'other'],
  ];
  for (const [from, to] of changes) {
    const changed = btoa(document.replaceAll(from, to)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
    expect(changed).not.toBe(payload);
    await expect(openRun([name, version, changed, signature].join('.'), key)).rejects.toMatchObject({
      code: 'ERR_SEAL_INVALID',
      problem: 'forged',
    });
  }
});

test('refuses each changed character of the signature, another key and another version', async () => {
  const { text } = await suspended();
  const last = text.at(-1) as string;
  for (const other of 'AQgw_-'.replace(last, '')) {
    await expect(openRun(text.slice(0, -1) + other, key)).rejects.toMatchObject({ problem: 'forged' });
  }
  await expect(openRun(text, `${key}!`)).rejects.toMatchObject({ problem: 'forged' });
  await expect(openRun(text.replace('run.1', 'run.2'), key)).rejects.toMatchObject({ problem: 'version' });
  for (const bad of ['', 'x', '{}', `${text}.x`, null as never, 5 as never]) {
    await expect(openRun(bad, key)).rejects.toMatchObject({ problem: 'malformed' });
  }
});

test('refuses an expired text, a text of another agent and an id that was used', async () => {
  const { result } = await suspended();
  const text = await sealRun(result, key, { ...options, clock: at(1_000) });

  await expect(openRun(text, key, { clock: at(60_999) })).resolves.toMatchObject({ expiresAt: 61_000 });
  await expect(openRun(text, key, { clock: at(61_000) })).rejects.toMatchObject({ problem: 'expired' });
  await expect(openRun(text, key, { clock: at(Number.NaN) })).rejects.toMatchObject({ problem: 'expired' });
  await expect(openRun(text, key, { agent: 'clerk', clock: at(1_000) })).rejects.toMatchObject({ problem: 'agent' });
  const used = new Set<string>();
  const useOnce = (id: string) => used.size < used.add(id).size;
  const once = { useOnce, clock: at(1_000) };
  await expect(openRun(text, key, once)).resolves.toBeDefined();
  await expect(openRun(text, key, once)).rejects.toMatchObject({ problem: 'used' });
});

test('keeps bytes in messages, and accepts bytes and a WebCrypto key as the key', async () => {
  const { result } = await suspended();
  const image = { type: 'image' as const, image: new Uint8Array([1, 2, 255]), mediaType: 'image/png' };
  const history = [{ role: 'user' as const, content: [image] }, ...result.history];
  const webKey = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
  for (const secret of [crypto.getRandomValues(new Uint8Array(32)), webKey]) {
    const text = await sealRun({ ...result, history }, secret, options);
    expect((await openRun(text, secret)).messages).toEqual(history);
  }
});

test('refuses a short key, a run that is not suspended and a missing agent name', async () => {
  const { result } = await suspended();
  const completed = { ...result, status: 'completed' };

  await expect(sealRun(result, 'short', options)).rejects.toThrow('at least 32 bytes, got 5 bytes');
  for (const length of [8, 31 * 8]) {
    const short = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256', length }, false, ['sign', 'verify']);
    await expect(sealRun(result, short, options)).rejects.toThrow('an HMAC key with SHA-256 and at least 32 bytes');
  }
  await expect(sealRun(completed, key, options)).rejects.toThrow('must be a suspended run, got the status "completed"');
  await expect(sealRun(result, key, { expiresInMs: 1 } as never)).rejects.toThrow('agent');
  await expect(sealRun(result, key, { ...options, expiresInMs: 0 })).rejects.toThrow('expiresInMs');
});

test.each([
  ['a copy with other arguments', (call: never) => ({ ...(call as object), input: { amount: 4_000 } })],
  ['another name', (call: never) => ({ ...(call as object), name: 'give' })],
  [
    'arguments changed in place',
    (call: { input: { amount: number } }) => {
      call.input.amount = 4_000;
      return call;
    },
  ],
] as const)('an approval falls away if an outer hook passes on %s', async (_title, change) => {
  const seen: unknown[] = [];
  const { agent, paid } = cashier([
    { wrapToolCall: (call, next) => next(call.approved ? (change(call as never) as never) : call) },
    {
      priority: 10,
      wrapToolCall(call, next) {
        seen.push(call.approved);
        return call.approved ? next() : HookAction.suspend('ask');
      },
    },
  ]);
  const first = await agent.run('pay');
  const resume = approve(first.pending);
  const second = await agent.run('', { messages: first.history, resume });

  expect(second.status).toBe('suspended');
  expect(seen.map(Boolean)).toEqual([false, false]);
  expect(paid).toEqual([]);
});

test('an approval stays if an outer hook passes on an equal copy', async () => {
  const { agent, paid } = cashier([
    { wrapToolCall: (call, next) => next({ ...call, input: { ...(call.input as object) } }) },
    approval({ tools: ['pay'] }),
  ]);
  const first = await agent.run('pay');
  await agent.run('', { messages: first.history, resume: approve(first.pending) });

  expect(paid).toEqual([{ amount: 40 }]);
});
