import { Agent, type AgentLifecycle, MemorySessionStore, toolResult } from 'keelson';
import { limits, retryModelCalls } from 'keelson/lifecycles';
import { mcpServers } from 'keelson/mcp';
import { calls, scriptedModel } from 'keelson/testing';
import type { Finding } from 'keelson/trace';
import { z } from 'zod';
import { advancing } from '../agent/advancing.js';
import { fakeClock } from '../agent/fake-clock.js';
import { toolOf } from '../agent/sample-tools.js';
import { keepingLogger } from '../agent/silent-logger.js';

/** A run that goes wrong, and the words in which a person would blame its cause. */
export interface FailingRun {
  readonly title: string;
  /** Runs with a lifecycle on the outermost agent, and others on the agents inside. A rejection of the run is expected. */
  run(lifecycle: AgentLifecycle, inside?: readonly AgentLifecycle[]): Promise<unknown>;
  /** The first finding of `explain`. */
  readonly says: Pick<Finding, 'kind' | 'by'> & { readonly text: RegExp };
}

const failure = (hints: object) => Object.assign(new Error('busy'), hints);
const always = (thrown: Error) => scriptedModel(() => Promise.reject(thrown));
const quiet = { logger: keepingLogger() };

export const FAILING_RUNS: readonly FailingRun[] = [
  {
    title: 'a tool that throws two levels down',
    async run(trace, lifecycle = []) {
      const pay = toolOf('pay', () => {
        throw new RangeError('The card was declined.');
      });
      const clerk = new Agent({
        name: 'clerk',
        model: scriptedModel([calls('pay'), 'Not paid.']),
        tools: [pay],
        lifecycle,
      });
      const ask = clerk.asTool({ description: 'Pays.' });
      const desk = new Agent({
        name: 'desk',
        model: scriptedModel([calls({ name: 'clerk', input: { prompt: 'Pay.' } }), 'The clerk failed.']),
        tools: [ask],
        lifecycle,
      });
      const boss = new Agent({
        name: 'boss',
        model: scriptedModel([calls({ name: 'desk', input: { prompt: 'Pay.' } }), 'Nothing was paid.']),
        tools: [desk.asTool({ description: 'Asks the clerk.' })],
        lifecycle: [trace],
      });
      await boss.run('Pay the bill.');
    },
    says: {
      kind: 'failed-call',
      by: { kind: 'tool', name: 'pay' },
      text: /^Tool "pay" of agent "clerk" threw RangeError: The card was declined\. \(at .*failing-runs\.ts/,
    },
  },
  {
    title: 'a call that a guard denies',
    async run(trace) {
      const guard: AgentLifecycle = {
        name: 'guard',
        wrapToolCall: ({ name }, next) =>
          name === 'pay' ? toolResult({ content: 'Payments are off today.', isError: true }) : next(),
      };
      const model = scriptedModel([calls('pay'), 'Not paid.']);
      await new Agent({ name: 'clerk', model, tools: [toolOf('pay', () => 'paid')], lifecycle: [trace, guard] }).run(
        'Pay.',
      );
    },
    says: {
      kind: 'denied-call',
      by: { kind: 'lifecycle', name: 'guard' },
      text: /^Lifecycle "guard" denied the call of "pay" of agent "clerk" in wrapToolCall: Payments are off today\./,
    },
  },
  {
    title: 'a limit of the outer agent that ends a nested run',
    async run(trace, lifecycle = []) {
      const clerk = new Agent({
        name: 'clerk',
        model: scriptedModel([calls('look'), calls('look'), 'Done.']),
        tools: [toolOf('look', () => 'nothing')],
        lifecycle,
      });
      const boss = new Agent({
        name: 'boss',
        model: scriptedModel([calls({ name: 'clerk', input: { prompt: 'Look.' } }), 'It was too much.']),
        tools: [clerk.asTool({ description: 'Looks.' })],
        lifecycle: [trace, limits({ modelCalls: 2 })],
      });
      await boss.run('Look around.').catch(() => {});
    },
    says: {
      kind: 'failure',
      by: { kind: 'lifecycle', name: 'limits' },
      text: /^Lifecycle "limits" rejected the run of agent "(boss|clerk)" in beforeModel: .*2 model calls/,
    },
  },
  {
    title: 'a model that stays overloaded after all retries',
    async run(trace) {
      const model = always(failure({ status: 529, kind: 'overloaded', retryable: true }));
      const lifecycle = [trace, retryModelCalls({ maxRetries: 2 })];
      const clock = fakeClock();
      const agent = new Agent({ name: 'clerk', model, lifecycle, clock, ...quiet });
      await advancing(
        clock,
        agent.run('Hi.').catch(() => {}),
      );
    },
    says: {
      kind: 'failure',
      by: { kind: 'model', name: 'scripted' },
      text: /^Model "scripted" of agent "clerk" failed \(overloaded, status 529\), 3 times: busy/,
    },
  },
  {
    title: 'an MCP server that cannot be started',
    async run(trace) {
      const servers = mcpServers({ servers: { files: { command: 'no-such-program-here' } }, waitForServers: false });
      const model = scriptedModel([calls('mcp__files__read'), 'There are no files.']);
      await using agent = new Agent({ name: 'clerk', model, lifecycle: [trace], loaders: [servers], ...quiet });
      await agent.run('Read the file.');
    },
    says: {
      kind: 'failed-call',
      by: { kind: 'server', name: 'files' },
      text: /^Agent "clerk" called "mcp__files__read", but server "files" was not connected/,
    },
  },
  {
    title: 'a hook that exceeds its time limit',
    async run(trace) {
      const slow: AgentLifecycle = {
        name: 'slow',
        timeoutMs: 50,
        beforeModel: () => new Promise(() => {}),
      };
      const clock = fakeClock();
      const agent = new Agent({
        name: 'clerk',
        model: scriptedModel(['Hi.']),
        lifecycle: [trace, slow],
        clock,
        ...quiet,
      });
      await advancing(
        clock,
        agent.run('Hi.').catch(() => {}),
      );
    },
    says: {
      kind: 'failure',
      by: { kind: 'lifecycle', name: 'slow' },
      text: /^Lifecycle "slow" failed in beforeModel of agent "clerk": it took longer than its time limit of 50 ms\./,
    },
  },
  {
    title: 'an answer that does not match the output schema',
    async run(trace) {
      const model = scriptedModel(['Forty euros.', 'About forty euros.']);
      const agent = new Agent({ name: 'clerk', model, lifecycle: [trace] });
      await agent.run('How much?', { output: z.object({ euro: z.number() }) }).catch(() => {});
    },
    says: {
      kind: 'failure',
      by: { kind: 'model', name: 'scripted' },
      text: /^Model "scripted" of agent "clerk" gave an answer that does not match `output`/,
    },
  },
  {
    title: 'a context that is too long because of one tool',
    async run(trace) {
      const dump = toolOf('dump', () => 'x'.repeat(50_000));
      const long = failure({ status: 400, kind: 'context-overflow' });
      const model = scriptedModel([calls('dump'), () => Promise.reject(long)]);
      await new Agent({ name: 'clerk', model, tools: [dump], lifecycle: [trace], ...quiet })
        .run('Dump.')
        .catch(() => {});
    },
    says: {
      kind: 'failure',
      by: { kind: 'tool', name: 'dump' },
      text: /^The context of agent "clerk" is longer than model "scripted" accepts: 3 messages\. Most of it is results of tool "dump": 500\d\d of \d+ characters\.$/,
    },
  },
  {
    title: 'a cache that a timestamp breaks',
    async run(trace) {
      let time = 0;
      const stamp: AgentLifecycle = {
        name: 'stamp',
        wrapModelCall(request, next) {
          const [first, ...rest] = request.messages;
          time += 1;
          return next({
            ...request,
            messages: [{ role: 'user', content: `It is ${time} o'clock.` }, ...(first ? [first] : []), ...rest],
          });
        },
      };
      const usage = { inputTokens: 4_000, outputTokens: 10, cachedInputTokens: 0 };
      const model = scriptedModel([calls('look'), 'Done.'], { usage });
      const tools = [toolOf('look', () => 'nothing')];
      await new Agent({ name: 'clerk', model, tools, lifecycle: [trace, stamp] }).run('Look.');
    },
    says: {
      kind: 'cache-miss',
      by: { kind: 'lifecycle', name: 'stamp' },
      text: /^The service read 0 of 4000 tokens of agent "clerk" from its cache: message 0 was changed by lifecycle "stamp"\.$/,
    },
  },
  {
    title: 'a session that another process deletes',
    async run(trace) {
      const store = new MemorySessionStore();
      const wipe = toolOf('wipe', async () => {
        await store.delete('s');
        return 'deleted';
      });
      const model = scriptedModel([calls('wipe'), 'Done.']);
      const agent = new Agent({ name: 'clerk', model, tools: [wipe], lifecycle: [trace], store, ...quiet });
      await using session = await agent.session({ id: 's' });
      await session.run('Wipe.').catch(() => {});
    },
    says: {
      kind: 'failure',
      by: { kind: 'store', name: 'session' },
      text: /^Another run took over the session of agent "clerk": .*"s"/,
    },
  },
];
