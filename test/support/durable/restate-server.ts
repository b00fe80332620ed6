import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePort } from '../../../examples/host/free-port.js';
import { pause } from '../agent/settle.js';
import { linesOf } from './file-log.js';
import { keep, keepFixture, PIPED } from './keep-process.js';
import type { StoredStep } from './logged-step.js';

function findServer(): string | undefined {
  try {
    const platform = `${process.platform}-${process.arch}`;
    const found = createRequire(import.meta.url).resolve(`@restatedev/restate-server-${platform}/package.json`);
    const program = join(dirname(found), 'bin', 'restate-server');
    return existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
}

const program = findServer();

/** Like `describe`. Without a Restate server for this platform, the tests are skipped, or fail in CI. */
export function describeWithRestate(title: string, tests: () => void): void {
  if (program !== undefined) return void describe(title, tests);
  const reason = `@restatedev/restate-server has no program for ${process.platform}-${process.arch}`;
  if (process.env.CI === 'true') return void test(title, () => expect.fail(reason));
  console.log(`Skipped, since ${reason}: ${title}`);
  describe.runIf(false)(title, tests);
}

/** A Restate server and one service. Each starts again after it was killed, on the same port and with the same data. */
export interface RestateSetup {
  readonly ingress: string;
  /** The process id of the running server. */
  serverPid(): number;
  servicePid(): number;
  /** Calls the handler, again after a lost connection. A second call with the same id waits for the same invocation. */
  call(id: string, request: object, handler?: string): Promise<unknown>;
  /** Makes the services at an address known to the server. */
  register(uri: string): Promise<void>;
  /** Calls another handler, once. Returns the response. */
  send(handler: string, request: object): Promise<Response>;
  /** Reads the steps of a finished call from the journal of the server. */
  journal(id: string): Promise<readonly StoredStep[]>;
  /** Cancels all invocations of a handler, such as `errands/hang`. */
  cancel(target: string): Promise<void>;
  /** Sends decisions, as another process does, to the last id that a file names. Waits until the server accepts them. */
  decide(file: string, decisions: object): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server with its data in a directory, and the service of the fixture. */
export async function startRestate(folder: string): Promise<RestateSetup> {
  const [ingressPort, adminPort, nodePort, servicePort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const env = {
    ...process.env,
    RESTATE_INGRESS__BIND_PORT: `${ingressPort}`,
    RESTATE_ADMIN__BIND_PORT: `${adminPort}`,
    RESTATE_BIND_PORT: `${nodePort}`,
    RESTATE_LISTEN_MODE: 'tcp',
    // Short delays between attempts, since tests kill services on purpose.
    RESTATE_DEFAULT_RETRY_POLICY__INITIAL_INTERVAL: '50ms',
    RESTATE_DEFAULT_RETRY_POLICY__MAX_INTERVAL: '300ms',
  };
  const args = ['--node-name', 'n1', '--base-dir', join(folder, 'data'), '--no-logo'];
  const start = () => spawn(program as string, args, { env, ...PIPED });
  const server = keep(start, join(folder, 'server.log'));
  const service = await keepFixture('restate-service', [`${servicePort}`, folder], join(folder, 'service.log'));
  await service.ready;
  await register(`http://127.0.0.1:${adminPort}`, `http://127.0.0.1:${servicePort}`);
  const ingress = `http://127.0.0.1:${ingressPort}`;
  return {
    ingress,
    serverPid: server.pid,
    servicePid: service.pid,
    register: (uri) => register(`http://127.0.0.1:${adminPort}`, uri),
    call: (id, request, handler = 'run') => callUntilDone(`${ingress}/errands/${handler}`, id, request),
    send: (handler, request) =>
      fetch(`${ingress}/errands/${handler}`, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(request) }),
    journal: (id) => journalOf(`http://127.0.0.1:${adminPort}`, id),
    cancel: (target) => cancel(`http://127.0.0.1:${adminPort}`, target),
    decide: (file, decisions) => decide(ingress, file, decisions),
    async close() {
      await service.close();
      await server.close();
    },
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };

async function register(admin: string, uri: string): Promise<void> {
  const request = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ uri, force: true }) };
  for (let tries = 0; tries < 200; tries += 1) {
    const response = await fetch(`${admin}/deployments`, request).catch(() => undefined);
    if (response?.ok) return;
    await pause(50);
  }
  expect.fail('the Restate server did not accept the service within ten seconds');
}

async function cancel(admin: string, target: string): Promise<void> {
  const rows = await query<{ id: string }>(admin, `select id from sys_invocation where target = '${target}'`);
  for (const { id } of rows) await fetch(`${admin}/invocations/${id}/cancel`, { method: 'PATCH' });
}

async function query<Row>(admin: string, sql: string): Promise<readonly Row[]> {
  const headers = { ...JSON_TYPE, accept: 'application/json' };
  const request = { method: 'POST', headers, body: JSON.stringify({ query: sql }) };
  const answer = await fetch(`${admin}/query`, request);
  if (!answer.ok) expect.fail(`${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { rows: Row[] }).rows;
}

/** An entry of a journal, as far as it is about `ctx.run`. */
interface JournalEntry {
  readonly Command?: {
    readonly Run?: { readonly completion_id: number; readonly name: string };
    readonly Output?: object;
  };
  readonly Notification?: {
    readonly Completion?: {
      readonly Run?: { readonly completion_id: number; readonly result: { readonly Success?: readonly number[] } };
    };
  };
}

/** Reads the journal, again while the server restarts. */
async function journalOf(admin: string, id: string): Promise<readonly StoredStep[]> {
  const sql = `select j.entry_json from sys_journal j join sys_invocation i on j.id = i.id
    where i.idempotency_key = '${id}' order by j.index`;
  for (;;) {
    const rows = await query<{ entry_json: string }>(admin, sql).catch(() => []);
    const entries = rows.map(({ entry_json }): JournalEntry => JSON.parse(entry_json));
    if (entries.some(({ Command }) => Command?.Output !== undefined)) return storedSteps(entries);
    await pause(50);
  }
}

function storedSteps(entries: readonly JournalEntry[]): readonly StoredStep[] {
  const results = new Map(
    entries.flatMap(({ Notification }) => {
      const { completion_id: id, result } = Notification?.Completion?.Run ?? {};
      return result?.Success === undefined ? [] : [[id, JSON.parse(Buffer.from(result.Success).toString())]];
    }),
  );
  return entries.flatMap(({ Command: { Run } = {} }) =>
    Run === undefined || Run.name.startsWith('ask ') ? [] : [{ name: Run.name, value: results.get(Run.completion_id) }],
  );
}

async function decide(ingress: string, file: string, decisions: object): Promise<void> {
  const request = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(decisions) };
  for (;;) {
    const line = linesOf(file).at(-1);
    const url = `${ingress}/restate/awakeables/${line && JSON.parse(line).id}/resolve`;
    const response = line === undefined ? undefined : await fetch(url, request).catch(() => undefined);
    if (response?.ok) return;
    await pause(20);
  }
}

async function callUntilDone(url: string, id: string, request: object): Promise<unknown> {
  for (;;) {
    const headers = { ...JSON_TYPE, 'idempotency-key': id };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(request) }).catch(
      () => undefined,
    );
    const text = await response?.text().catch(() => undefined);
    if (response !== undefined && text !== undefined) {
      if (response.ok) return JSON.parse(text);
      if (response.status < 500 || text.includes('"code"')) expect.fail(`${response.status}: ${text}`);
    }
    await pause(50);
  }
}
