import { type Entry, MemorySessionStore, toolCallsOf } from 'keelson';
import type { RunLog, SessionHolder } from 'keelson/store';
import { MemoryRunLog } from 'keelson/ui';
import type { DirectStore } from './gated-store.js';
import { COPY, Process, TALK } from './process.js';
import { Effects } from './rules/effects.js';
import type { Ledger } from './rules/ledger.js';
import { pendingCalls, saidUnder, sentUnder, waitingMessages } from './rules/record-path.js';
import type { Scenario } from './scenario.js';

const SESSIONS = [TALK, COPY];

/** Returns methods that take the place of those of the store, to plant a fault. */
export type Plant = (store: DirectStore, world: World) => Partial<DirectStore>;

/** A record of the store, as far as it was read. */
interface Seen {
  readonly entries: readonly Entry[];
  readonly number: number;
}

const NOTHING: Seen = { entries: [], number: 0 };

/** One execution of a scenario: the processes, and what they share. */
export class World {
  now = 0;
  readonly processes: Process[] = [];
  readonly effects: Effects;
  readonly store: DirectStore;
  readonly log: RunLog | undefined;
  /** The end and the outcome of each run log. */
  readonly logs = new Map<string, { readonly end: number; readonly outcome: string | undefined }>();
  /** The messages that a run has answered, as its caller was told. */
  readonly answered = new Set<string>();
  /** The runs that somebody has wished to stop. */
  readonly stopped = new Set<string>();
  /** Compare answers that processes got with the end. */
  readonly promises: (() => string | undefined)[] = [];
  /** The number of jumps of the clock. */
  jumps = 0;
  /** The first rule that was broken. */
  fault: string | undefined = undefined;
  private readonly memory: MemorySessionStore;
  private readonly records = new Map<string, Seen>();
  private readonly latest = new Map<string, readonly Entry[]>();
  private readonly acknowledged = new Map<string, Set<string>>();
  /** The run that held the conversation when a message was sent. */
  private readonly sentTo = new Map<string, string>();

  constructor(
    readonly scenario: Scenario,
    readonly ledger: Ledger,
    plant: Plant = () => ({}),
  ) {
    const clock = { now: () => this.now, setTimeout: () => undefined, clearTimeout: () => {} };
    this.memory = new MemorySessionStore({ clock });
    const store = direct(this.memory);
    this.store = { ...store, ...plant(store, this) };
    this.log = scenario.log ? new MemoryRunLog({ clock, ttlMs: 1_000_000_000 }) : undefined;
    this.effects = new Effects(this);
    for (const name of Object.keys(scenario.processes)) this.processes.push(new Process(this, name, 1));
  }

  /** True if a process of this name starts again after a crash. */
  restarts(name: string): boolean {
    return this.scenario.restarts?.(name) ?? true;
  }

  get batchMs(): number | undefined {
    return this.log === undefined ? undefined : 50;
  }

  /** Returns the same array until the record grows, so that what is derived from it is derived once. */
  entries(id = TALK): readonly Entry[] {
    const read = this.latest.get(id) ?? [];
    if (this.read(id).length === read.length) return read;
    const entries = this.memory.load(id)?.entries ?? [];
    this.latest.set(id, entries);
    return entries;
  }

  /** The run that has claimed the conversation. Its time may have passed. */
  get holder(): string | undefined {
    return this.holding()?.run;
  }

  /** True if the next claim is granted. */
  isFree(id = TALK): boolean {
    return (this.holding(id)?.until ?? 0) <= this.now;
  }

  /** True if the message of this id is in the record, and an answer of the model behind it. */
  isAnswered(id: string): boolean {
    const entries = this.entries();
    const said = saidUnder(entries, id);
    const isAnswer = ({ body, path }: Entry) =>
      path === undefined &&
      body.type === 'message' &&
      body.message.role === 'assistant' &&
      toolCallsOf(body.message).length === 0;
    return said !== undefined && entries.slice(entries.indexOf(said)).some(isAnswer);
  }

  read(id: string): { readonly length: number; readonly holder: string | undefined } {
    const { length = 0, holder } = this.memory.load(id, { limit: 0 }) ?? {};
    return { length, holder: holder?.run };
  }

  /** True if nothing changes without this process: the others have ended or wait for others, and no claim can run out. */
  othersRest(process: Process): boolean {
    return this.isFree() && this.processes.every((one) => one === process || one.isSettled || one.isIdle);
  }

  logNews(run: string, from: number): boolean {
    const { end = 0, outcome } = this.logs.get(run) ?? {};
    return end > from || outcome !== undefined;
  }

  news(): string {
    const settledPosts = this.entries().filter(({ body }) => body.type !== 'post' && 'post' in body).length;
    return `${this.holder} ${this.isFree()} ${settledPosts} ${this.logs.size}`;
  }

