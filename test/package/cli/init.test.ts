import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createPackedProject } from '../../../scripts/packed-project.mjs';

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url));
let project = '';

beforeAll(() => {
  project = createPackedProject(inject('tarball'));
  // Part of each template. The project itself has `keelson` and `zod`.
  for (const name of ['tsx', 'esbuild', '@esbuild', 'get-tsconfig']) link(name);
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

function link(name: string): void {
  const path = join(project, 'node_modules', name);
  if (existsSync(join(modules, name)) && !existsSync(path)) symlinkSync(join(modules, name), path);
}

function init(...args: string[]) {
  const program = join(project, 'node_modules/keelson/dist/cli.js');
  const { status, stdout, stderr } = spawnSync(program, ['init', ...args], { cwd: project, encoding: 'utf8' });
  return { status, stdout, stderr };
}

function npm(folder: string, script: string, env: NodeJS.ProcessEnv = {}) {
  const options = { cwd: join(project, folder), encoding: 'utf8', env: { ...process.env, ...env } } as const;
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', script], options);
  return { status, stdout, stderr };
}

function started(folder: string) {
  const next = `Started a project. Next:\n\n  cd ${folder}\n  npm install\n  npm start\n\nREADME.md says more.\n`;
  return { status: 0, stdout: next, stderr: '' };
}

test('`keelson init` starts a lifecycle that runs and passes its tests', () => {
  expect(init('lifecycle', 'rule')).toEqual(started('rule'));
  expect(npm('rule', 'start')).toEqual({ status: 0, stdout: 'The password of the harbour is ***.\n', stderr: '' });
  expect(npm('rule', 'test')).toMatchObject({ status: 0 });
});

test('`keelson init` starts a chat in the terminal that passes its tests', () => {
  expect(init('terminal', 'nested/chat')).toEqual(started('nested/chat'));
  expect(npm('nested/chat', 'test')).toMatchObject({ status: 0 });
});

test('`keelson init` starts a web chat with its own name, the version of Keelson, and links to its pages', () => {
  const template = join(project, 'node_modules/keelson/examples/web');
  // Somebody may have used the template in its place.
  for (const name of ['dist', 'node_modules', 'sessions', 'trace-page']) mkdirSync(join(template, name));
  expect(init('web-chat', 'Desk')).toEqual(started('Desk'));
  const { version } = JSON.parse(readFileSync(join(project, 'node_modules/keelson/package.json'), 'utf8'));
  const manifest = JSON.parse(readFileSync(join(project, 'Desk/package.json'), 'utf8'));
  const readme = readFileSync(join(project, 'Desk/README.md'), 'utf8');
  const linked = [...readme.matchAll(/\]\(([^)#]+)/g)].map(([, path = '']) => path);

  const leftOut = ['dist', 'node_modules', 'package-lock.json', 'screenshots', 'sessions', 'trace-page'];
  const all = readdirSync(template);
  expect(all).toEqual(expect.arrayContaining(leftOut));
  const copied = ['.gitignore', ...all.filter((name) => !leftOut.includes(name))];
  expect(readdirSync(join(project, 'Desk')).sort()).toEqual(copied.sort());
  expect(readFileSync(join(project, 'Desk/.gitignore'), 'utf8')).toBe('node_modules\ndist\nsessions\nscreenshots\n');
  expect(manifest).toMatchObject({ name: 'desk', private: true, dependencies: { keelson: `^${version}` } });
  expect(linked.length).toBeGreaterThan(1);
  expect(linked.filter((path) => !existsSync(join(project, path)))).toEqual([]);
});

test('the server of a web chat answers this machine, and refuses to listen on another address', async () => {
  init('web-chat', 'page');
  mkdirSync(join(project, 'page/dist'));
  writeFileSync(join(project, 'page/dist/index.html'), '<title>Harbour desk</title>');
  const refused = serve({ HOST: '0.0.0.0' });
  const [code] = await once(refused, 'exit');
  const server = serve({ PORT: '0' });
  try {
    const [line] = await once(server.stdout as NonNullable<ChildProcess['stdout']>, 'data');
    const url = String(line).trim();
    const answers = await Promise.all([fetch(url), fetch(`${url}/api/chats/`)]);

    expect(code).toBe(1);
    expect(new URL(url).hostname).toBe('127.0.0.1');
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await answers[1]?.json()).toEqual([]);
  } finally {
    server.kill();
  }
});

function serve(env: NodeJS.ProcessEnv): ChildProcess {
  const options = { cwd: join(project, 'page'), env: { ...process.env, OPENAI_API_KEY: '', ...env } };
  return spawn(process.execPath, ['--import', 'tsx', 'server.ts'], options);
}

test('`keelson init` writes into an empty folder only, inside of the current one', () => {
  mkdirSync(join(project, 'full'));
  writeFileSync(join(project, 'full/.keep'), '');
  const before = readdirSync(join(project, 'full'));

  for (const folder of ['full', '.']) {
    expect(init('terminal', folder)).toMatchObject({ status: 1, stderr: expect.stringContaining('is not empty') });
  }
  for (const path of ['full/.keep', 'full/.keep/new']) {
    expect(init('terminal', path)).toEqual({
      ...{ status: 1, stdout: '' },
      stderr: `The folder "${path}" is a file, or inside of one. Pass the name of a new folder.\n`,
    });
  }
  for (const folder of ['..', '../beside', '/tmp/beside', 'full/../../beside']) {
    expect(init('terminal', folder)).toMatchObject({
      ...{ status: 1, stderr: expect.stringContaining('is outside of the current directory') },
    });
  }
  expect(readdirSync(join(project, 'full'))).toEqual(before);
  expect(existsSync(join(project, '../beside'))).toBe(false);
});

test('`keelson init` knows its templates by name only', () => {
  for (const args of [[], ['web'], ['../web', 'x'], ['constructor', 'x'], ['terminal', 'x', 'y']]) {
    expect(init(...args)).toMatchObject({ status: 2, stderr: expect.stringMatching(/^Usage:/) });
  }
  expect(existsSync(join(project, 'x'))).toBe(false);
});
