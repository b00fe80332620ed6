import { getEventListeners } from 'node:events';
import type { ModelPart, ModelRequest } from 'keelson';
import { delays, fails, hangs, says, scriptedModel, streams } from 'keelson/testing';
import { describe, expect, it } from 'vitest';

function request(fields: Partial<ModelRequest> = {}): ModelRequest {
  return { messages: [{ role: 'user', content: 'Hello' }], tools: [], ...fields };
}

/** A clock that the test advances. */
function manualClock() {
  const timers = new Map<number, () => void>();
  let last = 0;
  return {
    now: () => 0,
    setTimeout: (callback: () => void) => {
      last += 1;
      timers.set(last, callback);
      return last;
    },
    clearTimeout: (handle: unknown) => void timers.delete(handle as number),
    fire() {
      for (const callback of timers.values()) callback();
    },
    pending: () => timers.size,
  };
}

describe('a scripted model that streams', () => {
  it('sends reasoning and text in up to three deltas each, cut between characters', async () => {
    const parts: ModelPart[] = [];
    const model = scriptedModel([says('👍🏽ab👍c', { reasoning: 'Hm' }), says('')]);

    await model.generate(request({ onPart: (part) => parts.push(part) }));
    await model.generate(request({ onPart: (part) => parts.push(part) }));

    expect(parts).toEqual([
      { type: 'reasoning-delta', text: 'H' },
      { type: 'reasoning-delta', text: 'm' },
      { type: 'text-delta', text: '👍🏽' },
      { type: 'text-delta', text: 'ab' },
      { type: 'text-delta', text: '👍c' },
    ]);
  });

  it('sends the parts of a step unchanged, and answers with the joined text', async () => {
    const parts: ModelPart[] = [];
    const model = scriptedModel([streams([{ type: 'reasoning-delta', text: 'Hm' }, 'He', '', 'llo'])]);

    const response = await model.generate(request({ onPart: (part) => parts.push(part) }));

    expect(parts.map((part) => part.text)).toEqual(['Hm', 'He', '', 'llo']);
    expect(response.content).toEqual([
      { type: 'reasoning', text: 'Hm' },
      { type: 'text', text: 'Hello' },
    ]);
  });

  it('answers with the joined text if nobody listens', async () => {
    const model = scriptedModel([streams(['He', 'llo'])]);

    expect((await model.generate(request())).content).toEqual([{ type: 'text', text: 'Hello' }]);
  });

  it('continues with another step after the parts, and sends nothing twice', async () => {
    const parts: ModelPart[] = [];
    const model = scriptedModel([streams(['He'], fails('lost')), streams(['He'], 'Hello')]);

    await expect(model.generate(request({ onPart: (part) => parts.push(part) }))).rejects.toThrow('lost');
    const response = await model.generate(request({ onPart: (part) => parts.push(part) }));

    expect(parts).toHaveLength(2);
    expect(response.content).toEqual([{ type: 'text', text: 'Hello' }]);
  });

  it('stops between two parts on an abort', async () => {
    const controller = new AbortController();
    const parts: ModelPart[] = [];
    const model = scriptedModel([streams(['a', 'b', 'c'])]);

    const response = model.generate(
      request({
        signal: controller.signal,
        onPart: (part) => {
          parts.push(part);
          if (part.text === 'b') controller.abort('enough');
        },
      }),
    );

    await expect(response).rejects.toBe('enough');
    expect(parts).toHaveLength(2);
  });
});

describe('a scripted model with delays', () => {
  it('waits on the given clock and removes its abort listener', async () => {
    const clock = manualClock();
    const { signal } = new AbortController();
    const listeners = () => getEventListeners(signal, 'abort').length;
    const model = scriptedModel([delays(50, 'late')], { clock });

    const response = model.generate(request({ signal }));
    await Promise.resolve();
    expect([clock.pending(), listeners()]).toEqual([1, 1]);
    clock.fire();

    expect((await response).content).toEqual([{ type: 'text', text: 'late' }]);
    expect(listeners()).toBe(0);
  });

  it('ends a delay on an abort, and clears the timer', async () => {
    const clock = manualClock();
    const controller = new AbortController();
    const model = scriptedModel([delays(50, 'late')], { clock });

    const response = model.generate(request({ signal: controller.signal }));
    await Promise.resolve();
    controller.abort('stop');

    await expect(response).rejects.toBe('stop');
    expect(clock.pending()).toBe(0);
  });

  it('waits on the system clock by default', async () => {
    const model = scriptedModel([delays(1, 'late')]);

    expect((await model.generate(request())).content).toEqual([{ type: 'text', text: 'late' }]);
  });

  it('hangs until an abort', async () => {
    const controller = new AbortController();
    const model = scriptedModel([hangs()]);

    const response = model.generate(request({ signal: controller.signal }));
    controller.abort('stop');

    await expect(response).rejects.toBe('stop');
  });

  it('hangs for ever with `deaf` or without a signal', async () => {
    const controller = new AbortController();
    const model = scriptedModel([hangs({ deaf: true }), hangs()]);
    const both = Promise.race([model.generate(request({ signal: controller.signal })), model.generate(request())]);

    controller.abort();

    expect(await Promise.race([both, new Promise((resolve) => setTimeout(resolve, 5, 'still'))])).toBe('still');
  });

  it('notices an abort that came before a step began to wait', async () => {
    for (const entry of [hangs(), delays(50, 'late')]) {
      const controller = new AbortController();
      const model = scriptedModel([
        () => {
          controller.abort('early');
          return entry;
        },
      ]);

      await expect(model.generate(request({ signal: controller.signal }))).rejects.toBe('early');
    }
  });

  it('uses no step for a request that was aborted before', async () => {
    const model = scriptedModel(['once']);

    await expect(model.generate(request({ signal: AbortSignal.abort('before') }))).rejects.toBe('before');

    expect(model.requests).toHaveLength(1);
    expect((await model.generate(request())).content).toEqual([{ type: 'text', text: 'once' }]);
  });
});
