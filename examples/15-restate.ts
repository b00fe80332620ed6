// An agent runs in Restate: each model call and each tool call is a step. The payment waits in Restate for an approval.
import assert from 'node:assert/strict';
import { createServer } from 'node:http2';
import { type Context, createEndpointHandler, service, TerminalError } from '@restatedev/restate-sdk';
import { Agent, defineTool } from 'keelson';
import { type DecisionRequest, durable, isFinalError, restateStep } from 'keelson/durable';
import { approval } from 'keelson/lifecycles';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';
import { post, startRestateServer } from './durable/restate-server.js';
import { freePort } from './host/free-port.js';

const server = await startRestateServer();
const model = scriptedModel([calls('pay', { amount: 40 }), says('The fee is paid.')], { perRun: true });
const paid: string[] = [];
const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount in euro.',
  input: z.object({ amount: z.number() }),
  // A payment service takes the key, and pays once if the tool runs again after a crash.
  execute: ({ amount }, { idempotencyKey }) => `paid ${amount} euro, entry ${paid.push(idempotencyKey)}`,
});

/** Decides on the calls. Usually a person does, in another process. */
async function notify({ id, pending }: DecisionRequest): Promise<void> {
  console.log(`Restate waits for ${pending.map(({ name }) => name).join()}.`);
  const decisions = Object.fromEntries(pending.map((call) => [call.id, 'approve']));
  await post(`${server?.ingress}/restate/awakeables/${id}/resolve`, decisions);
}

// #region restate-service
const harbour = service({
  name: 'harbour',
  handlers: {
    async ask(ctx: Context, question: string) {
      const step = restateStep(ctx);
      const options = { model, tools: [pay], lifecycle: [approval({ tools: ['pay'] })] };
      const agent = new Agent(durable({ step }).options(options));
      let result = await agent.run(question);
      while (result.status === 'suspended') {
        const resume = await step.decisions(result, { notify });
        result = await agent.run('', { messages: result.history, resume });
      }
      return result.text;
    },
  },
  // Restate retries all other errors.
  options: { asTerminalError: (error) => (isFinalError(error) ? new TerminalError(String(error)) : undefined) },
});
// #endregion

if (server === undefined) console.log('Skipped: @restatedev/restate-server has no program for this platform.');
else {
  const port = await freePort();
  const http = createServer(createEndpointHandler({ services: [harbour], logger: () => {} })).listen(port);
  await server.register(`http://127.0.0.1:${port}`);
  console.log(await post<string>(`${server.ingress}/harbour/ask`, 'Pay the harbour fee.'));
  assert.equal(paid.length, 1);
  await server.stop();
  http.close();
}
