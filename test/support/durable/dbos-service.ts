import { join } from 'node:path';
import { DBOSClient } from '@dbos-inc/dbos-sdk';
import { pause } from '../agent/settle.js';
import { type PostgresServer, startPostgres } from '../stores/postgres-server.js';
import { linesOf } from './file-log.js';
import { keepFixture } from './keep-process.js';
import type { KillOrder } from './kill.js';
import type { StoredStep } from './logged-step.js';
import type { Delays } from './two-agents.js';

/** A PostgreSQL server, and a DBOS application that starts again after it was killed. */
export interface DbosSetup {
  readonly postgres: PostgresServer;
  readonly client: DBOSClient;
  servicePid(): number;
  /** Enqueues an errand, and resolves with its result. */
  call(name: string, kills: readonly KillOrder[]): Promise<unknown>;
  /** Enqueues an order, and resolves with its answer. */
  order(name: string): Promise<unknown>;
  /** Enqueues a purchase, and resolves with its answer. */
  buy(name: string): Promise<unknown>;
  /** Enqueues two agents in one workflow, and resolves with their results. */
  pair(name: string, delays: Delays, dieAt: readonly number[]): Promise<unknown>;
  /** Reads the steps of an errand from the database. */
  journal(name: string): Promise<readonly StoredStep[]>;
  /** Sends decisions, as another process does, to the last wait that a file names. */
  decide(file: string, decisions: object): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server, and the application of the fixture with its logs in a directory. */
export async function startDbos(folder: string): Promise<DbosSetup> {
  const postgres = await startPostgres();
  const service = await keepFixture('dbos-service', [postgres.url, folder], join(folder, 'service.log'));
  await service.ready;
  const client = await DBOSClient.create({ systemDatabaseUrl: postgres.url });
  const call = async (workflowName: string, name: string, ...args: readonly unknown[]) => {
    const options = { workflowName, queueName: 'errands', workflowID: name, applicationName: 'errands' };
    const handle = await client.enqueue(options, name, ...args);
    return handle.getResult({ pollingIntervalMs: 50 });
  };
  return {
    postgres,
    client,
    servicePid: service.pid,
    call: (name, kills) => call('errand', name, kills),
    order: (name) => call('order', name),
    buy: (name) => call('buy', name),
    pair: (name, delays, dieAt) => call('pair', name, delays, dieAt),
    async journal(name) {
      const steps = (await client.listWorkflowSteps(name)) ?? [];
      return steps
        .filter((step) => !/^(ask |DBOS\.)/.test(step.name))
        .map((step) => ({ name: step.name, value: JSON.parse(String(step.output)) }));
    },
    async decide(file, decisions) {
      while (linesOf(file).length === 0) await pause(20);
      const { id, workflowId } = JSON.parse(linesOf(file).at(-1) ?? '');
      await client.send(workflowId, decisions, id);
    },
    async close() {
      await service.close();
      await client.destroy();
      postgres.remove();
    },
  };
}
