import type { AssistantPart } from '../../model/message.js';
import { ScriptedFailureError } from '../script/error.js';
import { calls, fails, hangs, responds, type ScriptEntry, says } from '../script/step.js';
import type { Scenario } from './trial.js';

const BRIEF_MS = 5;

/** A model whose every answer says which one it is, so that no two are taken for one another. */
function numbered(): ScriptEntry {
  let count = 0;
  return () => {
    count += 1;
    return says(`This is answer ${count}.`);
  };
}

/** Plays entries in turn, and the last one for ever: a lifecycle may ask a model more often than it is asked without. */
export function sequence(...entries: readonly ScriptEntry[]): ScriptEntry {
  let at = 0;
  return () => {
    at += 1;
    return (entries[at - 1] ?? entries.at(-1)) as ScriptEntry;
  };
}

/** A run with one answer. */
export function answerScenario(): Scenario {
  return { name: 'a run with one answer', script: numbered() };
}

/** A question with a picture, and an answer of every kind of part, one of a kind that nobody knows. */
export function partsScenario(): Scenario {
  const search = { type: 'tool-call', id: 'search_1', name: 'web_search', input: {}, providerExecuted: true } as const;
  const found = { type: 'tool-result', id: 'search_1', name: 'web_search', content: 'Found.' } as const;
  const content = [
    { type: 'reasoning', text: 'Let me think.' },
    { type: 'source', url: 'https://example.com' } as unknown as AssistantPart,
    ...[search, found],
    { type: 'file', data: new Uint8Array([1]), mediaType: 'application/octet-stream' },
    { type: 'text', text: 'Here it is.' },
  ];
  const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
  return {
    name: 'a run with parts of every kind',
    script: responds({ content, finishReason: 'stop', usage }),
    picture: true,
  };
}

/** Two turns with calls, and an answer. */
export function toolScenario(): Scenario {
  const echo = (value: number) => ({ name: 'trial_echo', input: { value } });
  return {
    name: 'a run that calls tools',
    script: sequence(calls(echo(1), echo(2), echo(3)), says('Once more.', { calls: [echo(4)] }), numbered()),
  };
}

/** Calls that throw, that nobody knows, that give nothing, and whose arguments are no JSON, beside one that works. */
export function toolErrorScenario(): Scenario {
  const malformed = { name: 'trial_echo', invalidInput: '{"value":' };
  const names = ['trial_throws', 'trial_missing', 'trial_gives_nothing', 'trial_echo'];
  return {
    name: 'a run whose tools fail',
    script: sequence(says('', { calls: [...names.map((name) => ({ name })), malformed] }), numbered()),
  };
}

/** A model that fails at every call, in a way that no retry would mend. */
export function modelErrorScenario(): Scenario {
  return { name: 'a run whose model fails', script: fails(new ScriptedFailureError('The model failed as scripted.')) };
}

/** A model that gives something that is no response. */
export function rubbishScenario(): Scenario {
  return { name: 'a run whose model gives rubbish', script: responds({ text: 'Hello.' }) };
}

/** A tool that takes too long. */
export function toolTimeoutScenario(): Scenario {
  return {
    name: 'a run whose tool takes too long',
    script: sequence(calls('trial_hangs'), numbered()),
    timeouts: { toolMs: BRIEF_MS },
  };
}

/** A model that takes too long at the first call. */
export function modelTimeoutScenario(): Scenario {
  return {
    name: 'a run whose model takes too long',
    script: sequence(hangs(), numbered()),
    timeouts: { modelMs: BRIEF_MS },
  };
}

/** Every scenario that ends by itself. */
export const ALL_SCENARIOS: readonly (() => Scenario)[] = [
  answerScenario,
  partsScenario,
  toolScenario,
  toolErrorScenario,
  modelErrorScenario,
  rubbishScenario,
  toolTimeoutScenario,
  modelTimeoutScenario,
];
