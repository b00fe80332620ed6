import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pageOf } from '../../../src/cli/page/page.js';
import { serveFolder } from '../../../src/cli/page/serve-folder.js';

const LINE = '{"type":"trace","version":1,"at":0,"runId":"r"}\n';
const HOSTILE =
  '{"type":"run-start","at":0,"runId":"r","agent":"a","input":"</script><script>alert(1)</script>\u2028\u2029"}\n';

describe('the page of a trace', () => {
  test('has its data as JSON that cannot end its element', async () => {
    const { html } = await pageOf(LINE + HOSTILE);

    const [, data = ''] = /<script type="application\/json" id="trace">([^<]*)<\/script>/.exec(html) ?? [];
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(data).not.toMatch(/[<\u2028\u2029]/);
    expect(
      data
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))[1],
    ).toEqual(JSON.parse(HOSTILE));
  });

  test('allows its own program and style alone, and no request', async () => {
    const { html } = await pageOf(LINE);

    const hashOf = (text = '') => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    const script = hashOf(/<script>([\s\S]*)<\/script>/.exec(html)?.[1]);
    const style = hashOf(/<style>([\s\S]*)<\/style>/.exec(html)?.[1]);
    expect(/Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1]).toBe(
      `default-src 'none'; script-src ${script}; style-src ${style}; base-uri 'none'; form-action 'none'`,
    );
    expect((await pageOf()).policy).toContain("connect-src 'self'");
  });
});

/** Serves a folder with one trace, a link to another file, and another file. */
async function serving() {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-page-'));
  writeFileSync(join(folder, 'one.trace.jsonl'), LINE);
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  symlinkSync(join(folder, 'secret.txt'), join(folder, 'two.trace.jsonl'));
  const server = await serveFolder(folder);
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  const { origin, pathname: root } = new URL(server.url);
  const entered = await fetch(server.url, { redirect: 'manual' });
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  const get = (path: string, headers: Record<string, string> = { cookie }) => fetch(origin + root + path, { headers });
  return { folder, server, root, entered, get };
}

describe('the live page', () => {
  test('trades the token of its address for a cookie that no script and no other site can use', async () => {
    const { root, entered, get } = await serving();

    expect(root).toMatch(/^\/[\w-]{16}\/$/);
    expect(entered.status).toBe(303);
    expect(entered.headers.get('location')).toBe(root);
    const [value, ...attributes] = entered.headers.get('set-cookie')?.split('; ') ?? [];
    expect(value).toMatch(/^keelson-trace=[\w-]{32}$/);
    expect(attributes).toEqual(['HttpOnly', 'SameSite=Strict', `Path=${root}`]);
    const page = await get('');
    expect(page.status).toBe(200);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
  });

  test.each(['', 'traces', 'traces/x', '?token=wrong'])('shows nothing of "%s" without the cookie', async (path) => {
    const { get } = await serving();

    expect((await get(path, {})).status).toBe(403);
    expect((await get(path, { cookie: 'keelson-trace=wrong' })).status).toBe(403);
  });

  test('shows nothing outside of its own path', async () => {
    const { server, entered } = await serving();
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
    const { origin, search } = new URL(server.url);

    for (const path of ['/', '/traces', `/${search}`]) {
      expect((await fetch(origin + path, { headers: { cookie } })).status).toBe(403);
    }
  });

  test('refuses another host, and other methods', async () => {
    const { server, get } = await serving();
    const { port, pathname, search } = new URL(server.url);
    const { request } = await import('node:http');

    const status = await new Promise((resolve) => {
      const headers = { host: `evil.example:${port}` };
      request({ port, host: '127.0.0.1', path: pathname + search, headers }, (response) =>
        resolve(response.statusCode),
      ).end();
    });

    expect(status).toBe(403);
    expect((await fetch(server.url, { method: 'POST' })).status).toBe(403);
    expect((await get('')).status).toBe(200);
  });

  test('gives traces by their ids, follows no link, and knows no paths', async () => {
    const { folder, get } = await serving();

    const listed = (await (await get('traces')).json()) as { id: string; name: string; size: number }[];

    expect(listed).toEqual([{ id: expect.stringMatching(/^[\da-f-]{36}$/), name: 'one', size: LINE.length }]);
    expect(await (await get(`traces/${listed[0]?.id}`)).text()).toBe(LINE);
    for (const path of ['one.trace.jsonl', '..%2fsecret.txt', 'secret.txt', 'two.trace.jsonl']) {
      expect((await get(`traces/${path}`)).status).toBe(404);
    }
    rmSync(join(folder, 'one.trace.jsonl'));
    symlinkSync(join(folder, 'secret.txt'), join(folder, 'one.trace.jsonl'));
    expect((await get(`traces/${listed[0]?.id}`)).status).toBe(500);
  });
});
