import fc from 'fast-check';
import { Agent, HookAction, MemorySessionStore, type Session, type SessionStore } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { calls, fails, hangs, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import {
  openAnswer,
  openCalls,
  type Row,
  row,
  rowsOf,
  type Step,
  type StepOf,
} from '../../support/agent/session-model.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

const text = fc.string({ minLength: 1, maxLength: 5 }).filter((it) => it.trim() !== '');
const count = fc.integer({ min: 1, max: 3 });
const of = <Type extends Step['type']>(...types: readonly Type[]) => fc.constantFrom(...types);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: of('ask', 'fail', 'suspend-answer', 'discard'), text }),
  fc.record({ type: of('stop'), text, shown: fc.oneof(fc.constant(''), text) }),
  fc.record({ type: of('tools', 'stop-tools', 'fail-later', 'suspend', 'suspend'), text, calls: count }),
  fc.record({ type: of('append'), role: fc.constantFrom('user', 'assistant', 'system'), text }),
  fc.record({ type: of('resume'), yes: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), text }),
  fc.record({ type: of('resume'), yes: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), text }),
  fc.record({ type: of('fork'), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.constant({ type: 'delete' as const }),
);
/** A step, and the number of the agent that makes it. */
const history = fc.array(fc.tuple(step, fc.integer({ min: 0, max: 1 })), { minLength: 1, maxLength: 12 });

/** The answers of the model in one run, the decisions, and the rows that the run adds. */
interface Turn {
  readonly plan: ScriptEntry[];
  readonly resume?: Record<string, 'approve' | 'deny'>;
  readonly added: readonly Row[];
}

/** Several agents on the same stored session, and a model of what must be stored. */
class Play {
  rows: Row[] = [];
  id = 'id-0';
  private forks = 0;
  private made = 0;
  private plan: ScriptEntry[] = [];
  private readonly agents: readonly Agent[];
  private readonly sessions = new Map<string, Promise<Session>>();
  private isHeld = false;
  private stop = new AbortController();

  constructor(private readonly stores: readonly SessionStore[]) {
    this.agents = stores.map(
      (store) =>
        new Agent({
          model: scriptedModel(() => this.plan.shift() ?? 'unplanned'),
          store,
          logger: keepingLogger(),
          tools: [
            toolOf('work', () => 'worked'),
            toolOf('hang', (_input, { signal }) => {
              queueMicrotask(() => this.stop.abort());
              return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
            }),
          ],
          lifecycle: [
            {
              afterModel: () => (this.isHeld ? HookAction.suspend('Read it first.') : undefined),
              wrapToolCall: (call, next) =>
                call.name === 'work' && !call.approved && this.plan.length === 0 ? HookAction.suspend('Ask.') : next(),
            },
          ],
        }),
    );
  }

  async make(one: Step, who: number): Promise<void> {
    const session = await this.session(who, one.type === 'discard');
    await this.steps[one.type]?.(session, one as never);
    const stored = await (this.stores[who] as SessionStore).load(this.id);
    expect(rowsOf(stored?.messages ?? [])).toEqual(this.rows);
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

  /** A run of an open conversation is refused, and nothing changes. */
  private async asks(session: Session, input: string, { plan, added }: Turn): Promise<void> {
    const isOpen = openCalls(this.rows) !== undefined || openAnswer(this.rows) !== undefined;
    const code = await this.run(session, input, { plan });
    if (isOpen) expect(code).toBe('ERR_RESUME_INVALID');
    else this.rows.push(row('user', input), ...added);
  }

  private ids(number: number): string[] {
    return Array.from({ length: number }, () => `call-${++this.made}`);
  }

  private readonly steps: {
    readonly [Type in Step['type']]: (session: Session, one: StepOf<Type>) => Promise<void>;
  } = {
    ask: (session, one) =>
      this.asks(session, one.text, { plan: [`re ${one.text}`], added: [row('assistant', `re ${one.text}`)] }),
    fail: async (session, one) => {
      await this.run(session, one.text, { plan: [fails('down')] });
    },
    discard: async (session, one) => {
      await this.run(session, one.text, { plan: [this.shows('lost')] });
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
      const keep = Math.floor(share * (this.rows.length + 1));
      const id = `id-${++this.forks}`;
      const forked = await (this.stores[0] as SessionStore).fork(session.id, {
        id,
        keep: Math.min(keep, this.rows.length),
      });
      if (forked === undefined) return;
      this.rows = this.rows.slice(0, keep);
      this.id = id;
    },
    delete: async () => {
      await (this.stores[0] as SessionStore).delete(this.id);
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
      const known = this.rows[open.index + 1]?.results ?? {};
      const results = { ...known, ...Object.fromEntries(ids.map((id, at) => [id, yes[at % 3] ? 'ran' : 'error'])) };
      const later = this.rows.slice(open.index + 1).filter(({ role }) => role !== 'tool');
      this.rows = [...this.rows.slice(0, open.index + 1), row('tool', '', { results }), ...later];
    } else if (held !== undefined) {
      this.rows[held] = row('assistant', 'held', { mark: yes[0] ? '' : 'denied' });
      if (yes[0] && held === this.rows.length - 1) return;
      if (!yes[0]) this.rows.push(row('user', 'The answer was denied. Answer again.'));
    }
    this.rows.push(row('assistant', answer));
  }
}

describe('any history of two agents stores what a simple model stores:', () => {
  const kinds: Readonly<Record<string, () => Promise<readonly SessionStore[]>>> = {
    memory: async () => {
      const store = new MemorySessionStore();
      return [store, store];
    },
    'two stores of one folder': async () => {
      const folder = await temporaryFolder();
      return [new FileSessionStore({ folder }), new FileSessionStore({ folder })];
    },
  };

  test.each(Object.entries(kinds))('%s', { timeout: 120_000 }, async (name, open) => {
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const play = new Play(await open());
        for (const [one, who] of steps) await play.make(one, who);
      }),
      { numRuns: name === 'memory' ? 100 : 20 },
    );
  });
});
