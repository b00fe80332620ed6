import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunResult } from 'keelson';
import type { DecisionRequest, Step } from 'keelson/durable';
import { expect } from 'vitest';
import { pause } from '../../agent/settle.js';
import { linesOf } from '../file-log.js';
import { CELLS, type Cell, runOrder, versionOf } from './changes.js';

/** A step of an engine that can wait for decisions. */
export type EngineStep = Step & {
  decisions(
    result: Pick<RunResult, 'pending'>,
    options: { readonly notify: (request: DecisionRequest) => void },
  ): Promise<unknown>;
};

const nameOf = (cell: Cell) => `order-${CELLS.indexOf(cell)}`;

/** Runs an order in the version of the program that is deployed for it. Called in the process of the engine's service. */
export async function deployedOrder(step: EngineStep, path: string): Promise<string> {
  const cell = CELLS[Number(path.split('-').at(-1))] as Cell;
  const side = readFileSync(`${path}.version`, 'utf8') as 'before' | 'after';
  appendFileSync(`${path}.attempts`, `${side}\n`);
  const agent = versionOf(step, cell[side], (what) => {
    appendFileSync(path, `${side} ${what}\n`);
    if (what !== 'mail' || !existsSync(`${path}.hold`)) return undefined;
    writeFileSync(`${path}.held`, '');
    return new Promise(() => {});
  });
  const notify = (request: DecisionRequest) => appendFileSync(`${path}.ask`, `${JSON.stringify(request)}\n`);
  const decide = async (result: Pick<RunResult, 'pending'>) =>
    (await step.decisions(result, { notify })) as Record<string, 'approve'>;
  return (await runOrder(agent, cell[side], decide)).text;
}

/** A service that runs orders in an engine. */
export interface OrderEngine {
  /** Starts an order, and resolves with its answer. */
  start(name: string): Promise<unknown>;
  /** Sends decisions to the last wait that a file names. */
  decide(file: string, decisions: object): Promise<void>;
  servicePid(): number;
}

/**
 * Deploys each change while an order waits. Checks that the order goes on, or is refused and goes on after a rollback.
 */
export async function deployAll(engine: OrderEngine, folder: string): Promise<void> {
  const orders = CELLS.map((cell) => new Order(engine, join(folder, nameOf(cell)), cell));
  await Promise.all(orders.map((order) => order.reachPoint()));
  for (const order of orders) order.deploy('after');
  process.kill(engine.servicePid(), 'SIGKILL');
  const [refused, fine] = [true, false].map((is) => orders.filter((order) => order.isRefused === is));
  await Promise.all(fine?.map((order) => order.finish()) ?? []);
  for (const order of refused ?? []) {
    await order.attempted('after');
    expect([order.answer, order.works('after')], order.title).toEqual([undefined, []]);
    order.deploy('before');
  }
  process.kill(engine.servicePid(), 'SIGKILL');
  await Promise.all(refused?.map((order) => order.finish()) ?? []);
}

class Order {
  answer: unknown = undefined;

  constructor(
    private readonly engine: OrderEngine,
    private readonly path: string,
    private readonly cell: Cell,
  ) {}

  get title(): string {
    return `${this.cell.what}, ${this.cell.point}`;
  }

  get isRefused(): boolean {
    return this.cell.refused !== undefined;
  }

  /** The work that a version has done. */
  works(side: 'before' | 'after'): readonly string[] {
    const lines = linesOf(this.path).filter((line) => line.startsWith(side));
    return lines.map((line) => line.slice(side.length + 1));
  }

  deploy(side: 'before' | 'after'): void {
    writeFileSync(`${this.path}.version`, side);
    rmSync(`${this.path}.hold`, { force: true });
  }

  async reachPoint(): Promise<void> {
    const { path, engine, cell } = this;
    this.deploy('before');
    const inTool = cell.point === 'in a tool';
    if (inTool) writeFileSync(`${path}.hold`, '');
    void engine.start(path.split('/').at(-1) as string).then(
      (answer) => {
        this.answer = answer;
      },
      (error) => {
        this.answer = String(error);
      },
    );
    while (!existsSync(`${path}.${inTool ? 'held' : 'ask'}`)) await pause(20);
  }

  async attempted(side: 'before' | 'after'): Promise<void> {
    while (!linesOf(`${this.path}.attempts`).includes(side)) await pause(20);
  }

  /** Approves what the order asks for, until it has its answer. */
  async finish(): Promise<void> {
    const { path, engine } = this;
    for (let approved = 0; this.answer === undefined; await pause(50)) {
      const asked = linesOf(`${path}.ask`).slice(approved);
      if (asked.length === 0) continue;
      approved += asked.length;
      const { pending } = JSON.parse(asked.at(-1) as string) as DecisionRequest;
      await engine.decide(`${path}.ask`, Object.fromEntries(pending.map(({ id }) => [id, 'approve'])));
    }
    expect(this.answer, this.title).toBe('{"isDone":true}');
    const after = this.works('after');
    expect(new Set(after).size, this.title).toBe(after.length);
    expect(
      after.filter((what) => this.works('before').includes(what) && what !== 'mail'),
      this.title,
    ).toEqual([]);
  }
}
