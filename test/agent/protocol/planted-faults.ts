import type { Entry } from 'keelson';
import { MemoryRunLog } from 'keelson/ui';
import { Claim } from '../../../src/agent/session/claim.js';
import { Mailbox } from '../../../src/agent/session/mailbox.js';
import { SessionRecorder } from '../../../src/agent/session/recorder.js';
import { Decisions } from '../../../src/state/record/decisions.js';
import { StoredLog } from '../../../src/state/stored-log.js';
import type { DirectStore } from './gated-store.js';
import { nestedFaults } from './nested-faults.js';
import { decidesInTwo, type Method, type PlantedFault, replace } from './plant.js';

/** Appends with the token of the owner, whoever asks. */
function withoutFence(store: DirectStore): Partial<DirectStore> {
  let token = '';
  return {
    claim(id, claim) {
      const answer = store.claim(id, claim);
      if (answer.claimed) token = claim.token;
      return answer;
    },
    append: (id, append) => store.append(id, { ...append, token }),
  };
}

/** Marks a post, and adds its message without the mark. */
function marksFirst(
  this: Mailbox,
  run: { conversation: { push(message: unknown): void } },
  post: { id: string; message: unknown },
) {
  const { claim, now, runId } = (this as unknown as { start: { claim: Claim; now(): number; runId: string } }).start;
  claim.add({
    id: `${post.id}:joined`,
    at: now(),
    run: runId,
    body: { type: 'dropped', post: post.id, why: 'joined' },
  });
  claim.flush().catch(() => {});
  run.conversation.push(post.message);
}

/** Says of interrupted calls that they did not run. */
function saysStopped(entry: Entry): Entry {
  const text = JSON.stringify(entry).replace(
    'The process stopped during this call; it may have happened.',
    'The call was stopped.',
  );
  return JSON.parse(text);
}

/** The faults, by name. */
export const plantedFaults: Readonly<Record<string, PlantedFault>> = {
  'an append needs no claim': {
    scenario: 'runs queue',
    budget: { switch: 2, jump: 1 },
    finds: 'appends without the claim',
    store: withoutFence,
  },
  'an append adds known entries again': {
    scenario: 'a message steers',
    budget: { lost: 1 },
    finds: 'is in the record twice',
    code: () =>
      replace(
        StoredLog.prototype,
        'add',
        () =>
          function (this: StoredLog, entry: Entry, now: number) {
            this.put(entry, now);
            return true;
          },
      ),
  },
  'a release ignores new posts': {
    scenario: 'a message steers',
    budget: { switch: 1 },
    finds: 'ends with an answer, and message m2, which was sent to it, waits',
    store: (store) => ({
      append: (id, append) => store.append(id, { ...append, ...(append.release && { length: 1_000_000 }) }),
    }),
  },
  'a post is added again': {
    scenario: 'a message steers',
    budget: { crash: 1 },
    finds: 'message m2 is said twice',
    store: (store, world) => ({
      post(id, post) {
        const isKnown = world.entries(id).some((entry) => entry.id === post.id);
        return store.post(id, isKnown ? { ...post, id: `${post.id} again` } : post);
      },
    }),
  },
  'a stop names no run': {
    scenario: 'a stop',
    budget: { switch: 3 },
    finds: 'is stopped by a stop that names another run',
    store: (store, world) => ({
      post(id, post) {
        const { body } = post;
        const run = world.holder;
        if (body.type !== 'post' || body.post.type !== 'stop' || run === undefined) return store.post(id, post);
        return store.post(id, { ...post, body: { ...body, post: { ...body.post, run } } });
      },
    }),
  },
  'a claim ignores the time': {
    scenario: 'runs queue',
    budget: { switch: 1 },
    finds: 'gets the claim before that of',
    code: () =>
      replace(
        StoredLog.prototype,
        'claim',
        (original) =>
          function (this: StoredLog, ...given: unknown[]) {
            this.held = undefined;
            return original.apply(this, given);
          } as Method,
      ),
  },
  'a renewal takes back a lost claim': {
    scenario: 'runs queue',
    budget: { switch: 2, jump: 1 },
    finds: 'renews a claim that it has lost',
    code: () =>
      replace(
        StoredLog.prototype,
        'renew',
        (original) =>
          function (this: StoredLog, ...given: unknown[]) {
            const [{ token }] = given as [{ token: string }];
            if (this.held !== undefined) this.held = { ...this.held, token };
            return original.apply(this, given);
          } as Method,
      ),
  },
  'a decision counts for ever': {
    scenario: 'a call asks twice',
    budget: {},
    finds: 'waits for a person, and is not shown as a question',
    code: () =>
      replace(
        Decisions.prototype,
        'undecidedIn',
        (original) =>
          function (this: Decisions, ...given: unknown[]) {
            const found = original.apply(this, given) as
              | { entry: string; calls: readonly { id: string }[] }
              | undefined;
            const { decided } = this as unknown as { decided: Map<string, unknown> };
            const isOpen = ({ id }: { id: string }) => !decided.has(JSON.stringify([found?.entry, id]));
            return found && { ...found, calls: found.calls.filter(isOpen) };
          } as Method,
      ),
  },
  'a message is marked before it joins': {
    scenario: 'a message steers',
    budget: { switch: 1, crash: 1 },
    finds: 'message m2 is dropped as "joined", and is not said',
    code: () => replace(Mailbox.prototype, 'push', () => marksFirst as Method),
  },
  'a key depends on the run': {
    scenario: 'a call runs again',
    budget: { crash: 1 },
    finds: 'have two keys',
    code: () =>
      replace(
        SessionRecorder.prototype,
        'callKey',
        () =>
          function (this: SessionRecorder, call: string) {
            return `${(this as unknown as { start: { runId: string } }).start.runId}:${call}`;
          } as Method,
      ),
  },
  'a denial and its result are two appends': {
    scenario: 'two decide',
    budget: {},
    finds: 'was denied, and is open',
    code: () => replace(SessionRecorder.prototype, 'decide', () => decidesInTwo as Method),
  },
  ...nestedFaults,
  'an interrupted call counts as stopped': {
    scenario: 'a message steers',
    budget: { crash: 1 },
    finds: 'has acted, and its result is "The call was stopped."',
    code: () =>
      replace(
        Claim.prototype,
        'add',
        (original) =>
          function (this: Claim, entry: Entry) {
            original.call(this, saysStopped(entry));
          } as Method,
      ),
  },
  'a run log adds events again': {
    scenario: 'a reader',
    budget: { switch: 1, lost: 1 },
    finds: 'sees an event of',
    code: () =>
      replace(
        MemoryRunLog.prototype,
        'append',
        (original) =>
          function (this: MemoryRunLog, ...[run, first, events]: unknown[]) {
            const { end } = original.call(this, run, first, []) as { end: number };
            return original.call(this, run, end, events);
          } as Method,
      ),
  },
  'a tool begins without a look at the claim': {
    scenario: 'a call runs again',
    budget: { switch: 1, jump: 1, late: 1 },
    finds: 'begins c1@A1 without the claim',
    code: () => replace(Claim.prototype, 'ready', () => () => undefined),
  },
};
