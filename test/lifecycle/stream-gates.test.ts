import { Agent, type AgentLifecycle, type Model, type ModelPart } from 'keelson';
import { scriptedModel, streams } from 'keelson/testing';
import { describe, expect, it } from 'vitest';

/** Runs an agent that streams `do` and `ne`, and returns the deltas. */
async function deltasWith(...lifecycle: readonly AgentLifecycle[]): Promise<string[]> {
  const deltas: string[] = [];
  const agent = new Agent({ model: scriptedModel([streams(['do', 'ne'])]), lifecycle });
  agent.on('text-delta', ({ text }) => void deltas.push(text));
  await agent.run('Hello');
  return deltas;
}

describe('a lifecycle with a function in `holdStream`', () => {
  const watching = (name: string, log: string[]): AgentLifecycle => ({
    holdStream: () => (part: ModelPart) => {
      if (part.type === 'text-delta') log.push(`${name}: ${part.text}`);
      return part;
    },
  });

  it('gets each part after the gates of the lifecycles before it', async () => {
    const log: string[] = [];

    const deltas = await deltasWith(watching('first', log), { holdStream: false }, watching('second', log));

    expect(deltas).toEqual(['do', 'ne']);
    expect(log).toEqual(['first: do', 'second: do', 'first: ne', 'second: ne']);
  });

  it('delays the text that its gate keeps back', async () => {
    expect(await deltasWith({ holdStream: () => () => undefined })).toEqual(['done']);
  });

  it('does not delay the text if the function returns no gate', async () => {
    expect(await deltasWith({ holdStream: () => undefined })).toEqual(['do', 'ne']);
  });

  it('gets no part if another lifecycle holds all text', async () => {
    const log: string[] = [];

    expect(await deltasWith(watching('first', log), { holdStream: true })).toEqual(['done']);
    expect(log).toEqual([]);
  });
});

describe('a `holdStream` function that fails', () => {
  const boom = new RangeError('boom');
  const invalid = expect.objectContaining({ code: 'ERR_HOOK_RESULT_INVALID' });
  const fail = () => {
    throw boom;
  };
  const streamed = streams(['do', 'ne']);
  /** Catches the errors of `onPart`, and goes on. */
  const deaf = (): Model => {
    const model = scriptedModel([streamed]);
    const generate: Model['generate'] = ({ onPart, ...request }) =>
      model.generate({ ...request, onPart: onPart && ((part) => void attempt(() => onPart(part))) });
    return { ...model, generate };
  };
  const attempt = (call: () => void) => {
    try {
      call();
    } catch {}
  };

  it.each([
    ['true', () => true, invalid],
    ['false', () => false, invalid],
    ['a promise', () => Promise.reject(boom), invalid],
    ['an error', fail, boom],
    ['a gate that throws', () => fail, boom],
  ])('ends the run with an error that names its lifecycle: %s', async (_what, holdStream, cause) => {
    for (const model of [scriptedModel([streamed]), deaf()]) {
      const deltas: string[] = [];
      const lifecycle = [{ name: 'bad', onFailure: 'continue', holdStream: holdStream as never }];
      const agent = new Agent({ model, lifecycle });
      agent.on('text-delta', ({ text }) => void deltas.push(text));

      const error = { code: 'ERR_LIFECYCLE_FAILED', lifecycle: 'bad', point: 'holdStream', cause };
      await expect(agent.run('Hello')).rejects.toMatchObject(error);
      expect(deltas).toEqual([]);
    }
  });
});
