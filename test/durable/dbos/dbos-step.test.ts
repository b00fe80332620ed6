import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DBOS } from '@dbos-inc/dbos-sdk';
import {
  Agent,
  type AgentOptions,
  type JsonValue,
  MemorySessionStore,
  type Message,
  type Model,
  ModelError,
  OptionInvalidError,
  RunAbortedError,
  type RunContext,
} from 'keelson';
import { type DbosDecisionRequest, DurableSetupError, dbosStep, durable } from 'keelson/durable';
import { approval } from 'keelson/lifecycles';
import { calls, says, scriptedModel } from 'keelson/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { fastClock } from '../../support/agent/fake-clock.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { aborted, gate, pause, rejectionOf } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { type DbosInProcess, launchDbos } from '../../support/durable/dbos-in-process.js';
import { type DbosSetup, startDbos } from '../../support/durable/dbos-service.js';
import { fileLog, linesOf } from '../../support/durable/file-log.js';
import { finishErrand } from '../../support/durable/finish-errand.js';
import type { KillOrder } from '../../support/durable/kill.js';
import { testStep } from '../../support/durable/step-contract.js';
import { twoAgents } from '../../support/durable/two-agents.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';

/** DBOSWorkflowCancelledError, which the SDK does not export. */
const CANCELLED = { dbosErrorCode: 24, workflowID: 'cancelled' };

// A process that was killed needs seconds to start again on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), 'keelson-dbos-'));

/** Makes an agent in a workflow. */
function agentOf(options: AgentOptions): Agent {
  return new Agent(durable({ step: dbosStep() }).options({ clock: fastClock(), logger: keepingLogger(), ...options }));
}

const turnOf = (messages: readonly Message[]) => messages.filter(({ role }) => role === 'assistant').length;

