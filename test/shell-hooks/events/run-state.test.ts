import type { RunContext } from 'keelson';
import { expect, test } from 'vitest';
import { transcriptOf } from '../../../src/shell-hooks/events/event-fields.js';
import { RunStates } from '../../../src/shell-hooks/events/run-state.js';

/** Returns a run of a session, or without one, as far as a transcript needs it. */
function runOf(session: object | undefined): RunContext {
  return { session, messages: [], signal: new AbortController().signal } as unknown as RunContext;
}

test('a run adds its messages until the session has a later run, also after its end', () => {
  const states = new RunStates();
  const session = { id: 's1' };
  const [first, other, second] = [runOf(session), runOf({ id: 's2' }), runOf(session)];
  const messagesOf = (run: RunContext) => transcriptOf(run, states.of(run));
  const [ofFirst, ofOther] = [messagesOf(first), messagesOf(other)];
  states.closeOf(first);
  states.closeOf(other);
  expect([ofFirst(), ofOther()]).toEqual([[], []]);

  const ofSecond = messagesOf(second);
  expect([ofFirst(), ofSecond(), ofOther()]).toEqual([undefined, [], []]);
});

test('a run without a session adds nothing after its end', () => {
  const states = new RunStates();
  const run = runOf(undefined);
  const messages = transcriptOf(run, states.of(run));
  expect(messages()).toEqual([]);

  states.closeOf(run);
  expect([messages(), transcriptOf(run, states.of(run))()]).toEqual([undefined, undefined]);
});
