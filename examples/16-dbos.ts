// An agent runs in a DBOS workflow. Its process is killed while the payment waits for an approval, and the next one goes on.
// Uses DATABASE_URL, or starts a PostgreSQL of its own.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk';
import { Agent, defineTool } from 'keelson';
import { type DbosDecisionRequest, dbosStep, durable } from 'keelson/durable';
import { approval } from 'keelson/lifecycles';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';
import { startPostgres } from './host/postgres.js';

const model = scriptedModel([calls('pay', { amount: 40 }), says('The fee is paid.')], { perRun: true });
const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount in euro.',
  input: z.object({ amount: z.number() }),
  // A payment service takes the key, and pays once if the tool runs again after a crash.
  execute: ({ amount }, { idempotencyKey }) => `paid ${amount} euro with the key ${idempotencyKey}`,
});

/** Runs the workflows. The process of this function may die at any time. */
async function serve(systemDatabaseUrl: string): Promise<void> {
  const notify = (request: DbosDecisionRequest) => void process.send?.(request);

  // #region dbos-workflow
  async function ask(question: string) {
    const step = dbosStep();
    const options = { model, tools: [pay], lifecycle: [approval({ tools: ['pay'] })] };
    const agent = new Agent(durable({ step }).options(options));
    let result = await agent.run(question);
    while (result.status === 'suspended') {
      const resume = await step.decisions(result, { notify });
      result = await agent.run('', { messages: result.history, resume });
    }
    return result.text;
  }

  DBOS.registerWorkflow(ask, { name: 'ask' });
  DBOS.setConfig({ name: 'harbour', systemDatabaseUrl, logLevel: 'error' });
  // Continues the workflows that an earlier process has left.
  await DBOS.launch();
  await DBOS.registerQueue('questions');
  // #endregion
  process.send?.('ready');
}

async function startService(url: string): Promise<ChildProcess> {
  // DBOS 5.3 calls `pg` in a way that prints a deprecation warning.
  const execArgv = [...process.execArgv, '--no-deprecation'];
  const child = fork(import.meta.filename, ['serve'], { execArgv, env: { ...process.env, DATABASE_URL: url } });
  await once(child, 'message');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function talk(url: string): Promise<void> {
  const first = await startService(url);
  const client = await DBOSClient.create({ systemDatabaseUrl: url });
  const work = { workflowName: 'ask', queueName: 'questions', applicationName: 'harbour' };
  const handle = await client.enqueue(work, 'Pay the harbour fee.');
  const [request] = (await once(first, 'message')) as [DbosDecisionRequest];
  console.log(`DBOS waits for ${request.pending.map(({ name }) => name).join()}.`);
  await kill(first);

  // #region dbos-approve
  const { id, workflowId, pending } = request;
  const decisions = Object.fromEntries(pending.map((call) => [call.id, 'approve']));
  await client.send(workflowId, decisions, id);
  // #endregion
  const second = await startService(url);
  const answer = await handle.getResult({ pollingIntervalMs: 50 });
  console.log(answer);
  assert.equal(answer, 'The fee is paid.');
  await kill(second);
  await client.destroy();
}

const { DATABASE_URL: url } = process.env;
const server = url ? undefined : await startPostgres();
if (process.argv[2] === 'serve') await serve(url ?? '');
else if (url) await talk(url);
else if (server === undefined) console.log('Skipped: DATABASE_URL is not set, and PostgreSQL is not installed.');
else await talk(server.url).finally(() => server.stop());
