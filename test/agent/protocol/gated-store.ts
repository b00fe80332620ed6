import type { Entry, JsonValue } from 'keelson';
import type {
  AppendAnswer,
  ClaimAnswer,
  PostAnswer,
  RecordQuery,
  RunLog,
  RunLogAnswer,
  RunLogPage,
  RunLogQuery,
  RunOutcome,
  SessionAppend,
  SessionClaim,
  SessionDetails,
  SessionPage,
  SessionQuery,
  SessionRenewal,
  SessionStore,
  SessionSummary,
  StoredRecord,
} from 'keelson/store';
import { describeEntries, describeEntry } from './describe-entry.js';
import type { Process } from './process.js';
import type { World } from './world.js';

/** A store whose operations happen at once. */
export type DirectStore = {
  [Method in Exclude<keyof SessionStore, 'watch' | 'list'>]: (
    ...given: Parameters<SessionStore[Method]>
  ) => Awaited<ReturnType<SessionStore[Method]>>;
} & Required<Pick<SessionStore, 'watch' | 'list'>>;

const LOOK = 'looks for posts';

/** The shared store, as one process reaches it: each operation waits at a gate. */
export class GatedStore implements SessionStore {
  private readonly world: World;
  private readonly store: DirectStore;

  constructor(private readonly process: Process) {
    this.world = process.world;
    this.store = process.world.store;
  }

  claim(id: string, claim: SessionClaim): Promise<ClaimAnswer> {
    const { process, world } = this;
    const act = () => {
      process.claims.set(claim.token, claim.run);
      const { holder } = world.read(id);
      const isHeld = !world.isFree(id) && holder !== claim.run;
      const answer = this.store.claim(id, claim);
      if (answer.claimed && isHeld) world.fail(`${process.label} gets the claim before that of ${holder} has run out`);
      if (!answer.claimed) process.clock.pollsFor = () => world.isFree(id);
      return answer;
    };
    return process.ask({ label: `claims for ${claim.run}`, act, losable: true, timed: true });
  }

  append(id: string, append: SessionAppend): Promise<AppendAnswer> {
    const { entries, release } = append;
    const what = entries.length === 0 && !release ? LOOK : describeEntries(entries);
    const label = [what, release ? 'releases' : ''].filter((part) => part !== '').join(', ');
    const isQuestion = !this.process.claims.has(append.token);
    return this.process.ask({
      label: isQuestion ? `asks if ${entries.map((entry) => entry.id)} is stored` : label,
      act: () => this.appendNow(id, append),
      losable: !isQuestion && label !== LOOK,
    });
  }

  renew(id: string, renewal: SessionRenewal): Promise<boolean> {
    return this.change('renews the claim', () => {
      const { world, process } = this;
      const isRenewed = this.store.renew(id, renewal);
      const isHolder = world.read(id).holder === process.claims.get(renewal.token);
      if (isRenewed && !isHolder) world.fail(`${process.label} renews a claim that it has lost`);
      return isRenewed;
    });
  }

  post(id: string, post: Entry): Promise<PostAnswer | undefined> {
    return this.change(describeEntry(post), () => {
      this.world.noteSent(id, post);
      const answer = this.store.post(id, post);
      if (answer !== undefined) this.world.acknowledge(id, [post]);
      return answer;
    });
  }

  load(id: string, query?: RecordQuery): Promise<StoredRecord | undefined> {
    return this.process.ask({ label: 'loads', act: () => this.store.load(id, query), timed: true });
  }

  async list(query: SessionQuery): Promise<SessionPage> {
    return await this.process.ask({ label: 'lists', act: () => this.store.list(query) });
  }

  update(id: string, details: Omit<SessionDetails, 'owner'>): Promise<SessionSummary | undefined> {
    return this.process.ask({ label: 'reads the details', act: () => this.store.update(id, details) });
  }

  delete(id: string): Promise<void> {
    return this.process.ask({ label: 'deletes', act: () => this.store.delete(id) });
  }

  watch(id: string, listener: () => void): () => void {
    return this.store.watch(id, () => {
      if (this.process.isSettled) return;
      this.process.learn('hears of a post');
      listener();
    });
  }

  /** Appends, and checks that only the owner adds and that nothing acknowledged is missing. */
  private appendNow(id: string, append: SessionAppend): AppendAnswer {
    const { world, process } = this;
    const { length, holder } = world.read(id);
    const answer = this.store.append(id, append);
    const after = world.read(id);
    const run = process.claims.get(append.token);
    if (after.length > length && holder !== run) world.fail(`${process.label} appends without the claim`);
    if (answer.owned && holder !== run) world.fail(`${process.label} is told that it holds the claim, and does not`);
    if (answer.released) world.checkRelease(process, run);
    if (answer.stored) world.acknowledge(id, append.entries);
    return answer;
  }

  private change<Answer>(label: string, act: () => Answer): Promise<Answer> {
    return this.process.ask({ label, act, losable: true });
  }
}

/** The shared run log, as one process reaches it. */
export class GatedLog implements RunLog {
  constructor(
    private readonly process: Process,
    private readonly log: RunLog,
  ) {}

  append(run: string, first: number, events: readonly JsonValue[]): Promise<RunLogAnswer> {
    const act = () => {
      const answer = this.log.append(run, first, events) as RunLogAnswer;
      this.process.world.logs.set(run, { end: answer.end, outcome: answer.outcome });
      return answer;
    };
    return this.process.ask({ label: `logs ${events.length} events from ${first} on`, act, losable: true });
  }

  /** A read that waits becomes possible with news, and when the run has lost the conversation. */
  async read(run: string, from: number, { signal }: RunLogQuery = {}): Promise<RunLogPage | undefined> {
    const { world } = this.process;
    const when = () => world.logNews(run, from) || world.holder !== run || world.isFree();
    const act = () => {
      this.process.learn(JSON.stringify(world.logs.get(run)));
      return this.log.read(run, from);
    };
    return this.process.ask({ label: `reads the log of ${run}`, act, when, signal });
  }

  touch(run: string): void {
    void this.log.touch(run);
  }

  close(run: string, outcome: RunOutcome): Promise<RunOutcome> {
    const act = () => {
      const { logs } = this.process.world;
      const closed = this.log.close(run, outcome) as RunOutcome;
      logs.set(run, { end: logs.get(run)?.end ?? 0, outcome: closed });
      return closed;
    };
    return this.process.ask({ label: `closes the log of ${run} as ${outcome}`, act, losable: true });
  }

  async delete(run: string): Promise<void> {
    await this.log.delete(run);
  }
}
