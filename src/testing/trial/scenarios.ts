import { ScriptedFailureError } from '../script/error.js';
import { calls, fails, hangs, responds, type ScriptEntry, says } from '../script/step.js';
import type { Scenario } from './trial.js';

const BRIEF_MS = 5;

/** Answers with a counter, so that all answers differ. */
function numbered(): ScriptEntry {
  let count = 0;
  return () => {
    count += 1;
    return says(`This is answer ${count}.`);
  };
}

/** Plays entries in order and repeats the last one, because a lifecycle may cause additional model calls. */
export function sequence(...entries: readonly ScriptEntry[]): ScriptEntry {
  let at = 0;
  return () => {
    at += 1;
    return (entries[at - 1] ?? entries.at(-1)) as ScriptEntry;
  };
}

const PARTS = [
  { type: 'reasoning', text: 'Let me think.' },
  { type: 'source', url: 'https://example.com' },
  { type: 'tool-call', id: 'search_1', name: 'web_search', input: {}, providerExecuted: true },
  { type: 'tool-result', id: 'search_1', name: 'web_search', content: 'Found.' },
  { type: 'file', data: new Uint8Array([1]), mediaType: 'application/octet-stream' },
  { type: 'text', text: 'Here it is.' },
];

const echo = (value: number) => ({ name: 'trial_echo', input: { value } });

/** The runs that the checks make. Each entry is a function, because a script may count its calls. */
export const SCENARIOS = {
  answer: () => ({ name: 'a run with one answer', script: numbered() }),
  /** A question with an image, answered with known parts of every kind and one unknown part. */
  parts: () => ({
    name: 'a run with parts of every kind',
    script: responds({
      content: PARTS,
      finishReason: 'stop',
      usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
    }),
    picture: true,
  }),
  /** Two turns with tool calls, then an answer. */
  tools: () => ({
    name: 'a run that calls tools',
    script: sequence(calls(echo(1), echo(2), echo(3)), says('Once more.', { calls: [echo(4)] }), numbered()),
  }),
  /**
   * Calls to a tool that throws, to an unknown tool, to a tool whose result is not JSON, and to a tool that works. The
   * last call has invalid arguments.
   */
  toolErrors: () => {
    const names = ['trial_throws', 'trial_missing', 'trial_gives_no_json', 'trial_echo'];
    const malformed = { name: 'trial_echo', invalidInput: '{"value":' };
    return {
      name: 'a run whose tools fail',
      script: sequence(says('', { calls: [...names.map((name) => ({ name })), malformed] }), numbered()),
    };
  },
  /** Fails at every call with an error that is not retryable. */
  modelError: () => ({
    name: 'a run whose model fails',
    script: fails(new ScriptedFailureError('The model failed as scripted.')),
  }),
  rubbish: () => ({ name: 'a run whose model gives an invalid response', script: responds({ text: 'Hello.' }) }),
  toolTimeout: () => ({
    name: 'a run whose tool takes too long',
    script: sequence(calls('trial_hangs'), numbered()),
    timeouts: { toolMs: BRIEF_MS },
  }),
  /** Only the first model call exceeds the time limit. */
  modelTimeout: () => ({
    name: 'a run whose model takes too long',
    script: sequence(hangs(), numbered()),
    timeouts: { modelMs: BRIEF_MS },
  }),
} satisfies Record<string, () => Scenario>;