describeWithPostgres('dbosStep on a real PostgreSQL', () => {
  let service: DbosSetup;
  let dbos: DbosInProcess;

  beforeAll(async () => {
    service = await startDbos(folder);
    dbos = await launchDbos(service.postgres.url);
  });

  afterAll(async () => {
    // Undefined if the launch has failed.
    await dbos?.close();
    await service?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('an errand finishes after kills of the application, and runs no stored step again', async () => {
    // The kill waits for the steps `start`, `model 1` and the searches a and b.
    const kills: KillOrder[] = [
      { what: 'tool search c', phase: 'before', pid: 0, afterSteps: 4 },
      { what: 'tool pay 7', phase: 'after', pid: 0 },
    ];
    const path = join(folder, 'killed');
    const call = () => service.call('killed', kills);

    await finishErrand({ call, decide: service.decide, journal: () => service.journal('killed') }, path, kills);

    const works = fileLog(path).all();
    expect(linesOf(`${path}.kills`)).toEqual(['before tool search c', 'after tool pay 7']);
    // The searches a and b were stored when the process died, and c had not begun.
    expect(works.filter(({ what }) => what.startsWith('tool search'))).toHaveLength(3);
    expect(works.filter(({ what }) => what === 'tool pay 7')).toHaveLength(2);
  });

  testStep('dbosStep', async (id, program) => {
    let crashes = 0;
    let relaunched = 0;
    const crash = () => {
      crashes += 1;
      return new Promise<never>(() => {});
    };
    await dbos.start(id, () => program({ step: dbosStep(), crash }));
    const result = DBOS.retrieveWorkflow<JsonValue>(id);
    for (;;) {
      const { status } = (await result.getStatus()) ?? {};
      if (status === 'SUCCESS' || status === 'ERROR') return result.getResult();
      if (crashes > relaunched) {
        relaunched += 1;
        await dbos.relaunch();
      }
      await pause(10);
    }
  });

  describe('in one process', () => {
    test('a replay of all stored steps runs nothing again, with ids of its workflow and the time of the steps', async () => {
      const works: string[] = [];
      const seen: (readonly [id: string, time: number])[] = [];
      const look = toolOf('look', (_input, { idempotencyKey }) => {
        works.push(idempotencyKey);
        return { ['__proto__']: 1, constructor: 'x', text: '\u0000', bytes: new Uint8Array([1, 2]) };
      });
      const body = async () => {
        const model = scriptedModel(works.length > 0 ? [] : [calls({ name: 'look', id: 'one' }), says('Done.')]);
        const witness = {
          name: 'witness',
          afterAgent: (_: unknown, run: RunContext) => void seen.push([run.id, run.clock.now()]),
        };
        const clock = fastClock(works.length > 0 ? 50_000_000 : 1_000);
        const { history } = await agentOf({ model, tools: [look], lifecycle: [witness], clock }).run('Look.');
        return JSON.stringify(history);
      };
      const history = await (await dbos.start('replay', body)).getResult();
      const steps = await dbos.steps('replay');

      const replayed = await (await dbos.fork('replay', steps.length)).getResult();

      expect(steps).toEqual(['start', 'model 1', 'tool look one', 'model 2']);
      expect(works).toEqual(['run_replay_1:1:one']);
      expect(replayed).toBe(history);
      expect(seen).toEqual([
        ['run_replay_1', 1_000],
        ['run_replay-fork_1', 1_000],
      ]);
    });

    test('a run waits for decisions, refuses invalid ones, and goes on after a message of another client', async () => {
      const asked: DbosDecisionRequest[] = [];
      const issues = [{ message: 'must be at most 100' }];
      const check = (input: unknown) => (Object(input).euro > 100 ? { issues } : { value: input });
      const pay = { ...toolOf('pay', () => 'paid'), check };
      const body = async () => {
        // As in a bundled program.
        const step = dbosStep(DBOS);
        const model = scriptedModel([calls({ name: 'pay', id: 'one' }), says('Done.')]);
        const options = { model, tools: [pay], lifecycle: [approval({ tools: ['pay'] })], logger: keepingLogger() };
        const agent = new Agent(durable({ step }).options(options));
        const suspended = await agent.run('Pay.');
        const resume = await step.decisions(suspended, { notify: (request) => void asked.push(request) });
        return (await agent.run('', { messages: suspended.history, resume })).text;
      };
      const handle = await dbos.start('waits', body);

      const forged = { one: { result: 'paid' } };
      const changed = (euro: number) => ({ one: { approve: { euro } } });
      const all = [null, { two: 'approve' }, { one: 'perhaps' }, forged, changed(500), changed(30)];
      for (const [index, decisions] of all.entries()) {
        while (asked.length === index) await pause(5);
        await service.client.send('waits', decisions, asked[index]?.id);
      }

      expect(await handle.getResult()).toBe('Done.');
      expect(asked.map(({ id, workflowId, problem }) => [id, workflowId, problem])).toEqual([
        ['waits:decisions:1', 'waits', undefined],
        ['waits:decisions:2', 'waits', 'the decisions must be an object: { [callId]: "approve" }'],
        ['waits:decisions:3', 'waits', 'no call with the id "two" waits for a decision; waiting: one'],
        [
          'waits:decisions:4',
          'waits',
          "the decision on \"one\" must be 'approve', 'deny', { deny: reason }, { approve: input } or { result }",
        ],
        ['waits:decisions:5', 'waits', expect.stringMatching(/^the decision on "one" must be .*, got a result/)],
        [
          'waits:decisions:6',
          'waits',
          expect.stringMatching(/^the decision on "one" must have .*: must be at most 100/),
        ],
      ]);
      expect(await dbos.steps('waits')).toContain('model 1, run 2');
    });

    test.each([
      { what: 'a retryable error', id: 'retryable', status: 503, attempts: 2 },
      { what: 'another error', id: 'final', status: 400, attempts: 1 },
    ])(
      'a model call with $what: $attempts of 2 attempts, and then the workflow fails with a ModelError',
      async ({ id, status, attempts }) => {
        let generated = 0;
        const model: Model = {
          id: 'broken',
          async generate() {
            generated += 1;
            throw Object.assign(new TypeError('The call failed.'), { status });
          },
        };
        const body = () => {
          const engine = durable({ step: dbosStep(), maxAttempts: 2 });
          return new Agent(engine.options({ model, clock: fastClock(), logger: keepingLogger() })).run('Hello.');
        };
        const error = await rejectionOf((await dbos.start(id, body)).getResult());

        const steps = await dbos.steps(id);
        expect(error).toBeInstanceOf(ModelError);
        expect(generated).toBe(attempts);
        expect(steps.filter((name) => name.startsWith('model'))).toHaveLength(attempts);
        expect((await DBOS.getWorkflowStatus(id))?.error).toMatchObject({ message: (error as Error).message });
      },
    );

    test('a cancel of the workflow aborts the model call and lets go of the session, and no other step begins', async () => {
      let signal: AbortSignal | undefined;
      const model: Model = {
        id: 'slow',
        generate: (request) => {
          signal = request.signal;
          return aborted(request.signal as AbortSignal);
        },
      };
      const store = new MemorySessionStore();
      let thrown: unknown;
      const body = async () => {
        try {
          await (await agentOf({ model, store }).session({ id: 's' })).run('Hello.');
        } catch (error) {
          thrown = error;
          throw error;
        }
      };
      const handle = await dbos.start('cancelled', body);
      const outcome = rejectionOf(handle.getResult());
      while (signal === undefined) await pause(5);
      await DBOS.cancelWorkflow('cancelled');

      expect(await outcome).toMatchObject(CANCELLED);
      expect(thrown).toBeInstanceOf(RunAbortedError);
      expect(thrown).toMatchObject({ cause: CANCELLED });
      expect(signal.aborted).toBe(true);
      expect(await handle.getStatus()).toMatchObject({ status: 'CANCELLED' });
      expect((await dbos.steps('cancelled')).at(-1)).toBe('session append 3');
      while ((await store.load('s'))?.holder !== undefined) await pause(5);
    });

    test('a shutdown of DBOS during a model call does not end the workflow: the next launch runs the call again', async () => {
      const held = gate();
      const model: Model = {
        id: 'held',
        async generate() {
          await held.pass();
          const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
          return { content: [{ type: 'text', text: `call ${held.arrived}` }], finishReason: 'stop', usage };
        },
      };
      const body = async () => {
        const stream = agentOf({ model }).stream('Hello.');
        return (await stream.result).text;
      };
      await dbos.start('shutdown', body);
      while (held.arrived === 0) await pause(5);
      await dbos.relaunch();
      while (held.arrived === 1) await pause(5);
      held.open();

      expect(await DBOS.retrieveWorkflow('shutdown').getResult({ pollingIntervalMs: 20 })).toBe('call 2');
      expect(await dbos.steps('shutdown')).toEqual(['start', 'model 1']);
    });

    test.each([
      {
        what: 'asks for another step',
        id: 'renamed',
        part: 'lifecycle "second"',
        agent: { lifecycle: ['audit', 'second'] },
      },
      { what: 'ends the run early', id: 'limited', part: 'ERR_TURN_LIMIT', agent: { maxTurns: 1 } },
    ])('a version that $what leaves the workflow pending, and a rollback goes on', async ({ id, part, agent }) => {
      const asked: DbosDecisionRequest[] = [];
      const works: string[] = [];
      const version =
        ({ lifecycle = ['second', 'audit'], maxTurns = 20 }: { lifecycle?: readonly string[]; maxTurns?: number }) =>
        async () => {
          const step = dbosStep();
          const engine = durable({ step, hooks: ['audit', 'second'] });
          const named = lifecycle.map((name) => ({ name, beforeAgent: () => void works.push(name) }));
          const made = engine.options({
            model: scriptedModel(
              ({ messages }) => [calls('look'), calls('pay'), says('Done.')][turnOf(messages)] ?? 'Over.',
            ),
            tools: ['look', 'pay'].map((name) => toolOf(name, () => name)),
            lifecycle: [approval({ tools: ['pay'] }), ...named],
            logger: keepingLogger(),
            maxTurns,
          });
          const worker = new Agent(made);
          const suspended = await worker.run('Pay.');
          const resume = await step.decisions(suspended, { notify: (request) => void asked.push(request) });
          return (await worker.run('', { messages: suspended.history, resume })).text;
        };
      await dbos.start(id, version({}));
      while (asked.length === 0) await pause(5);
      works.length = 0;

      dbos.deploy(id, version(agent));
      await dbos.relaunch();
      while (!dbos.lines.some((line) => line.includes(`"${id}" waits`) && line.includes(part))) await pause(5);

      expect(await DBOS.getWorkflowStatus(id)).toMatchObject({ status: 'PENDING' });
      expect(works).toEqual([]);
      dbos.deploy(id, version({}));
      await dbos.relaunch();
      await service.client.send(id, { [asked[0]?.pending[0]?.id ?? '']: 'approve' }, asked[0]?.id);
      expect(await DBOS.retrieveWorkflow(id).getResult({ pollingIntervalMs: 20 })).toBe('Done.');
      expect(works).toEqual(['second', 'audit']);
    });

    test('a replay of two agents at once begins their steps in the same order', async () => {
      const works: string[] = [];
      const body = () => twoAgents(dbosStep(), (key) => works.push(key));
      const results = await (await dbos.start('two', body)).getResult();
      const steps = await dbos.steps('two');
      works.length = 0;

      for (const stored of [steps.length, 9, 6]) {
        const fork = await dbos.fork('two', stored, `two-${stored}`);
        expect(await fork.getResult(), `${stored} steps`).toEqual(results);
        expect((await dbos.steps(`two-${stored}`)).slice(0, stored)).toEqual(steps.slice(0, stored));
      }
      expect(works.every((key) => !key.startsWith(`run_two-${steps.length}_`))).toBe(true);
    });

    test('steps of parallel runs have different names', async () => {
      const body = async () => {
        const engine = durable({ step: dbosStep() });
        const agents = ['a', 'b'].map((text) => new Agent(engine.options({ model: scriptedModel([says(text)]) })));
        const results = await Promise.all(agents.map((agent) => agent.run('Hello.')));
        return results.map(({ text }) => text);
      };

      expect(await (await dbos.start('parallel', body)).getResult()).toEqual(['a', 'b']);
      expect(await dbos.steps('parallel')).toEqual(['start', 'model 1', 'model 1, run 2']);
    });

    test('refuses to make steps outside of a workflow and inside of a step', async () => {
      expect(() => dbosStep()).toThrow(DurableSetupError);
      expect(() => dbosStep()).toThrow('`dbosStep()` was called outside a DBOS workflow');
      const body = () => DBOS.runStep(async () => dbosStep().id, { name: 'mine' });

      expect(await rejectionOf((await dbos.start('inside', body)).getResult())).toBeInstanceOf(DurableSetupError);
    });

    test('refuses to run a step of one workflow in another workflow or in a step', async () => {
      let agent!: Agent;
      const make = async () => {
        agent = agentOf({ model: scriptedModel(says('Hello.')) });
      };
      await (await dbos.start('maker', make)).getResult();
      const borrow = () => agent.run('Hello.');
      const inStep = async () => {
        await make();
        return DBOS.runStep(() => agent.run('Hello.'), { name: 'mine' });
      };

      const elsewhere = await rejectionOf((await dbos.start('borrower', borrow)).getResult());
      const inside = await rejectionOf((await dbos.start('nested', inStep)).getResult());
      expect(elsewhere).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: { code: 'ERR_DURABLE_SETUP' } });
      expect(String((elsewhere as Error).cause)).toContain(
        'Step "start" of workflow "maker" began in workflow "borrower".',
      );
      expect(String((inside as Error).cause)).toContain('began inside another step');
    });

    test('refuses an SDK that is not the DBOS class', () => {
      expect(() => dbosStep({} as never)).toThrow(OptionInvalidError);
      expect(() => dbosStep({} as never)).toThrow('`dbos.isInWorkflow` ');
    });
  });
});
