import type { AgentLifecycle } from 'keelson';
import type { Budget } from './explorer.js';
import type { Scenario } from './scenario.js';
import {
  appends,
  both,
  branches,
  first,
  follows,
  forks,
  goesOn,
  resumes,
  runs,
  sends,
  sendsAndThen,
  stops,
  stopsWaiting,
} from './scripts.js';

const auto = { c1: 0 };
const ask = { c1: 1 };

/** Two switches that were not forced, or one fault of any kind. */
const SMALL: readonly Partial<Budget>[] = [{ switch: 2 }, { crash: 1 }, { jump: 1 }, { lost: 1 }, { late: 1 }];

/** Summarises what lies before the latest message of the person, once in a run. */
function summarises(): AgentLifecycle {
  const done = new WeakSet<object>();
  return {
    name: 'summarises',
    beforeModel(messages, run) {
      if (done.has(run) || messages.length < 4) return;
      done.add(run);
      run.summarize({ text: 'Before.', from: messages.findLast(({ role }) => role === 'user') });
    },
  };
}

/** The scenarios. Three processes get smaller budgets than two, and `npm run soak` gives all of them larger ones. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  'a message steers': {
    calls: auto,
    processes: { A: runs('m1'), B: sends('m2') },
    isHeard: true,
    budgets: SMALL,
  },
  'an urgent message': {
    calls: auto,
    processes: { A: runs('m1'), B: sends('m2', { when: 'now' }) },
    isHeard: true,
    budgets: SMALL,
  },
  'runs queue': {
    calls: auto,
    processes: { A: both(runs('m1'), runs('m3')), B: runs('m2'), P: appends },
    budgets: [{ switch: 1 }, { jump: 1 }, { lost: 1 }],
  },
  'one message twice': {
    calls: auto,
    processes: { A: runs('m1'), B: runs('m1') },
    budgets: SMALL,
  },
  'one message is run and sent': {
    calls: auto,
    processes: { A: runs('m1'), B: sends('m1') },
    budgets: SMALL,
  },
  'a message is taken back': {
    calls: {},
    processes: { A: runs('m1'), B: sendsAndThen('m2', 'cancel') },
    budgets: SMALL,
  },
  'a message is edited': {
    calls: {},
    processes: { A: runs('m1'), B: sendsAndThen('m2', 'edit') },
    budgets: SMALL,
  },
  'a message while a call waits': {
    calls: ask,
    processes: { A: runs('m1'), R: resumes('approve'), B: sends('m2') },
    budgets: [{ switch: 1 }, { jump: 1 }],
  },
  'the person goes on': {
    calls: ask,
    processes: { A: runs('m1'), R: resumes('approve'), B: goesOn('m2') },
    budgets: [{ switch: 1 }, { crash: 1 }, { jump: 1 }],
  },
  'two decide': {
    calls: ask,
    processes: { A: runs('m1'), R: resumes('approve'), Q: resumes('deny') },
    budgets: [{ switch: 1 }, { crash: 1 }, { jump: 1 }, { lost: 1 }],
  },
  'a call asks twice': {
    calls: { c1: 2 },
    processes: { A: runs('m1'), R: resumes('approve') },
    budgets: SMALL,
  },
  'two calls': {
    calls: { c1: 0, c2: 1 },
    processes: { A: runs('m1'), R: resumes('approve') },
    budgets: SMALL,
  },
  'a call runs again': {
    calls: auto,
    processes: { A: runs('m1'), R: resumes('approve') },
    budgets: [...SMALL, { crash: 1, jump: 1 }],
  },
  'a stop': {
    calls: auto,
    processes: { A: runs('m1'), B: runs('m2'), X: stops },
    isHeard: true,
    budgets: [{ switch: 1 }, { jump: 1 }],
  },
  'a stop and a message': {
    calls: auto,
    processes: { A: runs('m1'), B: sends('m2'), X: stops },
    budgets: [{ switch: 1 }, { jump: 1 }],
  },
  'a reader': {
    calls: {},
    processes: { A: runs('m1'), B: sends('m2'), W: follows },
    log: true,
    budgets: [{ switch: 1 }, { jump: 1 }, { lost: 1 }],
  },
  'a reader of a dead run': {
    calls: {},
    processes: { A: runs('m1'), B: runs('m2'), W: follows },
    log: true,
    restarts: (name) => name !== 'A',
    budgets: [{ crash: 1 }, { jump: 1 }],
  },
  'a branch beside a call that waits': {
    calls: ask,
    processes: { A: runs('m1'), B: first(branches, runs('m2')), R: resumes('approve') },
    budgets: [{ switch: 1 }, { jump: 1 }],
  },
  'another question at the start': {
    calls: auto,
    processes: { A: runs('m1'), B: runs('m2', { at: null }) },
    budgets: SMALL,
  },
  'a summary': {
    calls: auto,
    processes: { A: first(runs('m1'), runs('m2')), B: sends('m3') },
    lifecycle: [summarises()],
    budgets: SMALL,
  },
  'a fork': {
    calls: ask,
    processes: { A: runs('m1'), R: resumes('approve'), F: forks },
    budgets: [{ switch: 1 }, { jump: 1 }],
  },
  'a call inside of an agent waits': {
    calls: {},
    inside: ask,
    processes: { A: runs('m1'), R: resumes('approve') },
    budgets: [{ switch: 1 }, { crash: 1 }, { jump: 1 }, { lost: 1 }],
  },
  'two decide on a call inside of an agent': {
    calls: {},
    inside: ask,
    processes: { A: runs('m1'), R: resumes('approve'), Q: resumes('deny') },
    budgets: [{ switch: 1 }, { jump: 1 }],
  },
  'a call inside of an agent runs again': {
    calls: {},
    inside: auto,
    processes: { A: runs('m1'), R: resumes('approve') },
    budgets: [{ switch: 1 }, { crash: 1 }, { jump: 1 }],
  },
  'a stop while an agent inside waits': {
    calls: {},
    inside: ask,
    processes: { A: runs('m1'), X: stopsWaiting, R: resumes('approve') },
    budgets: [{ switch: 1 }, { jump: 1 }],
  },
  'the person goes on while an agent inside waits': {
    calls: {},
    inside: ask,
    processes: { A: runs('m1'), B: goesOn('m2') },
    budgets: [{ switch: 1 }, { crash: 1 }, { jump: 1 }],
  },
};
