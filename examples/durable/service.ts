// The service of `npm run demo:durable`. Argument: its port. Prints its steps, and kills itself once, in the third search.
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import { type Context, createEndpointHandler, service, TerminalError } from '@restatedev/restate-sdk';
import { Agent, defineTool } from 'keelson';
import { durable, isFinalError, restateStep } from 'keelson/durable';
import { approval } from 'keelson/lifecycles';
import { calls, delays, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const [port, marker = ''] = process.argv.slice(2);

/** Tells the demo what happens. The demo prints it. */
const tell = (what: string) => process.stdout.write(`${what}\n`);

const harbours = { Bergen: 120, Cork: 95, Riga: 80 };
const feeOf = (harbour: keyof typeof harbours) => ({ name: 'fee', input: { harbour } });
const turns = [
  calls(feeOf('Bergen'), feeOf('Cork'), feeOf('Riga')),
  calls('pay', { harbour: 'Riga', amount: 80 }),
  says('Riga is the cheapest harbour. The fee of 80 euro is paid.'),
];
const script = turns.map((turn, index) => () => {
  tell(`model   call ${index + 1}`);
  return delays(150, turn);
});

const fee = defineTool({
  name: 'fee',
  description: 'Finds the fee of a harbour.',
  input: z.object({ harbour: z.enum(['Bergen', 'Cork', 'Riga']) }),
  async execute({ harbour }) {
    tell(`tool    fee of ${harbour}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    if (harbour === 'Riga' && !existsSync(marker)) {
      writeFileSync(marker, '');
      // The other two searches are stored meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 300));
      process.kill(process.pid, 'SIGKILL');
    }
    return `${harbours[harbour]} euro`;
  },
});

const pay = defineTool({
  name: 'pay',
  description: 'Pays a fee.',
  input: z.object({ harbour: z.string(), amount: z.number() }),
  execute({ harbour, amount }, { idempotencyKey }) {
    tell(`tool    pay ${amount} euro to ${harbour}, key …${idempotencyKey.slice(-16)}`);
    return 'paid';
  },
});

const harbour = service({
  name: 'harbour',
  handlers: {
    async ask(ctx: Context, question: string) {
      const step = restateStep(ctx);
      const lifecycle = [approval({ tools: ['pay'] })];
      const model = scriptedModel(script, { perRun: true });
      const agent = new Agent(durable({ step }).options({ model, tools: [fee, pay], lifecycle }));
      let result = await agent.run(question);
      while (result.status === 'suspended') {
        const notify = (request: object) => void tell(`ask     ${JSON.stringify(request)}`);
        const resume = await step.decisions(result, { notify });
        result = await agent.run('', { messages: result.history, resume });
      }
      return result.text;
    },
  },
  options: { asTerminalError: (error) => (isFinalError(error) ? new TerminalError(String(error)) : undefined) },
});

createServer(createEndpointHandler({ services: [harbour], logger: () => {} })).listen(Number(port), () =>
  tell('ready'),
);