  /** Describes an answer of a shared part, as far as two answers can differ. */
  digest(answer: unknown): string {
    const isLeftOut = (key: string) => ['uid', 'until', 'token', 'createdAt', 'updatedAt', 'at'].includes(key);
    const told = JSON.stringify(answer, (key, value) => {
      if (key === 'entries') return (value as readonly Entry[]).map(({ id }) => id);
      return isLeftOut(key) ? undefined : value;
    });
    return `${told} ${this.isFree()}`;
  }

  acknowledge(id: string, entries: readonly Entry[]): void {
    const ids = this.acknowledged.get(id) ?? new Set();
    this.acknowledged.set(id, ids);
    for (const entry of entries) ids.add(entry.id);
    const stored = new Set(this.entries(id).map((entry) => entry.id));
    const missing = [...ids].find((one) => !stored.has(one));
    if (missing !== undefined) this.fail(`the acknowledged entry ${missing} is not stored`);
  }

  /** Notes which run a message was sent to, and which run a stop names. */
  noteSent(id: string, entry: Entry): void {
    const { body } = entry;
    if (body.type !== 'post') return;
    if (body.post.type === 'stop') this.stopped.add(body.post.run);
    if (!this.isFree(id)) this.sentTo.set(sentUnder(entry), this.read(id).holder ?? '');
  }

  /** A run does not end with an answer while messages wait that were sent to it. */
  checkRelease({ label, hasLost }: Process, run: string | undefined): void {
    const entries = this.entries();
    const { body } = entries.findLast((entry) => entry.run === run && entry.body.type === 'message') ?? {};
    const hasAnswered = body?.type === 'message' && body.message.role === 'assistant' && body.stopped === undefined;
    const left = waitingMessages(entries).find((post) => this.sentTo.get(post) === run);
    const isStopped = this.stopped.has(run ?? '');
    if (!hasLost && !isStopped && hasAnswered && left !== undefined && pendingCalls(entries).length === 0) {
      this.fail(`${label} ends with an answer, and message ${left}, which was sent to it, waits`);
    }
  }

  fail(why: string): void {
    this.fault ??= why;
  }

  holding(id = TALK): SessionHolder | undefined {
    return this.memory.load(id, { limit: 0 })?.holder;
  }

  /** The state of what the processes share. */
  shared(): string {
    const records = [...this.records].map(([id, { number }]) => `${id}:${number}`);
    const logs = [...this.logs].map(([run, { end, outcome }]) => `${run}:${end}${outcome}`);
    const holders = SESSIONS.map((id) => `${this.holding(id)?.run} ${this.isFree(id)}`);
    return `${records} ${holders} ${logs} ${this.effects}`;
  }

  /** Returns the time at which a held claim runs out, or the next timer fires, if a process still waits. */
  nextTime(): number | undefined {
    const waiting = this.processes.filter((one) => !one.isSettled);
    if (waiting.length === 0) return undefined;
    const claims = SESSIONS.flatMap((id) => this.holding(id)?.until ?? []).filter((until) => until > this.now);
    const timers = waiting.flatMap(({ clock }) => [...clock.timers].map(({ at }) => at)).filter((at) => at > this.now);
    const end = Math.min(...(claims.length > 0 ? claims : timers));
    return end === Number.POSITIVE_INFINITY ? undefined : end;
  }

  jumpTo(time: number): void {
    this.now = time;
    this.jumps += 1;
    for (const process of this.processes) if (!process.isSettled) process.learn(`time ${this.jumps}`);
  }

  /** Reads what the records have gained, and checks that they have lost nothing. */
  look(): void {
    for (const id of SESSIONS) {
      const entries = this.entries(id);
      const seen = this.records.get(id) ?? NOTHING;
      if (entries === seen.entries) continue;
      if (seen.entries.some((entry, at) => entries[at] !== entry)) this.fail('an entry was changed or removed');
      let { number } = seen;
      for (let length = seen.entries.length + 1; length <= entries.length; length++) {
        number = this.ledger.grow(number, entries.slice(0, length));
      }
      this.records.set(id, { entries, number });
      const fault = this.ledger.faultOf(number);
      if (fault !== undefined) this.fail(fault);
    }
  }
}

/** Returns a store whose methods can be replaced one by one. */
function direct(store: MemorySessionStore): DirectStore {
  return {
    claim: (...given) => store.claim(...given),
    append: (...given) => store.append(...given),
    renew: (...given) => store.renew(...given),
    post: (...given) => store.post(...given),
    load: (...given) => store.load(...given),
    list: (...given) => store.list(...given),
    update: (...given) => store.update(...given),
    delete: (...given) => store.delete(...given),
    watch: (...given) => store.watch(...given),
  };
}
