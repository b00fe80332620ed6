import fc from 'fast-check';
import { Agent, type AgentLifecycle, HookAction, type RunContext, type Tool } from 'keelson';
import { retryModelCalls } from 'keelson/lifecycles';
import { calls, fails, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { fastClock } from '../../support/agent/fake-clock.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';

const prompt = { prompt: 'p' };

/** Fails once in each run. An attempt has the array of messages of the attempt before. */
function failsOnce(): ScriptEntry {
  const asked = new WeakSet<readonly unknown[]>();
  return ({ messages }) => {
    if (asked.has(messages)) return 'ok';
    asked.add(messages);
    return fails(Object.assign(new Error('busy'), { status: 503 }));
  };
}

/** Writes down which hook was called, and in which run. */
type Note = (run: RunContext, line: string) => void;

/** Notes each call of its hooks, and the end of each wrapped call. */
function noting(name: string, priority: number, note: Note): AgentLifecycle {
  const around = async <Result>({ run, id }: { run: RunContext; id?: string }, next: () => Promise<Result>) => {
    const what = id ?? 'model';
    note(run, `${name}( ${what}`);
    try {
      const result = await next();
      note(run, `)${name} ${what}`);
      return result;
    } catch (error) {
      note(run, `!${name} ${what}`);
      throw error;
    }
  };
  return {
    name,
    priority,
    beforeAgent: (_input, run) => note(run, `${name} beforeAgent`),
    beforeModel: (_messages, run) => note(run, `${name} beforeModel`),
    wrapModelCall: (request, next) => around(request, next),
    afterModel: (_response, run) => note(run, `${name} afterModel`),
    wrapToolCall: (call, next) => around(call, next),
    afterAgent: (_text, run) => note(run, `${name} afterAgent`),
    onError: (_error, run) => note(run, `${name} onError`),
  };
}

const pair = (hook: string) => [`A ${hook}`, `B ${hook}`];
const model = ['A( model', 'B( model', ')B model', ')A model'];
const turn = [...pair('beforeModel'), ...model, ...pair('afterModel')];
const call = (id: string) => [`A( ${id}`, `B( ${id}`, `)B ${id}`, `)A ${id}`];

// covers: S4-FR4.AC1, S4-FR4.7, S4-FR5.1, S4-FR5.2
test('each run has its own chain, three levels deep, and an outer hook sees the outer call only', async () => {
  const lines: string[] = [];
  const note: Note = ({ agent }, line) => void lines.push(`${agent}: ${line}`);
  const lifecycle = [noting('A', 50, note), noting('B', 20, note)];
  const agent = (name: string, script: readonly ScriptEntry[], tools: readonly Tool[] = []) =>
    new Agent({ name, model: scriptedModel(script), tools, lifecycle });
  const scout = agent('scout', ['ok']).asTool({ description: 'Helps.' });
  const pilot = agent('pilot', [calls({ name: 'scout', id: 'b', input: prompt }), 'ok'], [scout]);
  const script = [calls({ name: 'pilot', id: 'a', input: prompt }), 'ok'];

  await agent('captain', script, [pilot.asTool({ description: 'Helps.' })]).run('go');

  const of = (name: string, ...some: readonly string[]) => some.map((line) => `${name}: ${line}`);
  expect(lines).toEqual([
    ...of('captain', ...pair('beforeAgent'), ...turn, 'A( a', 'B( a'),
    ...of('pilot', ...pair('beforeAgent'), ...turn, 'A( b', 'B( b'),
    ...of('scout', ...pair('beforeAgent'), ...turn, ...pair('afterAgent')),
    ...of('pilot', ')B b', ')A b', ...turn, ...pair('afterAgent')),
    ...of('captain', ')B a', ')A a', ...turn, ...pair('afterAgent')),
  ]);
});

/** One agent of a tree, and the agents that it calls. `twice` calls each of them two times at once. */
interface Planned {
  readonly fate: 'fine' | 'retried' | 'broken model' | 'rejected' | 'without calls' | 'responds';
  readonly throws: boolean;
  readonly twice: boolean;
  readonly inside: readonly Planned[];
}

const { tree } = fc.letrec<{ tree: Planned }>((tie) => ({
  tree: fc.record({
    fate: fc.constantFrom('fine', 'retried', 'broken model', 'rejected', 'without calls', 'responds'),
    throws: fc.boolean(),
    twice: fc.boolean(),
    inside: fc.oneof({ depthSize: 'small', maxDepth: 3 }, fc.constant([]), fc.array(tie('tree'), { maxLength: 3 })),
  }),
}));

/** The ids of the calls that an agent makes in its first turn, each with the agent that it calls. */
function callsOf({ throws, twice, inside }: Planned): readonly (readonly [id: string, called: Planned | undefined])[] {
  const times = twice ? [0, 1] : [0];
  const asked = inside.flatMap((called, index) => times.map((time) => [`c${index}${time}`, called] as const));
  return throws ? [...asked, ['broken', undefined]] : asked;
}

const broken = toolOf('broken', () => {
  throw new RangeError('out of range');
});

/** A hook of its own, inside of A and around B, that does what the fate says. */
const FATES: Partial<Record<Planned['fate'], AgentLifecycle>> = {
  rejected: { beforeModel: () => HookAction.reject('too dark') },
  responds: { beforeAgent: () => HookAction.respond('no need') },
  'without calls': { wrapToolCall: () => ({ content: 'not today', isError: true }) },
};

function lastStep(fate: Planned['fate']): ScriptEntry {
  if (fate === 'retried') return failsOnce();
  return fate === 'broken model' ? fails() : 'ok';
}

function plant(planned: Planned, note: Note): Agent {
  const { fate, inside } = planned;
  const tools = inside.map((one, index) => plant(one, note).asTool({ name: `to${index}`, description: 'Helps.' }));
  const [first, ...rest] = callsOf(planned).map(([id, called]) =>
    called === undefined
      ? { name: 'broken', id, input: prompt }
      : { name: `to${inside.indexOf(called)}`, id, input: prompt },
  );
  const last = lastStep(fate);
  const script = first === undefined ? [last] : [calls(first, ...rest), last];
  return new Agent({
    model: scriptedModel(script, { perRun: true }),
    tools: [...tools, broken],
    clock: fastClock(),
    logger: keepingLogger(),
    lifecycle: [
      noting('A', 50, note),
      { name: 'fate', priority: 40, ...FATES[fate] },
      retryModelCalls({ maxRetries: 1 }),
      noting('B', 20, note),
    ],
  });
}

/** The last model call of a run, by its fate. */
const LAST: Partial<Record<Planned['fate'], readonly string[]>> = {
  retried: ['A( model', 'B( model', '!B model', 'B( model', ')B model', ')A model', ...pair('afterModel')],
  'broken model': ['A( model', 'B( model', '!B model', '!A model', ...pair('onError')],
};

/** The notes of a run without its tool calls. They follow from the agent alone, whatever it calls. */
function ownNotes(planned: Planned): readonly string[] {
  const { fate } = planned;
  if (fate === 'rejected') return [...pair('beforeAgent'), 'A beforeModel', ...pair('onError')];
  if (fate === 'responds') return ['A beforeAgent', 'A afterAgent'];
  const last = [...pair('beforeModel'), ...(LAST[fate] ?? [...model, ...pair('afterModel')])];
  const before = [...pair('beforeAgent'), ...(callsOf(planned).length > 0 ? turn : []), ...last];
  return fate === 'broken model' ? before : [...before, ...pair('afterAgent')];
}

/** Returns the notes that each run and each of its calls must have, by the ids of the calls that lead there. */
function expectedNotes(planned: Planned, path = ''): Record<string, readonly string[]> {
  const { fate } = planned;
  const notes: Record<string, readonly string[]> = { [path]: ownNotes(planned) };
  if (fate === 'rejected' || fate === 'responds') return notes;
  for (const [id, called] of callsOf(planned)) {
    const place = `${path}/${id}`;
    notes[`${place}:`] = fate === 'without calls' ? [`A( ${id}`, `)A ${id}`] : call(id);
    if (called !== undefined && fate !== 'without calls') Object.assign(notes, expectedNotes(called, place));
  }
  return notes;
}

// covers: S4-FR1.3, S4-FR4.7, S4-FR4.9, S4-FR5.1, S4-FR5.2, S4-TC2
test('any tree of agents: the hooks of each run follow from its own agent, whatever happens inside', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (planned) => {
      const seen: Record<string, string[]> = {};
      const known = new Map<string, RunContext>();
      const note: Note = (run, line) => {
        const path = (run.path ?? []).map((id) => `/${id}`).join('');
        // All hooks of a run get the same object.
        expect(known.get(path) ?? run).toBe(run);
        known.set(path, run);
        const [, id] = /^[AB!)(]+ (c\d+|broken)$/.exec(line) ?? [];
        const place = id === undefined ? path : `${path}/${id}:`;
        seen[place] = [...(seen[place] ?? []), line];
      };

      await plant(planned, note)
        .run('go')
        .catch(() => {});

      expect(seen).toEqual(expectedNotes(planned));
    }),
    { numRuns: 100 },
  );
});
