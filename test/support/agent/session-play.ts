import { Agent, type Entry, HookAction, messagesOf, modelMessagesOf, type Session } from 'keelson';
import type { SessionStore } from 'keelson/store';
import { calls, fails, hangs, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { expect } from 'vitest';
import { storeOver } from '../state/store-over.js';
import { toolOf } from './sample-tools.js';
import {
  checkAccepted,
  openAnswer,
  openCalls,
  pathOf,
  type Row,
  row,
  rowsOf,
  type Step,
  type StepOf,
} from './session-model.js';
import { pause } from './settle.js';
import { keepingLogger } from './silent-logger.js';

/** The stores of a history. */
export interface PlayPlace {
  /** Two stores of the same sessions. */
  readonly stores: readonly [SessionStore, SessionStore];
  /** Lets time pass for the stores. */
  pass(ms: number): void;
}

/** A claim has run out then, even if its process seems to live. */
const LATE_MS = 10 * 30_000 + 1;

/** The answers of the model in one run, the decisions, and the rows that the run adds. */
interface Turn {
  readonly plan: ScriptEntry[];
  readonly resume?: Record<string, 'approve' | 'deny'>;
  readonly added: readonly Row[];
}

/** Three agents in two processes on one stored session, and a model of what must be on record. */
export class SessionPlay {
  rows: Row[] = [];
  id = 'id-0';
  private forks = 0;
  private made = 0;
  private plan: ScriptEntry[] = [];
  private readonly agents: Agent[];
  private readonly sessions = new Map<string, Promise<Session>>();
  private isHeld = false;
  private compacts = false;
  /** The calls that were running when their process died. */
  private interrupted: readonly string[] = [];
  private stop = new AbortController();
  private died = () => {};
  /** The agent that makes the current step. */
  private who = 0;

  constructor(private readonly place: PlayPlace) {
    this.agents = [0, 1, 2].map((who) => this.startAgent(who));
  }

  /** Agent 2 runs in a process of its own. */
  private startAgent(who: number): Agent {
    let isDead = false;
    const store = this.place.stores[who === 2 ? 1 : 0] as SessionStore;
    const mortal = new Proxy(store, {
      get: (target, name) => {
        const method = target[name as 'load'] as unknown;
        if (typeof method !== 'function') return method;
        return (...given: readonly unknown[]) => (isDead ? new Promise(() => {}) : method.apply(target, given));
      },
    });
    return new Agent({
      model: scriptedModel(({ messages }) => {
        checkAccepted(messages);
        return this.plan.shift() ?? 'unplanned';
      }),
      store: who === 0 ? mortal : storeOver(mortal, {}),
      logger: keepingLogger(),
      tools: [
        toolOf('work', () => 'worked'),
        toolOf('crash', async (_input, { attempt, callId }) => {
          if (attempt > 1) return 'worked';
          // The results of the other calls are on record before the process dies.
          while ((await this.openIds()).some((id) => id !== callId)) await pause(1);
          isDead = true;
          this.died();
          return new Promise(() => {});
        }),
        toolOf('hang', (_input, { signal }) => {
          queueMicrotask(() => this.stop.abort());
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        }),
      ],
      lifecycle: [
        {
          beforeModel: (messages, run) => {
            if (!this.compacts || messages.length < 3) return;
            this.compacts = false;
            const from = messages.findLast(({ role }) => role === 'user');
            const keep = messages.filter(({ role }) => role === 'system');
            run.summarize({ text: 'in short', from, keep, messages });
            return run.messages;
          },
          afterModel: () => (this.isHeld ? HookAction.suspend('Read it first.') : undefined),
          wrapToolCall: (call, next) =>
            call.name === 'work' && !call.approved && this.plan.length === 0 ? HookAction.suspend('Ask.') : next(),
        },
      ],
    });
  }

  async make(one: Step, who: number): Promise<void> {
    this.who = who;
    const session = await this.session(who, one.type === 'discard');
    await this.steps[one.type]?.(session, one as never);
    const entries = await this.entries();
    expect(rowsOf(messagesOf(entries))).toEqual(this.rows);
    for (let length = 0; length <= entries.length; length += 1)
      checkAccepted(modelMessagesOf(entries.slice(0, length)));
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
  }

  private async openIds(): Promise<readonly string[]> {
    return openCalls(rowsOf(messagesOf(await this.entries())))?.ids ?? [];
  }

  private async entries(): Promise<readonly Entry[]> {
    return (await (this.place.stores[0] as SessionStore).load(this.id))?.entries ?? [];
  }

  private session(who: number, discards: boolean): Promise<Session> {
    const key = `${this.id} ${who} ${discards}`;
    const onAbort = discards ? 'discard' : 'keep';
    const known = this.sessions.get(key) ?? (this.agents[who] as Agent).session({ id: this.id, onAbort });
    this.sessions.set(key, known);
    return known;
  }

  /** Runs with these answers of the model. Returns the code of the error, if any. */
  private async run(
    session: Session,
    input: string,
    { plan, resume }: Pick<Turn, 'plan' | 'resume'>,
  ): Promise<string | undefined> {
    this.plan = plan;
    this.stop = new AbortController();
    const stream = session.stream(input, { resume, signal: this.stop.signal });
    try {
      // Text counts as shown if a stream receives it.
      for await (const _event of stream);
      return undefined;
    } catch (error) {
      return (error as { code: string }).code;
    }
  }

  /** A run of a conversation that waits is refused, and nothing changes. Interrupted calls get a result. */
  private async asks(session: Session, input: string, { plan, added }: Turn): Promise<void> {
    const open = openCalls(this.rows);
    const waits =
      open?.ids.some((id) => !this.interrupted.includes(id)) === true || openAnswer(this.rows) !== undefined;
    const code = await this.run(session, input, { plan });
    if (waits) return expect(code).toBe('ERR_RESUME_INVALID');
    if (open !== undefined) this.answer(open.ids.map((id) => [id, 'error']));
    this.rows.push(row('user', input), ...added);
  }

  /** Adds results to the open turn. */
  private answer(results: readonly (readonly [id: string, result: string])[]): void {
    const index = openCalls(this.rows)?.index ?? 0;
    const known = this.rows[index + 1]?.results ?? {};
    const later = this.rows.slice(index + 1).filter(({ role }) => role !== 'tool');
    const all = row('tool', '', { results: { ...known, ...Object.fromEntries(results) } });
    this.rows = [...this.rows.slice(0, index + 1), all, ...later];
  }

  private ids(number: number): string[] {
    return Array.from({ length: number }, () => `call-${++this.made}`);
  }

  private readonly steps: {
    readonly [Type in Step['type']]: (session: Session, one: StepOf<Type>) => Promise<void>;
  } = {
    ask: (session, one) =>
      this.asks(session, one.text, { plan: [`re ${one.text}`], added: [row('assistant', `re ${one.text}`)] }),
    fail: (session, one) => this.asks(session, one.text, { plan: [fails('down')], added: [] }),
    discard: (session, one) => this.asks(session, one.text, { plan: [this.shows('lost')], added: [] }),
    compact: async (session, one) => {
      this.compacts = true;
      await this.calling(session, one, ['done']);
      this.compacts = false;
    },
    crash: (session, one) => this.crash(session, one),
    branch: async (session, { share }) => {
      const point = await this.point(share);
      await session.branch(point.id);
      this.rows = [...point.rows];
    },
    stop: (session, { text: input, shown }) =>
      this.asks(session, input, {
        plan: [this.shows(shown)],
        added: shown === '' ? [] : [row('assistant', shown, { mark: 'stopped' })],
      }),
    tools: (session, one) => this.calling(session, one, ['done']),
    'fail-later': (session, one) => this.calling(session, one, [fails('down')]),
    suspend: (session, one) => this.calling(session, one, []),
    'stop-tools': async (session, { text: input, calls: number }) => {
      const ids = this.ids(number + 1);
      const asked = ids.map((id, at) => ({ id, name: at === number ? 'hang' : 'work' })) as [
        { id: string; name: string },
      ];
      const results = Object.fromEntries(ids.map((id, at) => [id, at === number ? 'error' : 'ran']));
      const added = [row('assistant', '', { calls: ids }), row('tool', '', { results })];
      await this.asks(session, input, { plan: [calls(...asked), 'never'], added });
    },
    'suspend-answer': async (session, one) => {
      this.isHeld = true;
      await this.asks(session, one.text, { plan: ['held'], added: [row('assistant', 'held', { mark: 'suspended' })] });
      this.isHeld = false;
    },
    append: async (session, { role, text: content }) => {
      await session.append(
        role === 'assistant' ? { role, content: [{ type: 'text', text: content }] } : { role, content },
      );
      this.rows.push(row(role, content));
    },
    resume: (session, one) => this.resume(session, one),
    fork: async (session, { share }) => {
      const point = await this.point(share);
      if (point.id === null) return;
      const id = `id-${++this.forks}`;
      await session.fork({ id, at: point.id });
      this.rows = [...point.rows];
      const held = openAnswer(this.rows);
      // Only the original can approve.
      if (held !== undefined) this.rows[held] = row('assistant', 'held', { mark: 'denied' });
      this.id = id;
    },
    delete: async () => {
      await (this.place.stores[0] as SessionStore).delete(this.id);
      this.rows = [];
    },
  };

  private shows(shown: string): ScriptEntry {
    return (request) => {
      if (shown !== '') request.onPart?.({ type: 'text-delta', text: shown });
      queueMicrotask(() => this.stop.abort());
      return hangs();
    };
  }

  private async calling(session: Session, one: Extract<Step, { calls: number }>, plan: ScriptEntry[]): Promise<void> {
    const ids = this.ids(one.calls);
    const [first, ...more] = ids.map((id) => ({ id, name: 'work' }));
    const results = row('tool', '', { results: Object.fromEntries(ids.map((id) => [id, 'ran'])) });
    const end = plan[0] === 'done' ? [results, row('assistant', 'done')] : plan.map(() => results);
    const asked = calls(first as { id: string; name: string }, ...more);
    await this.asks(session, one.text, {
      plan: [asked, ...plan],
      added: [row('assistant', '', { calls: ids }), ...end],
    });
  }

  private async resume(session: Session, { yes, text: answer }: StepOf<'resume'>): Promise<void> {
    const open = openCalls(this.rows);
    const held = openAnswer(this.rows);
    const ids = open?.ids ?? (held === undefined ? [] : ['answer']);
    const resume = Object.fromEntries(ids.map((id, at) => [id, yes[at % 3] ? 'approve' : 'deny'] as const));
    const code = await this.run(session, '', { plan: [answer, answer], resume });
    if (this.rows.length === 0) return void this.rows.push(row('user', ''), row('assistant', answer));
    expect(code).toBe(undefined);
    if (open !== undefined) {
      this.answer(ids.map((id, at) => [id, yes[at % 3] ? 'ran' : 'error']));
    } else if (held !== undefined) {
      this.rows[held] = row('assistant', 'held', { mark: yes[0] ? '' : 'denied' });
      if (yes[0] && held === this.rows.length - 1) return;
      if (!yes[0]) this.rows.push(row('user', 'The answer was denied. Answer again.'));
    }
    this.rows.push(row('assistant', answer));
  }

  /** A process dies while it runs the last of some calls. Then the time of its claim passes. */
  private async crash(session: Session, { text: input, calls: number }: StepOf<'crash'>): Promise<void> {
    const ids = this.ids(number + 1);
    const asked = ids.map((id, at) => ({ id, name: at === number ? 'crash' : 'work' })) as [
      { id: string; name: string },
    ];
    // So that `work` needs no approval.
    const plan = [calls(...asked), 'never'];
    const died = new Promise<'died'>((resolve) => {
      this.died = () => resolve('died');
    });
    const running = this.run(session, input, { plan });
    const code = await Promise.race([running, died]);
    if (code !== 'died') return expect(code).toBe('ERR_RESUME_INVALID');
    this.agents[this.who] = this.startAgent(this.who);
    this.sessions.clear();
    this.place.pass(LATE_MS);
    const open = openCalls(this.rows);
    if (open !== undefined) this.answer(open.ids.map((id) => [id, 'error']));
    const results = Object.fromEntries(ids.slice(0, number).map((id) => [id, 'ran']));
    this.rows.push(row('user', input), row('assistant', '', { calls: ids }));
    if (number > 0) this.rows.push(row('tool', '', { results }));
    this.interrupted = [ids[number] as string];
  }

  /** Returns a random entry at which a run may begin, and the rows up to it. */
  private async point(share: number): Promise<{ readonly id: string | null; readonly rows: readonly Row[] }> {
    const entries = await this.entries();
    const points = pathOf(entries).flatMap(({ id }, at, path) => {
      const before = rowsOf(messagesOf(path.slice(0, at + 1)));
      return openCalls(before) === undefined ? [{ id, rows: this.rows.slice(0, before.length) }] : [];
    });
    return points[Math.floor(share * points.length)] ?? { id: null, rows: [] };
  }
}
