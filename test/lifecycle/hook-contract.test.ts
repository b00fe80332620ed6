import { expect, test } from 'vitest';
import { Agent } from '../../src/agent/agent.js';
import { type AgentClass, type Clause, type ClauseName, hookContract } from '../support/lifecycle/hook-contract.js';
import { plantedAgent } from '../support/lifecycle/planted-library.js';

const clauses = Object.entries<Clause>(hookContract);

// covers: S4-FR1.2, S4-FR1.1.1, S4-FR1.1.2, S4-FR1.1.3, S4-FR1.1.4, S4-FR1.1.5, S4-FR1.1.6, S4-FR1.AC2
// covers: S4-FR2.2, S4-FR2.2a, S4-FR2.2b, S4-FR2.2c, S4-FR2.2d, S4-FR4.7, S4-FR4.9, S4-FR4.AC3
test.each(clauses)('%s', async (_title, clause) => {
  await clause(Agent);
});

test('all clauses hold for a rebuilt library without a fault', async () => {
  const Rebuilt = await plantedAgent([]);

  expect(Rebuilt).not.toBe(Agent);
  for (const [, clause] of clauses) await clause(Rebuilt);
});

interface Fault {
  readonly fault: string;
  /** The file, the source text to replace, and its replacement. */
  readonly plant: readonly [file: string, text: string | RegExp, replacement: string];
  readonly breaks: ClauseName;
}

