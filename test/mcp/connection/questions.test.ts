import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { until } from '../../support/agent/settle.js';
import { call, connected, raw, readLog, temporaryFolder } from '../../support/mcp/lab.js';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });

describe('a request from a server to the host', () => {
  const asking = { tools: [tool('ask')] };
  const form = {
    message: 'Your\u001b[31m name?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string', default: 'Ann' } } },
  };

  test('answers a question of a server by `elicit` with defaults filled in, while time limits are paused', async () => {
    const seen: unknown[] = [];
    const clock = fakeClock();
    const { mcp } = await connected({
      servers: { raw: raw(asking) },
      timeouts: { callMs: 200 },
      elicit: ({ signal, ...request }) => {
        seen.push(request);
        clock.advance(600);
        return { action: 'accept', content: {} };
      },
      system: { clock },
    });

    const result = await call(mcp, 'ask', { method: 'elicitation/create', params: form });

    expect(result).toMatchObject({ content: '{"action":"accept","content":{"name":"Ann"}}' });
    expect(seen).toEqual([{ server: 'raw', message: 'Your name?', schema: form.requestedSchema }]);
  });

  test('answers a question of a server with `cancel` if `elicit` throws', async () => {
    const elicit = () => {
      throw new RangeError('no terminal');
    };
    const { mcp, logger } = await connected({ servers: { raw: raw(asking) }, elicit });

    expect(await call(mcp, 'ask', { method: 'elicitation/create', params: form })).toMatchObject({
      content: '{"action":"cancel"}',
    });
    expect(logger.lines.filter((line) => line.includes('no terminal'))).toHaveLength(1);
  });

  test('asks up to ten questions at the same time, and again after an answer', async () => {
    const log = join(temporaryFolder(), 'log');
    const answers: (() => void)[] = [];
    const { mcp } = await connected({
      servers: { raw: raw({ log, tools: [tool('line'), tool('ask')] }) },
      elicit: () => new Promise((resolve) => answers.push(() => resolve({ action: 'decline' }))),
    });
    const question = (at: number) =>
      `${JSON.stringify({ jsonrpc: '2.0', id: `q${at}`, method: 'elicitation/create', params: form })}\n`;
    const line = `${Array.from({ length: 12 }, (_, at) => question(at)).join('')}{"jsonrpc":"2.0","id":ID,"result":{}}`;
    await call(mcp, 'line', { line });
    const ask = () => call(mcp, 'ask', { method: 'elicitation/create', params: form });

    expect(answers).toHaveLength(10);
    expect(await ask()).toMatchObject({ content: '{"action":"cancel"}' });

    for (const answer of answers) answer();
    // Two more questions and the question of `ask` were refused before.
    await until(() => readLog(log).filter(({ received }) => received?.result).length === 13);
    const last = ask();
    await until(() => answers.length === 11);
    answers[10]?.();
    expect(await last).toMatchObject({ content: '{"action":"decline"}' });
  });

  test('does not extend the time limit of the next call after a withdrawn question', async () => {
    const log = join(temporaryFolder(), 'log');
    const clock = fakeClock();
    const { mcp, logger } = await connected({
      servers: { raw: raw({ log, tools: [tool('ask_in_vain'), tool('hang')] }) },
      timeouts: { callMs: 300 },
      elicit: () => new Promise(() => {}),
      system: { clock },
    });

    expect(await call(mcp, 'ask_in_vain')).toMatchObject({ content: 'never mind' });
    const hanging = call(mcp, 'hang');
    await until(() => readFileSync(log, 'utf8').includes('"hang"'));
    clock.advance(300);

    expect(await hanging).toMatchObject({ content: expect.stringContaining('took longer than 300 ms') });
    expect(logger.lines.filter((line) => line.includes('was not answered'))).toEqual([]);
  });

  test('answers a request of a server with an error if the host does not support it', async () => {
    const { mcp } = await connected({ servers: { raw: raw(asking) } });

    for (const method of ['elicitation/create', 'roots/list', 'sampling/createMessage']) {
      expect(await call(mcp, 'ask', { method, params: form })).toMatchObject({
        content: expect.stringContaining('-32601'),
      });
    }
  });

  test('returns the current roots to a server, and notifies it of changed roots', async () => {
    const log = join(temporaryFolder(), 'log');
    let roots = [{ uri: 'file:///a', name: 'A' }];
    const { mcp } = await connected({ servers: { raw: raw({ ...asking, log }) }, roots: () => roots });
    expect(await call(mcp, 'ask', { method: 'roots/list' })).toMatchObject({
      content: '{"roots":[{"uri":"file:///a","name":"A"}]}',
    });

    roots = [];
    mcp.announceRoots();

    await until(() => readFileSync(log, 'utf8').includes('notifications/roots/list_changed'));
    expect(await call(mcp, 'ask', { method: 'roots/list' })).toMatchObject({ content: '{"roots":[]}' });
  });

  test('answers a question of a server with `cancel` if `elicit` returns no answer', async () => {
    const { mcp, logger } = await connected({ servers: { raw: raw(asking) }, elicit: () => undefined as never });

    expect(await call(mcp, 'ask', { method: 'elicitation/create', params: form })).toMatchObject({
      content: '{"action":"cancel"}',
    });
    expect(
      logger.lines.filter((line) => line.includes('must return the action "accept", "decline" or "cancel"')),
    ).toHaveLength(1);
  });

  test.each(['javascript:alert(1)', 'file:///etc/passwd', 'vscode://x', 'https://a:b@example.com/'])(
    'does not let a server send the user to %s',
    async (url) => {
      const seen: unknown[] = [];
      const elicit = (request: object) => {
        seen.push(request);
        return { action: 'accept' as const };
      };
      const { mcp } = await connected({ servers: { raw: raw(asking) }, elicit });
      const params = { mode: 'url', message: 'Log in', elicitationId: '1' };

      expect(await call(mcp, 'ask', { method: 'elicitation/create', params: { ...params, url } })).toMatchObject({
        content: '{"action":"decline"}',
      });
      expect(seen).toEqual([]);
      await call(mcp, 'ask', { method: 'elicitation/create', params: { ...params, url: 'https://example.com/' } });
      expect(seen).toMatchObject([{ server: 'raw', message: 'Log in', url: 'https://example.com/' }]);
    },
  );

  test('does not show the error of the host to a server that asks for roots', async () => {
    const roots = () => {
      throw new RangeError('ENOENT /home/me/secret');
    };
    const { mcp, logger } = await connected({ servers: { raw: raw(asking) }, roots });

    const { content } = await call(mcp, 'ask', { method: 'roots/list' });

    expect(content).toContain('the host could not provide its roots');
    expect(content).not.toContain('secret');
    expect(logger.lines.filter((line) => line.includes('ENOENT'))).toHaveLength(1);
  });
});
