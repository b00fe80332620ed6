import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type * as Keelson from '../../src/index.js';
import type * as Stores from '../../src/stores/store.js';
import { digits, type Figure, figureOf } from '../driver/figure.js';
import { perRound, type RaceOptions, type Rounds } from '../driver/race.js';
import { type ConversationForm, saveConversation } from '../work/conversation.js';
import { load, withFiles, withPostgres, withRedis, withSqlite } from '../work/opened-stores.js';
import { ANSWER, fakeModel } from '../work/script.mjs';
import { ratios, type Setting, timesNote } from './measurement.js';

const SHORT = 10;
const FEW = 100;
const LONG = 50_000;
const LENGTHS = [SHORT, 10_000, LONG];
/** The bound of a turn in memory. */
const MEMORY_US = 200;
const TURNS = 5;
const OPENINGS = 10;
const WARM_PASSES = 4;
const WARM_TURNS = 50;

/** A store with conversations, and the driver below it. */
interface Place {
  /** As in "a turn in files". */
  readonly name: string;
  readonly store: Stores.SessionStore;
  /** Makes a store as a new process does. Default: the same store, which keeps nothing in the process, or everything. */
  readonly reopen?: () => Stores.SessionStore;
  /** Reads the JSON of each entry of a conversation with the driver alone. */
  readonly read?: (id: string) => Promise<readonly string[]>;
  /** The number of entries in one append. */
  readonly chunk?: number;
}

/** CPU time of turns in long conversations, and of opening them, in each store. */
export async function measureConversations(setting: Setting): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const measure of [inMemory, inFiles, inSqlite, inRedis, inPostgres]) figures.push(...(await measure(setting)));
  return figures;
}

async function inMemory(setting: Setting): Promise<Figure[]> {
  const { MemorySessionStore } = await load<typeof Keelson>(setting, 'index.js');
  return measurePlace(setting, { name: 'memory', store: new MemorySessionStore() });
}

function inFiles(setting: Setting): Promise<Figure[]> {
  return withFiles(setting, ({ FileSessionStore, folder }) => {
    const open = () => new FileSessionStore({ folder });
    const read = (id: string) => readLog(folder, id);
    return measurePlace(setting, { name: 'files', store: open(), reopen: open, read, chunk: 2 });
  });
}

function inSqlite(setting: Setting): Promise<Figure[]> {
  return withSqlite(setting, ({ SqliteSessionStore, client }) => {
    const text = 'SELECT body FROM entries JOIN sessions ON serial = session WHERE sessions.id = ? ORDER BY position';
    const read = async (id: string) => bodiesOf(client.prepare(text).all(id));
    return measurePlace(setting, { name: 'SQLite', store: new SqliteSessionStore({ client }), read });
  });
}

function inRedis(setting: Setting): Promise<Figure[]> {
  return withRedis(setting, ({ RedisSessionStore, client }) => {
    const read = (id: string) => client.lRange(`keelson:{${id}}:session:entries`, 0, -1);
    return measurePlace(setting, { name: 'Redis', store: new RedisSessionStore({ client }), read });
  });
}

function inPostgres(setting: Setting): Promise<Figure[]> {
  return withPostgres(setting, ({ PostgresSessionStore, pool }) => {
    const text = `SELECT body FROM keelson.entries JOIN keelson.sessions ON serial = session
      WHERE sessions.key = $1 ORDER BY position`;
    const read = async (id: string) => bodiesOf((await pool.query(text, [id])).rows);
    return measurePlace(setting, {
      name: 'PostgreSQL',
      store: new PostgresSessionStore({ client: pool, timeoutMs: 60_000 }),
      read,
    });
  });
}

async function readLog(folder: string, id: string): Promise<string[]> {
  const name = createHash('sha256').update(JSON.stringify(id)).digest('hex');
  const text = await readFile(join(folder, `session-${name}`, 'log'), 'utf8');
  return text.split('\n').flatMap((line) => line.split('\t').slice(1));
}

function bodiesOf(rows: readonly unknown[]): string[] {
  return rows.map((row) => (row as { readonly body: string }).body);
}

/** Sides that take turns. */
interface RaceSpec {
  /** Calls of a side in a row. */
  readonly repeat: number;
  /** Returns the sides of a round. */
  sides(): Promise<Side[]>;
}

type Side = () => Promise<unknown>;

/** The parts of a measurement of a place. */
interface Parts {
  readonly race: (spec: RaceSpec) => Promise<Rounds>;
  readonly open: (id: string) => Promise<Keelson.Session>;
}

