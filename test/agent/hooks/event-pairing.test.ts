import { Agent, type AgentEvent, type AgentLifecycle, type AgentOptions, HookAction } from 'keelson';
import { calls, fails, faultyTool, hangs, recorder, type ScriptEntry, says, scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { unpairedEvents } from '../../support/agent/event-pairs.js';
import { manualClock, settled } from '../../support/lifecycle/manual-clock.js';
import { add, keepingLogger } from '../../support/lifecycle/sample-agent.js';

interface Case {
  readonly title: string;
  readonly part?: AgentLifecycle;
  readonly script?: readonly ScriptEntry[];
  readonly options?: Partial<AgentOptions>;
  /** The expected events, without decisions. */
  readonly log: readonly string[];
}

const boom = () => Promise.reject(new RangeError('boom'));
const start = ['run-start', 'turn-start'];
const asking = ['model-start', 'model-end'];
const tool = ['tool-start', 'tool-end'];
const two = ['tool-start', 'tool-start', 'tool-end', 'tool-end'];
const ends = ['turn-end', 'run-end'];
const fault = ['turn-end', 'run-error', 'run-end'];
const both = [calls({ name: 'add', input: { a: 1, b: 2 } }, { name: 'throws' }), 'done'];

const cases: readonly Case[] = [
  { title: 'a beforeAgent throws', part: { beforeAgent: boom }, log: ['run-start', 'run-error', 'run-end'] },
  {
    title: 'a beforeAgent responds',
    part: { beforeAgent: () => HookAction.respond('no') },
    log: ['run-start', 'run-end'],
  },
  { title: 'a beforeModel throws', part: { beforeModel: boom }, log: [...start, ...fault] },
  { title: 'a beforeModel responds', part: { beforeModel: () => HookAction.respond('no') }, log: [...start, ...ends] },
  {
    title: 'a beforeToolSelection rejects',
    part: { beforeToolSelection: () => HookAction.reject('no') },
    log: [...start, ...fault],
  },
  { title: 'a wrapModelCall throws', part: { wrapModelCall: boom }, log: [...start, ...asking, ...fault] },
  {
    title: 'a wrapModelCall blocks',
    part: { onFailure: 'block', wrapModelCall: boom },
    log: [...start, ...asking, ...fault],
  },
  { title: 'the model fails', script: [fails()], log: [...start, ...asking, ...fault] },
  { title: 'an afterModel throws', part: { afterModel: boom }, log: [...start, ...asking, ...fault] },
  {
    title: 'an afterModel rejects',
    part: { afterModel: () => HookAction.reject('no') },
    log: [...start, ...asking, ...fault],
  },
  {
    title: 'an afterModel suspends',
    part: { afterModel: () => HookAction.suspend('ask') },
    script: both,
    log: [...start, ...asking, ...ends],
  },
  {
    title: 'a tool throws and another tool is unknown',
    script: [calls({ name: 'throws' }, { name: 'missing' }), 'done'],
    part: { wrapToolCall: async (_, next) => await next() },
    log: [...start, ...asking, ...two, 'turn-end', 'turn-start', ...asking, ...ends],
  },
  {
    title: 'a wrapToolCall throws while another call is running',
    script: both,
    part: { wrapToolCall: (call, next) => (call.name === 'throws' ? boom() : next()) },
    log: [...start, ...asking, ...two, ...fault],
  },
  {
    title: 'a wrapToolCall throws before the next call starts',
    script: both,
    part: {
      wrapToolCall: () => {
        throw new RangeError('boom');
      },
    },
    log: [...start, ...asking, ...tool, ...fault],
  },
  {
    title: 'a wrapToolCall suspends one of two',
    script: both,
    part: { wrapToolCall: async (call, next) => (call.name === 'throws' ? HookAction.suspend('ask') : next()) },
    log: [...start, ...asking, ...two, ...ends],
  },
  {
    title: 'a tool hook ends the run',
    script: both,
    part: {
      wrapToolCall: async (call, next) => {
        call.run.end(HookAction.respond('over'));
        return next();
      },
    },
    log: [...start, ...asking, ...tool, ...ends],
  },
  {
    title: 'an afterAgent throws',
    part: { afterAgent: boom },
    log: [...start, ...asking, 'turn-end', 'run-error', 'run-end'],
  },
  {
    title: 'the turn limit is reached',
    script: both,
    part: { wrapToolCall: async (_, next) => await next() },
    options: { maxTurns: 1 },
    log: [...start, ...asking, ...two, ...fault],
  },
];

function outlineOf(events: readonly AgentEvent[]): string[] {
  return events.map(({ type }) => type as string).filter((type) => type !== 'decision' && !type.endsWith('-delta'));
}

function agentOf({ part = {}, script = ['done'], options }: Omit<Case, 'title' | 'log'>) {
  const tools = [add, faultyTool('throws')];
  return new Agent({ model: scriptedModel(script), tools, lifecycle: [part], logger: keepingLogger(), ...options });
}

describe('start and end events pair up', () => {
  it.each(cases)('if $title', async ({ log, ...parts }) => {
    const agent = agentOf(parts);
    const record = recorder();
    record.listenTo(agent, { deltas: true });

    await agent.run('Hello').catch(() => {});
    await settled();

    expect(unpairedEvents(record.events)).toEqual([]);
    expect(outlineOf(record.events)).toEqual(log);
  });

  it.each(cases)('in a stream, if $title', async (parts) => {
    const events: AgentEvent[] = [];
    const stream = agentOf(parts).stream('Hello');
    const reading = (async () => {
      for await (const event of stream) events.push(event);
    })();
    await Promise.allSettled([reading, stream.result]);

    expect(unpairedEvents(events)).toEqual([]);
    expect(outlineOf(events)).toEqual(parts.log);
  });

  it('the check reports events that are not paired', () => {
    const event = (type: string, more: object = {}) => ({ type, runId: 'r', ...more }) as AgentEvent;

    expect(unpairedEvents([event('run-start'), event('turn-start'), event('run-end')])).toEqual([
      'turn without an end',
    ]);
    expect(unpairedEvents([event('run-start'), event('tool-end', { callId: 'a' }), event('run-end')])).toEqual([
      'tool-end of tool a without a start',
    ]);
    expect(unpairedEvents([event('run-start'), event('run-end'), event('text-delta')])).toEqual([
      'text-delta after the end',
    ]);
  });
});

describe('run-end is the last event', () => {
  it('also if an aborted tool continues and reports progress', async () => {
    const clock = manualClock();
    const slow = {
      ...add,
      name: 'slow',
      check: (value: unknown) => ({ value }),
      execute: (_: unknown, context: { progress(data: unknown): void }) =>
        new Promise((resolve) => {
          clock.setTimeout(() => resolve(context.progress(50)), 100);
        }),
    };
    const ender: AgentLifecycle = {
      wrapToolCall: (call, next) => {
        if (call.name === 'add') call.run.end(HookAction.respond('over'));
        return next();
      },
    };
    const model = scriptedModel([calls({ name: 'slow' }, { name: 'add', input: { a: 1, b: 2 } })]);
    const agent = new Agent({ model, tools: [slow, add], lifecycle: [ender], clock });
    const record = recorder();
    record.listenTo(agent, { deltas: true });
    await agent.run('Hello');

    await clock.advance(200);

    expect(unpairedEvents(record.events)).toEqual([]);
    expect(record.log.at(-1)).toBe('run-end');
  });

  it.each(['run', 'stream'] as const)('if the run is aborted: %s', async (how) => {
    const controller = new AbortController();
    const agent = agentOf({ script: [says('', { calls: [{ name: 'add', input: { a: 1, b: 2 } }] }), hangs()] });
    const record = recorder();
    record.listenTo(agent, { deltas: true });
    const given = { signal: controller.signal };
    const run = how === 'run' ? agent.run('Hello', given) : agent.stream('Hello', given).result;
    await settled();

    controller.abort('stop');

    await expect(run).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect(unpairedEvents(record.events)).toEqual([]);
    expect(record.log).toEqual([...[...start, ...asking, ...tool, 'turn-end', 'turn-start', ...asking, ...fault]]);
  });

  it('also if onError hooks are called', async () => {
    const record = recorder();
    const slowly = record.lifecycle('slowly', { only: ['onError'], onError: () => settled() });
    const agent = new Agent({ model: scriptedModel([fails()]), lifecycle: [slowly] });
    record.listenTo(agent);

    await agent.run('Hello').catch(() => record.listen({ type: 'run-end', runId: 'rejected' }));

    expect(record.log.slice(-4)).toEqual(['slowly.onError', 'run-error', 'run-end', 'run-end']);
  });
});
