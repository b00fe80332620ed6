import type { Entry } from 'keelson';
import { MemorySessionStore } from 'keelson';
import { MemoryStateStore } from 'keelson/extension';
import type { SessionStore, StateStore, StoredRecord } from 'keelson/store';
import { type ContractCase, sessionStoreContract, stateStoreContract } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { storeOver } from '../../support/state/store-over.js';

/** Returns the names of the cases that fail, and the codes of their errors. */
async function failuresOf(cases: readonly ContractCase[]) {
  const names: string[] = [];
  const codes = new Set<string>();
  for (const { name, run } of cases) {
    await run().catch((error) => {
      names.push(name);
      codes.add(error.code);
    });
  }
  return { names, codes: [...codes] };
}

const sessionClock = () => fakeClock(Date.now());
const sessionCases = (change: (inner: SessionStore) => Partial<SessionStore>) => {
  const clock = sessionClock();
  const open = () => {
    const inner = new MemorySessionStore({ clock });
    return storeOver(inner, change(inner));
  };
  return sessionStoreContract({ open, pass: (ms) => clock.advance(ms) });
};

/** A fault of a session store, and words of a case that finds the fault. */
const sessionFaults: Record<string, readonly [(inner: SessionStore) => Partial<SessionStore>, RegExp]> = {
  'appends without a claim': [
    (inner) => ({
      append: async (id, append) => {
        const answer = await inner.append(id, append);
        if (answer.owned || answer.stored) return answer;
        await inner.claim(id, { token: 'mine', run: 'mine', ttlMs: 1 });
        return inner.append(id, { ...append, token: 'mine' });
      },
    }),
    /append without the claim/,
  ],
  'answers a repeated last append as refused': [
    (inner) => ({
      append: async (id, append) => {
        const answer = await inner.append(id, append);
        return answer.owned ? answer : { ...answer, stored: false };
      },
    }),
    /answered as stored/,
  ],
  'forgets the context': [
    (inner) => ({ append: (id, { context: _context, ...append }) => inner.append(id, append) }),
    /from the context on/,
  ],
  'releases although there are posts': [
    (inner) => ({
      append: async (id, append) => {
        const length = append.entries.length === 0 ? (await inner.load(id))?.length : undefined;
        return inner.append(id, { ...append, length: length ?? append.length });
      },
    }),
    /does not know/,
  ],
  'loads all entries always': [(inner) => ({ load: (id) => inner.load(id) }), /known entries/],
  'gives each claim': [
    (inner) => ({
      claim: async (id, claim) => {
        const answer = await inner.claim(id, claim);
        return answer.claimed ? answer : { ...((await inner.load(id)) as StoredRecord), claimed: true };
      },
    }),
    /concurrent claims/,
  ],
  'keeps every stop': [
    (inner) => ({
      post: (id, post) => inner.post(id, { ...post, body: { type: 'later' } } as unknown as Entry),
    }),
    /one of another run is dropped/,
  ],
  'lists sessions of all owners in one page': [
    (inner) => ({ list: (query) => inner.list({ ...query, limit: 1000 }) }),
    /pages of any size/,
  ],
  'forgets to delete': [() => ({ delete: () => {} }), /deleted session/],
};

describe('sessionStoreContract', () => {
  test.each(Object.entries(sessionFaults))('finds a store that %s', async (_fault, [change, title]) => {
    const { names, codes } = await failuresOf(sessionCases(change));

    expect(names).toEqual(expect.arrayContaining([expect.stringMatching(title)]));
    expect(codes).toContain('ERR_STORE_CONTRACT');
  });

  test('has cases with different names, and cases of expiry only with `ttlMs`', () => {
    const open = () => new MemorySessionStore();
    const names = sessionStoreContract({ open }).map(({ name }) => name);
    const more = sessionStoreContract({ open, ttlMs: 100 }).map(({ name }) => name);

    expect(new Set(more).size).toBe(more.length);
    expect(more.filter((name) => !names.includes(name))).toEqual([
      'a session expires if it is neither loaded nor added to within its lifetime',
      'each load and each append restarts the lifetime',
    ]);
  });

  test('an error has the expected and the found value', async () => {
    const cases = sessionCases(() => ({ load: () => ({ uid: 'x', length: 7, offset: 0, entries: [] }) }));

    await expect(cases[0]?.run()).rejects.toMatchObject({
      code: 'ERR_STORE_CONTRACT',
      expected: undefined,
      found: { length: 7 },
      message: expect.stringContaining(
        'expected equal to undefined, got {"uid":"x","length":7,"offset":0,"entries":[]}',
      ),
    });
  });

  test('closes each store, also after a failed case', async () => {
    const closed: unknown[] = [];
    const open = () => storeOver(new MemorySessionStore(), { load: () => Promise.reject(new TypeError('broken')) });
    const [first] = sessionStoreContract({ open, close: (store) => closed.push(store) });

    await expect(first?.run()).rejects.toThrow('broken');
    expect(closed).toHaveLength(1);
  });
});

const stateFaults: Record<string, readonly [(inner: StateStore) => Partial<StateStore>, RegExp]> = {
  'ignores `ifValue`': [
    (inner) => ({ set: (scope, { ifValue: _ifValue, ...entry }, policy) => inner.set(scope, entry, policy) }),
    /ifValue/,
  ],
  'ignores the limit of a session': [
    (inner) => ({ set: (scope, entry, policy) => inner.set(scope, entry, { ...policy, sessionBytes: 1_000_000 }) }),
    /limit of a session/,
  ],
  'joins ids with a colon': [
    (inner) => {
      const joined = ({ extension, session }: { extension: string; session: string }) => ({
        extension: '',
        session: `${extension}:${session}`,
      });
      return {
        get: (scope, key, policy) => inner.get(joined(scope), key, policy),
        set: (scope, entry, policy) => inner.set(joined(scope), entry, policy),
        clear: (scope, key) => inner.clear(joined(scope), key),
      };
    },
    /similar scopes/,
  ],
  'does not renew a value that is read': [
    (inner) => ({
      get: (scope, key, policy) => inner.get(scope, key, { ...policy, ttlMs: 1 }),
    }),
    /restart its lifetime/,
  ],
};

describe('stateStoreContract', () => {
  test.each(Object.entries(stateFaults))('finds a store that %s', async (_fault, [change, title]) => {
    const clock = sessionClock();
    const open = (): StateStore => {
      const inner = new MemoryStateStore({ clock });
      const changed = change(inner) as Record<string, unknown>;
      return new Proxy(inner, {
        get: (target, name) => {
          const value = changed[String(name)] ?? Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    };
    const cases = stateStoreContract({ open, unitMs: 60_000, pass: (ms) => clock.advance(ms) });

    const { names } = await failuresOf(cases);

    expect(names).toEqual(expect.arrayContaining([expect.stringMatching(title)]));
  });

  test('has a unit of 150 ms by default', async () => {
    const passedIn = async (options: { readonly unitMs?: number }) => {
      const clock = sessionClock();
      const passed: number[] = [];
      const pass = (ms: number) => {
        passed.push(ms);
        return clock.advance(ms);
      };
      const cases = stateStoreContract({ open: () => new MemoryStateStore({ clock }), pass, ...options });
      await cases.find(({ name }) => name.startsWith('an unused value expires'))?.run();
      return passed;
    };

    const passed = await passedIn({});

    expect(passed.length).toBeGreaterThan(0);
    expect(passed).toEqual((await passedIn({ unitMs: 1 })).map((ms) => ms * 150));
  });
});