async function measurePlace(setting: Setting, place: Place): Promise<Figure[]> {
  const { Agent } = await load<typeof Keelson>(setting, 'index.js');
  const open = (id: string) =>
    new Agent({ model: fakeModel(ANSWER), store: place.reopen?.() ?? place.store }).session({ id });
  const parts = { open, race: (spec: RaceSpec) => raceOf(setting.race, spec) };
  const { read } = place;
  await warmUp(place, open, setting.race.warmMs);
  const figures = [...(await measureTurns(place, parts, true)), await measureCompacted(place, parts)];
  if (read === undefined) return [...figures, ...(await measureTurns(place, parts, false))];
  return [...figures, await measureWhole({ ...place, read }, parts)];
}

/** Makes turns in short conversations. */
async function warmUp(place: Place, open: Parts['open'], warmMs: number): Promise<void> {
  for (const end = performance.now() + warmMs; performance.now() < end; ) {
    const [id = ''] = await save(place, [{ length: SHORT, isCompacted: true }]);
    const session = await open(id);
    for (let turn = 0; turn < WARM_TURNS; turn++) await session.run('go');
    await place.store.delete(id);
  }
}

/** A turn of an open session at each length. In memory, it is too short for a ratio. */
async function measureTurns(place: Place, { race, open }: Parts, isCompacted: boolean): Promise<Figure[]> {
  let ids: string[] = [];
  const sides = async () => {
    for (const id of ids) await place.store.delete(id);
    ids = await save(
      place,
      LENGTHS.map((length) => ({ length, isCompacted })),
    );
    const sessions = await Promise.all(ids.map(open));
    return sessions.map((session) => () => session.run('go'));
  };
  const rounds = await race({ repeat: TURNS, sides });
  return LENGTHS.slice(1).map((length, index) => {
    const lane = index + 1;
    const note = timesNote(rounds, lane, 0);
    const name = `a turn at ${digits(length)} entries in ${place.name}${isCompacted ? '' : ', without a summary'}`;
    if (place.read !== undefined)
      return figureOf(ratios(rounds, lane, 0), { name: `${name}, against ${SHORT}`, unit: '×', bound: 1.3, note });
    const times = perRound(rounds, (taken) => taken[lane] as number);
    return figureOf(times, { name, unit: 'µs', bound: isCompacted ? MEMORY_US : undefined, note });
  });
}

/** Opening a long conversation with a summary near its end, compared with a short one. */
async function measureCompacted(place: Place, { race, open }: Parts): Promise<Figure> {
  const forms = [FEW, LONG].map((length) => ({ length, isCompacted: true }));
  const ids = await save(place, forms);
  const rounds = await race({ repeat: OPENINGS, sides: async () => ids.map((id) => () => open(id)) });
  return figureOf(ratios(rounds, 1, 0), {
    name: `opening ${digits(LONG)} entries in ${place.name}, against ${FEW}`,
    unit: '×',
    bound: 1.5,
    note: timesNote(rounds, 1, 0),
  });
}

/** Opening a long conversation without a summary, compared with the driver. */
async function measureWhole(place: Place & Pick<Required<Place>, 'read'>, { race, open }: Parts): Promise<Figure> {
  const [id = ''] = await save(place, [{ length: LONG }]);
  const parse = async () => (await place.read(id)).map((json) => JSON.parse(json));
  const rounds = await race({ repeat: 1, sides: async () => [parse, () => open(id)] });
  return figureOf(ratios(rounds, 1, 0), {
    name: `opening ${digits(LONG)} entries in ${place.name}, without a summary, against the driver and \`JSON.parse\``,
    unit: '×',
    bound: 1.5,
    note: timesNote(rounds, 1, 0),
  });
}

async function save({ store, chunk }: Place, forms: readonly ConversationForm[]): Promise<string[]> {
  const ids: string[] = [];
  for (const form of forms) ids.push(await saveConversation(store, { chunk, ...form }));
  return ids;
}

/** Returns the CPU time of each call in µs. */
async function raceOf({ rounds, passes }: RaceOptions, { repeat, sides }: RaceSpec): Promise<Rounds> {
  const times: number[][][] = [];
  for (let round = 0; round < rounds; round++) {
    const all = await sides();
    const taken: number[][] = [];
    for (let pass = 0; pass < WARM_PASSES + passes; pass++) taken.push(await passOnce(all, { pass, repeat }));
    times.push(taken.slice(WARM_PASSES));
  }
  return times;
}

/** Every second pass runs the sides in reverse order. */
async function passOnce(
  sides: readonly Side[],
  { pass, repeat }: { readonly pass: number; readonly repeat: number },
): Promise<number[]> {
  const order = [...sides.entries()];
  if (pass % 2 === 1) order.reverse();
  const taken: number[] = [];
  for (const [lane, work] of order) {
    const before = process.cpuUsage();
    for (let at = 0; at < repeat; at++) await work();
    const { user, system } = process.cpuUsage(before);
    taken[lane] = (user + system) / repeat;
  }
  return taken;
}
