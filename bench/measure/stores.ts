import type * as Keelson from '../../src/index.js';
import type * as Stores from '../../src/stores/store.js';
import { digits, type Figure, figureOf } from '../driver/figure.js';
import { median } from '../driver/race.js';
import { entriesOf, saveConversation } from '../work/conversation.js';
import { load, withFiles, withPostgres, withRedis, withSqlite } from '../work/opened-stores.js';
import { ANSWER, fakeModel } from '../work/script.mjs';
import type { Setting } from './measurement.js';

const SHORT = 10;
const LONG = 10_000;
const TURNS = 40;
const WARM_TURNS = 20;

/**
 * Wall time of a turn in a stored session of 10,000 messages, compared with a session of 10. Leaves out Redis and
 * PostgreSQL if they are not installed, and SQLite if the runtime does not have it.
 */
export async function measureStores(setting: Setting): Promise<Figure[]> {
  const measurements = [measureFile, measureRedis, measurePostgres, measureSqlite];
  const figures: Figure[] = [];
  for (const measure of measurements) figures.push(...(await measure(setting)));
  return figures;
}

function measureFile(setting: Setting): Promise<Figure[]> {
  return withFiles(setting, async ({ FileSessionStore, folder }) => [
    await compareTurns(setting, new FileSessionStore({ folder }), { name: 'files', bound: 2 }),
  ]);
}

function measureRedis(setting: Setting): Promise<Figure[]> {
  return withRedis(setting, async ({ RedisSessionStore, client }) => {
    const store = new RedisSessionStore({ client });
    const time = await compareTurns(setting, store, { name: 'Redis', bound: 1.5 });
    return [time, await compareBytes(setting, store, client)];
  });
}

/** Compares the bytes that Redis sends in a turn. */
async function compareBytes(
  setting: Setting,
  store: Stores.SessionStore,
  client: { info(section: string): Promise<string> },
): Promise<Figure> {
  const sent = async () => Number(/total_net_output_bytes:(\d+)/.exec(await client.info('stats'))?.[1]);
  const bytes: number[] = [];
  for (const length of [SHORT, LONG]) {
    const turn = await openAgent(setting, store, length);
    await turn();
    const before = await sent();
    for (let at = 0; at < TURNS; at++) await turn();
    bytes.push(((await sent()) - before) / TURNS);
  }
  const [short = 0, long = 0] = bytes;
  return {
    name: `bytes that Redis sends in a turn at ${digits(LONG)} messages`,
    value: long / short,
    unit: '×',
    bound: 1.1,
    note: `${digits(long)} B against ${digits(short)} B at ${SHORT} messages`,
  };
}

function measurePostgres(setting: Setting): Promise<Figure[]> {
  return withPostgres(setting, ({ PostgresSessionStore, pool }) =>
    compareLengths(setting, new PostgresSessionStore({ client: pool }), 'PostgreSQL'),
  );
}

function measureSqlite(setting: Setting): Promise<Figure[]> {
  return withSqlite(setting, ({ SqliteSessionStore, client }) =>
    compareLengths(setting, new SqliteSessionStore({ client }), 'SQLite'),
  );
}

type Turn = () => Promise<void>;
type OpenTurn = (setting: Setting, store: Stores.SessionStore, length: number) => Promise<Turn>;

/** Compares the calls of the store in a turn, and whole turns of an agent with a model without delay. */
async function compareLengths(setting: Setting, store: Stores.SessionStore, name: string): Promise<Figure[]> {
  const long = `in ${name} at ${digits(LONG)} messages`;
  return [
    await compare(setting, store, { name: `load and save of a turn ${long}`, bound: 1.5, open: openCalls }),
    await compareTurns(setting, store, { name, bound: 1.5 }),
  ];
}

function compareTurns(
  setting: Setting,
  store: Stores.SessionStore,
  { name, bound }: { readonly name: string; readonly bound: number },
): Promise<Figure> {
  return compare(setting, store, {
    name: `a turn of an agent in ${name} at ${digits(LONG)} messages`,
    bound,
    open: openAgent,
  });
}

async function compare(
  setting: Setting,
  store: Stores.SessionStore,
  { open, ...figure }: Pick<Figure, 'name' | 'bound'> & { readonly open: OpenTurn },
): Promise<Figure> {
  const ratios: number[] = [];
  const times: number[][] = [];
  for (let round = 0; round < setting.race.rounds; round++) {
    const [short, long] = [await open(setting, store, SHORT), await open(setting, store, LONG)];
    const pairs: [number, number][] = [];
    for (let turn = 0; turn < WARM_TURNS + TURNS; turn++) pairs.push([await timeOf(short), await timeOf(long)]);
    const taken = [0, 1].map((side) => median(pairs.slice(WARM_TURNS).map((pair) => pair[side] as number)));
    times.push(taken);
    ratios.push((taken[1] as number) / (taken[0] as number));
  }
  const [short, long] = [0, 1].map((side) => digits(median(times.map((taken) => taken[side] as number))));
  return figureOf(ratios, { ...figure, unit: '×', note: `${long} ms against ${short} ms at ${SHORT} messages` });
}

/** Returns a function that calls the store as one turn does, in a new session of `length` messages. */
const openCalls: OpenTurn = async (_setting, store, length) => {
  const id = await saveConversation(store, { length });
  let known = { uid: (await store.load(id, { limit: 1 }))?.uid ?? '', length };
  return async () => {
    const token = crypto.randomUUID();
    const claim = await store.claim(id, { token, run: token, ttlMs: 30_000, known });
    if (!claim.claimed) throw new TypeError('the session is in use');
    const [question, answer] = entriesOf(2, known.length);
    await store.append(id, { token, length: claim.length, entries: question ? [question] : [] });
    const entries = answer ? [answer] : [];
    const { length: now } = await store.append(id, { token, length: claim.length + 1, entries, release: true });
    known = { uid: claim.uid, length: now };
  };
};

const openAgent: OpenTurn = async (setting, store, length) => {
  const { Agent } = await load<typeof Keelson>(setting, 'index.js');
  const session = await new Agent({ model: fakeModel(ANSWER), store }).session({
    id: await saveConversation(store, { length }),
  });
  return async () => void (await session.run('go'));
};

async function timeOf(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
