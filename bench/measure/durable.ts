import { createServer, type Http2Server } from 'node:http2';
import { type Context, createEndpointHandler, service } from '@restatedev/restate-sdk';
import { post, startRestateServer } from '../../examples/durable/restate-server.js';
import { freePort } from '../../examples/host/free-port.js';
import type * as Durable from '../../src/durable/durable.js';
import type * as Keelson from '../../src/index.js';
import { digits, type Figure, figureOf } from '../driver/figure.js';
import { median } from '../driver/race.js';
import type { Setting } from './measurement.js';

/** Model calls of a run, each but the last with one tool call. */
const TURNS = 20;
/** The steps of a run: one at the start, one for each model call, one for each tool call. */
const STEPS = 2 * TURNS;
const WARM_RUNS = 5;
const RUNS = 16;
const HANDLERS = ['hand', 'agent'];

const USAGE = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

/**
 * Wall time of a step of a durable agent in Restate, compared with `ctx.run` by hand. Both store values of the same size.
 * Leaves out the row if the server has no program for this platform.
 */
export async function measureDurable(setting: Setting): Promise<Figure[]> {
  const server = await startRestateServer();
  if (server === undefined) return [];
  const port = await freePort();
  const http = await serve(setting, port);
  try {
    await server.register(`http://127.0.0.1:${port}`);
    return [await compare(setting, (handler) => post(`${server.ingress}/bench/${handler}`, 'go'))];
  } finally {
    await server.stop();
    http.close();
  }
}

async function compare({ race }: Setting, call: (handler: string) => Promise<unknown>): Promise<Figure> {
  const ratios: number[] = [];
  const times: number[][] = [];
  for (let round = 0; round < race.rounds; round += 1) {
    const pairs: [number, number][] = [];
    for (let run = 0; run < WARM_RUNS + RUNS; run += 1) {
      const pair: [number, number] = [0, 0];
      // Every second pair in reverse order, because the server still works after an answer.
      for (const side of run % 2 === 0 ? [0, 1] : [1, 0])
        pair[side] = await timeOf(() => call(HANDLERS[side] as string));
      pairs.push(pair);
    }
    const taken = [0, 1].map((side) => median(pairs.slice(WARM_RUNS).map((pair) => pair[side] as number)));
    times.push(taken);
    ratios.push((taken[1] as number) / (taken[0] as number));
  }
  const [hand, agent] = [0, 1].map((side) => digits(median(times.map((taken) => (taken[side] as number) / STEPS))));
  const note = `${agent} ms a step against ${hand} ms`;
  return figureOf(ratios, { name: `a durable step in Restate, ${STEPS} in a row`, bound: 1.1, unit: '×', note });
}

async function serve({ builds }: Setting, port: number): Promise<Http2Server> {
  const { Agent } = await load<typeof Keelson>(builds.shipped, 'index.js');
  const { durable, restateStep } = await load<typeof Durable>(builds.shipped, 'durable.js');
  const tool: Keelson.Tool = {
    name: 'look',
    description: 'Looks.',
    inputSchema: { type: 'object' },
    check: (value) => ({ value }),
    execute: () => 'far',
  };
  const bench = service({
    name: 'bench',
    handlers: {
      async hand(ctx: Context) {
        await ctx.run('start', async () => ({ at: Date.now(), value: null }));
        for (let turn = 1; turn <= TURNS; turn += 1) {
          const value = await ctx.run(`model ${turn}`, async () => ({ at: Date.now(), value: responseOf(turn) }));
          if (turn < TURNS)
            await ctx.run(`tool look ${turn}`, async () => ({ at: Date.now(), value: { result: value } }));
        }
      },
      async agent(ctx: Context) {
        let turn = 0;
        const model: Keelson.Model = { id: 'model', generate: async () => responseOf(++turn) };
        const engine = durable({ step: restateStep(ctx as never) });
        await new Agent(engine.options({ model, tools: [tool], maxTurns: TURNS })).run('go');
      },
    },
  });
  return createServer(createEndpointHandler({ services: [bench], logger: () => {} })).listen(port);
}

function responseOf(turn: number): Keelson.ModelResponse {
  if (turn === TURNS) return { content: [{ type: 'text', text: 'ok' }], finishReason: 'stop', usage: USAGE };
  const content = [{ type: 'tool-call', id: `call_${turn}`, name: 'look', input: {} }] as const;
  return { content, finishReason: 'tool-calls', usage: USAGE };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function load<Module>(shipped: string, name: string): Promise<Module> {
  return import(new URL(name, shipped).href);
}