/** Adds a lifecycle with a wrong default to the start of every chain. */
function faultyDefault(hook: string): Fault['plant'] {
  const entry = `{ lifecycle: { ${hook} }, name: 'default', priority: 50, onFailure: 'throw', status: { inert: false } }`;
  return [
    'lifecycle/chain.ts',
    /(export function compileChain\(\s*(\w+)[^{]*\{)/,
    `$1\n  $2 = [${entry} as never, ...$2];`,
  ];
}

const defaults: readonly Fault[] = [
  {
    fault: 'by default beforeAgent gives another input',
    plant: faultyDefault("beforeAgent: () => 'else'"),
    breaks: 'without beforeAgent the input stays',
  },
  {
    fault: 'by default beforeModel forgets the messages',
    plant: faultyDefault('beforeModel: (messages) => messages.slice(0, 1)'),
    breaks: 'without beforeModel the messages stay',
  },
  {
    fault: 'by default wrapModelCall calls the model twice',
    plant: faultyDefault('wrapModelCall: async (_, next) => (await next(), await next())'),
    breaks: 'without wrapModelCall the model is called once a turn',
  },
  {
    fault: 'by default afterModel changes the response',
    plant: faultyDefault(
      "afterModel: (response) => ({ type: 'modify', response: { ...response, content: [...response.content, ...response.content] } })",
    ),
    breaks: 'without afterModel the response stands',
  },
  {
    fault: 'by default wrapToolCall does not call the tool',
    plant: faultyDefault("wrapToolCall: () => ({ content: 'no' })"),
    breaks: 'without wrapToolCall the result of the tool stands',
  },
  {
    fault: 'by default afterAgent gives another text',
    plant: faultyDefault("afterAgent: () => ''"),
    breaks: 'without afterAgent the text stays',
  },
  {
    fault: 'a hook that returns nothing gives nothing',
    plant: [
      'lifecycle/waterfall.ts',
      'if (leave(point.name, entry, run)) return current;',
      "if (point.name === 'afterAgent') current = '' as never;\n    if (leave(point.name, entry, run)) return current;",
    ],
    breaks: 'without afterAgent the text stays',
  },
];

const orders: readonly Fault[] = [
  {
    fault: 'equal priorities run in reverse',
    plant: ['lifecycle/chain.ts', '[...registered].sort', '[...registered].reverse().sort'],
    breaks: 'hooks run in the order in which they were added',
  },
  {
    fault: 'wraps nest the wrong way round',
    plant: ['lifecycle/compose.ts', 'entries.reduceRight<', 'entries.reduce<'],
    breaks: 'wraps nest in that order, the first outermost',
  },
];

const actions: readonly Fault[] = [
  {
    fault: 'Continue counts as Approve',
    plant: ['lifecycle/waterfall.ts', "action.type === 'approve'", "action.type === 'continue'"],
    breaks: 'Continue goes on and is not on record',
  },
  {
    fault: 'Approve counts as Continue',
    plant: [
      'lifecycle/waterfall.ts',
      "if (action.type === 'approve')",
      "if (action.type === 'approve') return value;\n  else if (false)",
    ],
    breaks: 'Approve goes on and is on record',
  },
  {
    fault: 'Reject counts as Continue',
    plant: ['lifecycle/waterfall.ts', "else if (action.type !== 'continue')", "else if (action.type !== 'reject')"],
    breaks: 'Reject ends the run with its reason, without a later hook or a tool',
  },
  {
    fault: 'Respond counts as Continue',
    plant: ['lifecycle/waterfall.ts', "else if (action.type !== 'continue')", "else if (action.type !== 'respond')"],
    breaks: 'Respond ends the run with its text, without a later hook or a tool',
  },
  {
    fault: 'Suspend counts as Continue',
    plant: ['lifecycle/waterfall.ts', "else if (action.type !== 'continue')", "else if (action.type !== 'suspend')"],
    breaks: 'Suspend ends the run with its calls open',
  },
  {
    fault: 'Modify counts as Continue',
    plant: [
      'lifecycle/waterfall.ts',
      "if (action.type === 'modify')",
      "if (action.type === 'modify') return value;\n  if (false)",
    ],
    breaks: 'Modify puts another response in place of the first',
  },
];

const chains: readonly Fault[] = [
  {
    fault: 'the second hook of a point is dropped',
    plant: ['lifecycle/chain.ts', '{ point, entries: found }', '{ point, entries: found.slice(0, 1) }'],
    breaks: 'hooks run in the order in which they were added',
  },
  {
    fault: 'the second wrap is dropped',
    plant: ['lifecycle/chain.ts', 'compose(point, found, core)', 'compose(point, found.slice(0, 1), core)'],
    breaks: 'wraps nest in that order, the first outermost',
  },
  {
    fault: 'the value of a hook is not passed on',
    plant: [
      'lifecycle/waterfall.ts',
      'const value = current;\n    if (copy === undefined) copy = point',
      'const value = arguments[1] as T;\n    if (copy === undefined) copy = point',
    ],
    breaks: 'the value of a hook goes to the next one',
  },
  {
    fault: 'the result of a wrap is not passed on',
    plant: [
      'lifecycle/compose.ts',
      '      return result;\n    } catch',
      '      return this.given?.at(-1) ?? result;\n    } catch',
    ],
    breaks: 'a wrap may change what the call gives',
  },
];

const edges: readonly Fault[] = [
  {
    fault: 'the error of a hook is swallowed',
    plant: ['lifecycle/failure.ts', "if (entry.onFailure === 'throw') throw run.end.own(failure);", ''],
    breaks: 'what a hook throws ends the run and names the hook, the point and the cause',
  },
  {
    fault: 'an empty list crashes',
    plant: ['lifecycle/chain.ts', 'return found.length === 0 ? undefined : found;', 'return found[0].name, found;'],
    breaks: 'an agent without lifecycles, or with none, runs',
  },
];

async function planted({ plant: [file, text, replacement] }: Fault): Promise<AgentClass> {
  return plantedAgent([{ file, change: (source) => source.replace(text, replacement) }]);
}

// covers: S4-NFR4.1, S4-NFR4.2, S4-NFR4.3, S4-NFR4.5, S4-NFR4.6
test.each([...defaults, ...orders, ...actions, ...chains, ...edges])(
  'the contract reports the fault: $fault',
  async (fault) => {
    const Faulty = await planted(fault);

    await expect(hookContract[fault.breaks](Faulty)).rejects.toThrow();
  },
);
