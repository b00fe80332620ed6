import { createServer } from 'node:http2';
import type { DBOS as DbosClass } from '@dbos-inc/dbos-sdk';
import { type Context, createEndpointHandler, service } from '@restatedev/restate-sdk';
import { post, startRestateServer } from '../../examples/durable/restate-server.js';
import { freePort } from '../../examples/host/free-port.js';
import type * as Durable from '../../src/durable/durable.js';
import type * as Keelson from '../../src/index.js';
import { hasPostgres, startPostgres } from '../../test/support/stores/postgres-server.js';
import { digits, type Figure, figureOf } from '../driver/figure.js';
import { median } from '../driver/race.js';
import { responseOf, runByHand, STEPS, TURNS } from '../work/durable.js';
import type { Setting } from './measurement.js';

/** Runs of each side before the first round. Node has optimised the handlers after about 100 runs. */
const WARM_RUNS = 100;
const RUNS = 16;

/** Runs the two sides in an engine, once. */
interface Sides {
  hand(): Promise<unknown>;
  agent(): Promise<unknown>;
}

/**
 * Wall time of a step of a durable agent in Restate and in DBOS, compared with the step of the engine by hand. Both sides
 * store the same values. Leaves out an engine whose server is not installed.
 */
export async function measureDurable(setting: Setting): Promise<Figure[]> {
  return [...(await measureRestate(setting)), ...(await measureDbos(setting))];
}

async function measureRestate(setting: Setting): Promise<Figure[]> {
  const server = await startRestateServer();
  if (server === undefined) return [];
  const { restateStep, runAgent } = await load(setting);
  const bench = service({
    name: 'bench',
    handlers: {
      hand: (ctx: Context) => runByHand((name, action) => ctx.run(name, action)),
      agent: (ctx: Context) => runAgent(restateStep(ctx as never)),
    },
  });
  const port = await freePort();
  const http = createServer(createEndpointHandler({ services: [bench], logger: () => {} })).listen(port);
  try {
    await server.register(`http://127.0.0.1:${port}`);
    const call = (handler: string) => post(`${server.ingress}/bench/${handler}`, 'go');
    return [await compare(setting, 'Restate', { hand: () => call('hand'), agent: () => call('agent') })];
  } finally {
    await server.stop();
    http.close();
  }
}

async function measureDbos(setting: Setting): Promise<Figure[]> {
  if (!hasPostgres) return [];
  const { dbosStep, runAgent } = await load(setting);
  const postgres = await startPostgres('-c', 'fsync=on', '-c', 'full_page_writes=on');
  const { DBOS } = (await import('@dbos-inc/dbos-sdk')) as { DBOS: typeof DbosClass };
  const runByDbos = () => runByHand((name, action) => DBOS.runStep(action, { name }));
  const hand = DBOS.registerWorkflow(runByDbos, { name: 'hand' });
  const agent = DBOS.registerWorkflow(() => runAgent(dbosStep(DBOS)), { name: 'agent' });
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: postgres.url, logLevel: 'error' });
  try {
    await DBOS.launch();
    return [await compare(setting, 'DBOS', { hand, agent })];
  } finally {
    await DBOS.shutdown({ deregister: true });
    postgres.remove();
  }
}

async function compare({ race }: Setting, engine: string, sides: Sides): Promise<Figure> {
  const works = [sides.hand, sides.agent];
  const pairsOf = async (runs: number) => {
    const pairs: [number, number][] = [];
    for (let run = 0; run < runs; run += 1) {
      const pair: [number, number] = [0, 0];
      // Every second pair in reverse order, because a server still works after an answer.
      for (const side of run % 2 === 0 ? [0, 1] : [1, 0]) pair[side] = await timeOf(works[side] as Sides['hand']);
      pairs.push(pair);
    }
    return pairs;
  };
  await pairsOf(WARM_RUNS);
  const ratios: number[] = [];
  const times: number[][] = [];
  for (let round = 0; round < race.rounds; round += 1) {
    const pairs = await pairsOf(RUNS);
    const taken = [0, 1].map((side) => median(pairs.map((pair) => pair[side] as number)));
    times.push(taken);
    ratios.push((taken[1] as number) / (taken[0] as number));
  }
  const [hand, agent] = [0, 1].map((side) => digits(median(times.map((taken) => (taken[side] as number) / STEPS))));
  const note = `${agent} ms a step against ${hand} ms`;
  return figureOf(ratios, { name: `a durable step in ${engine}, ${STEPS} in a row`, bound: 1.2, unit: '×', note });
}

/** Loads the measured build. */
async function load({ builds }: Setting) {
  const { Agent }: typeof Keelson = await import(new URL('index.js', builds.shipped).href);
  const durable: typeof Durable = await import(new URL('durable.js', builds.shipped).href);
  const tool: Keelson.Tool = {
    name: 'look',
    description: 'Looks.',
    inputSchema: { type: 'object' },
    check: (value) => ({ value }),
    execute: () => 'far',
  };
  async function runAgent(step: Durable.Step): Promise<void> {
    let turn = 0;
    const model: Keelson.Model = {
      id: 'model',
      async generate() {
        turn += 1;
        return responseOf(turn);
      },
    };
    await new Agent(durable.durable({ step }).options({ model, tools: [tool], maxTurns: TURNS })).run('go');
  }
  return { ...durable, runAgent };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
