import type { RunContext } from 'keelson';
import { expect, test } from 'vitest';
import { RunStates } from '../../../src/shell-hooks/events/run-state.js';

/** Returns a run of a session, or without one, as far as a transcript needs it. */
function runOf(session: object | undefined): RunContext {
  return { session, messages: [], signal: new AbortController().signal } as unknown as RunContext;
}

/** Returns a function that returns the messages of a run for its transcript. */
function messagesFor(run: RunContext, states: RunStates) {
  const { transcript } = states.of(run).context;
  return () => transcript()?.model;
}

test('a run adds its messages until the session has a later run, also after its end', () => {
  const states = new RunStates();
  const session = { id: 's1' };
  const [first, other, second] = [runOf(session), runOf({ id: 's2' }), runOf(session)];
  const messagesOf = (run: RunContext) => messagesFor(run, states);
  const [ofFirst, ofOther] = [messagesOf(first), messagesOf(other)];
  states.of(first).close();
  states.of(other).close();
  expect([ofFirst(), ofOther()]).toEqual([[], []]);

  const ofSecond = messagesOf(second);
  expect([ofFirst(), ofSecond(), ofOther()]).toEqual([undefined, [], []]);
});

test('a run without a session adds nothing after its end', () => {
  const states = new RunStates();
  const run = runOf(undefined);
  const messages = messagesFor(run, states);
  expect(messages()).toEqual([]);

  states.of(run).close();
  expect([messages(), messagesFor(run, states)()]).toEqual([undefined, undefined]);
});
