import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from 'keelson';
import type { DecisionRequest } from 'keelson/durable';
import { scriptedModel } from 'keelson/testing';
import { expect } from 'vitest';
import { pause } from '../../agent/settle.js';
import { transcript } from '../../agent/transcript.js';
import { fileLog, linesOf } from '../file-log.js';
import { CLAIM_MS, HOOKED_TOOLS, OUTPUTS, PURCHASE_ANSWER, type PurchaseWorld, TOOL_WORKS } from './purchase.js';
import { startWeather } from './weather-server.js';

/** The number of purchases: `KEELSON_PURCHASES`, or 50. */
export const PURCHASES = Number(process.env.KEELSON_PURCHASES ?? 50);
/** The number of purchases at the same time. */
const AT_ONCE = 25;

/** An engine that makes purchases in another process. */
export interface PurchaseEngine extends PurchaseWorld {
  /** Starts a purchase, and resolves with its answer. */
  start(name: string): Promise<unknown>;
  /** Sends decisions to the last wait that a file names. */
  decide(file: string, decisions: object): Promise<void>;
  /** Kill a process of the engine, of its database or of the service. */
  readonly kills: readonly (() => unknown)[];
}

const LIMITS = { ttlMs: 3_600_000, sessionTtlMs: 86_400_000, extensionBytes: 1e7, sessionBytes: 6.4e7 };

/**
 * Makes purchases while processes are killed at random. A new version is deployed in the middle of every second one. Returns
 * the number of kills, and of works that ran again.
 */
export async function makePurchases(engine: PurchaseEngine): Promise<{ kills: number; repeated: number }> {
  const weather = await startWeather();
  writeFileSync(join(engine.folder, 'mcp.url'), weather.url);
  const names = Array.from({ length: PURCHASES }, (_, index) => `purchase-${index}`);
  let left = names.length;
  let kills = 0;
  const queue = names.entries();
  const worker = async () => {
    for (const [index, name] of queue) {
      await makePurchase(engine, name, index % 2 === 0);
      left -= 1;
    }
  };
  const killing = (async () => {
    for (let before = -1; left > 0; kills += 1) {
      // A busy machine needs seconds to start a killed process.
      while (left > 0 && progressOf(engine.folder) <= before) await pause(100);
      await pause(1_000 + 5_000 * Math.random());
      before = progressOf(engine.folder);
      await engine.kills[Math.floor(engine.kills.length * Math.random())]?.();
    }
  })();
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  await killing;
  const repeated = await checkPurchases(engine, names);
  expect(weather.calls()).toBeGreaterThanOrEqual(names.length);
  weather.close();
  return { kills, repeated };
}

/** Grows with each work of a purchase. */
function progressOf(folder: string): number {
  const logs = readdirSync(folder).filter((name) => /^purchase-\d+(\.models)?$/.test(name));
  return logs.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

/** Makes a purchase, sends it a message while it waits, and approves its calls. */
async function makePurchase(engine: PurchaseEngine, name: string, isDeployed: boolean): Promise<void> {
  const path = join(engine.folder, name);
  writeFileSync(`${path}.version`, '1');
  let answer: unknown;
  void engine.start(name).then(
    (text) => {
      answer = text;
    },
    (error) => {
      answer = String(error);
    },
  );
  const decided = new Set<string>();
  for (; answer === undefined; await pause(50)) {
    const asked = linesOf(`${path}.ask`).at(-1);
    const { id, pending } = asked === undefined ? { id: '', pending: [] } : (JSON.parse(asked) as DecisionRequest);
    if (asked === undefined || decided.has(id)) continue;
    if (isDeployed) writeFileSync(`${path}.version`, '2');
    if (decided.size === 0) await send(engine, name);
    await pause(2 * CLAIM_MS);
    await engine.decide(`${path}.ask`, Object.fromEntries(pending.map((call) => [call.id, 'approve'])));
    decided.add(id);
  }
  expect(answer, name).toBe(PURCHASE_ANSWER);
}

/** Sends a message as another process does, again if the store is away. */
async function send({ sessions }: PurchaseWorld, name: string): Promise<void> {
  for (;;) {
    try {
      const agent = new Agent({ model: scriptedModel([]), store: sessions });
      const session = await agent.session({ id: name });
      await session.send('In euros.', { id: 'euros' });
      return await agent.close();
    } catch {
      await pause(100);
    }
  }
}

/** Checks what the purchases have left. Returns the number of works that ran again. */
async function checkPurchases({ folder, sessions, state }: PurchaseWorld, names: readonly string[]): Promise<number> {
  let repeated = 0;
  for (const name of names) {
    const path = join(folder, name);
    const works = fileLog(path).all();
    const keys = new Set(works.map(({ what, key }) => `${what}: ${key}`));
    expect(new Set(works.map(({ what }) => what)), name).toEqual(new Set(TOOL_WORKS));
    expect([...keys], `one key for each work of ${name}`).toHaveLength(TOOL_WORKS.length);
    repeated += works.length - keys.size;
    const hooked = linesOf(`${path}.hooked`).map((line) => JSON.parse(line).tool_name);
    expect(new Set(hooked), name).toEqual(new Set(HOOKED_TOOLS));
    expect(Number(await state.get({ extension: 'counter', session: name }, 'n', LIMITS)), name).toBe(OUTPUTS);
    const agent = new Agent({ model: scriptedModel([]), store: sessions });
    const said = transcript((await agent.session({ id: name })).messages);
    expect(
      said.filter((line) => line.startsWith('user: ')),
      name,
    ).toEqual(['user: Buy.', 'user: In euros.']);
    expect(said.at(-1), name).toBe(`assistant: ${PURCHASE_ANSWER}`);
    await agent.close();
  }
  return repeated;
}
