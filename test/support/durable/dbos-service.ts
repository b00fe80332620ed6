import { join } from 'node:path';
import { DBOSClient } from '@dbos-inc/dbos-sdk';
import { pause } from '../agent/settle.js';
import { type PostgresServer, startPostgres } from '../stores/postgres-server.js';
import { linesOf } from './file-log.js';
import { keepFixture } from './keep-process.js';
import type { KillOrder } from './kill.js';
import type { StoredStep } from './logged-step.js';

/** A PostgreSQL server, and a DBOS application that starts again after it was killed. */
export interface DbosSetup {
  readonly postgres: PostgresServer;
  readonly client: DBOSClient;
  servicePid(): number;
  /** Enqueues an errand, and resolves with its result. */
  call(name: string, kills: readonly KillOrder[]): Promise<unknown>;
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
  return {
    postgres,
    client,
    servicePid: service.pid,
    async call(name, kills) {
      const options = { workflowName: 'errand', queueName: 'errands', workflowID: name, applicationName: 'errands' };
      const handle = await client.enqueue(options, name, kills);
      return handle.getResult({ pollingIntervalMs: 50 });
    },
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
