import { spawnSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { trace } from 'keelson/trace';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createPackedProject } from '../../scripts/packed-project.mjs';

let project = '';
let folder = '';

beforeAll(async () => {
  project = createPackedProject(inject('tarball'));
  folder = mkdtempSync(join(tmpdir(), 'keelson-cli-'));
  const model = scriptedModel([() => Promise.reject(new Error('no route\u001b[2J'))]);
  await using agent = new Agent({ name: 'clerk', model, lifecycle: [trace({ to: join(folder, 'traces') })] });
  await agent.run('Hi.').catch(() => {});
});

afterAll(() => {
  for (const made of [project, folder]) rmSync(made, { recursive: true, force: true });
});

function keelson(...args: string[]) {
  const program = join(project, 'node_modules/keelson/dist/cli.js');
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: project, encoding: 'utf8' });
  return { status, stdout, stderr };
}

test('`keelson explain` says what caused the failure of the newest trace of a folder, and of a file', () => {
  const traces = join(folder, 'traces');
  const [file = ''] = readdirSync(traces);

  for (const path of [traces, join(traces, file)]) {
    expect(keelson('explain', path)).toMatchObject({
      ...{ status: 0, stderr: '' },
      stdout: expect.stringMatching(/^failure: Model "scripted" of agent "clerk" failed \(unknown\): no route\n/),
    });
  }
});

test('`keelson trace` makes one file of a trace, which only the user can read', () => {
  const [name = ''] = readdirSync(join(folder, 'traces'));
  const file = join(folder, 'traces', name);
  const page = file.replace('.trace.jsonl', '.html');
  const other = join(folder, 'other.txt');
  writeFileSync(other, 'kept');
  symlinkSync(other, page);

  expect(keelson('trace', file)).toEqual({ status: 0, stderr: '', stdout: `${page}\n` });
  expect([lstatSync(page).isFile(), statSync(page).mode & 0o777, readFileSync(other, 'utf8')]).toEqual([
    ...[true, 0o600, 'kept'],
  ]);
  expect(readFileSync(page, 'utf8')).toMatch(/^<!doctype html>[\s\S]*id="trace">[\s\S]*no route[\s\S]*<\/html>\n$/);
  expect(keelson('trace', join(folder, 'missing')).stderr).toContain('ENOENT');
});

test('`keelson` refuses what it cannot read, in one line', () => {
  const other = join(folder, 'other.json');
  mkdirSync(join(folder, 'empty'));
  writeFileSync(other, '{}');

  expect(keelson('explain', other)).toMatchObject({ status: 1, stderr: expect.stringMatching(/^Line 1 of the trace/) });
  expect(keelson('explain', join(folder, 'empty'))).toMatchObject({
    ...{ status: 1, stderr: expect.stringContaining('contains no trace') },
  });
  expect(keelson('explain', join(folder, 'missing'))).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('ENOENT'),
  });
  truncateSync(other, 128 * 1024 * 1024 + 1);
  expect(keelson('explain', other)).toMatchObject({ status: 1, stderr: expect.stringContaining('134217728 bytes') });
  expect(keelson()).toMatchObject({ status: 2, stderr: expect.stringMatching(/^Usage:\n\n {2}keelson explain/) });
  expect(keelson('--help')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^Usage:\n\n {2}keelson explain/),
  });
});
