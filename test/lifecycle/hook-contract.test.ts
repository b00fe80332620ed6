import { Agent, type AgentLifecycle, type AgentOptions, HookAction, type ToolResult } from 'keelson';
import { expect, test } from 'vitest';
import { type AgentClass, type Clause, type ClauseName, hookContract } from '../support/lifecycle/hook-contract.js';

// covers: S4-FR1.2, S4-FR1.1.1, S4-FR1.1.2, S4-FR1.1.3, S4-FR1.1.4, S4-FR1.1.5, S4-FR1.1.6, S4-FR1.AC2
// covers: S4-FR2.2, S4-FR2.2a, S4-FR2.2b, S4-FR2.2c, S4-FR2.2d, S4-FR4.7, S4-FR4.9, S4-FR4.AC3, S4-FR5.1, S4-FR5.2
test.each(Object.entries<Clause>(hookContract))('%s', async (_title, clause) => {
  await clause(Agent);
});

type Lifecycles = readonly AgentLifecycle[];

/** A change of the lifecycles of an agent that makes the agent break a rule, and the clause that must notice. */
type Fault = readonly [fault: string, breaks: ClauseName, change: (given: Lifecycles) => Lifecycles];

/** Puts a lifecycle in front, as if its hooks were defaults of the agent. */
const byDefault = (hooks: AgentLifecycle) => (given: Lifecycles) => [hooks, ...given];

const defaults: readonly Fault[] = [
  [
    'by default beforeAgent gives another input',
    'without beforeAgent the input stays',
    byDefault({ beforeAgent: () => 'else' }),
  ],
  [
    'by default beforeModel forgets the messages',
    'without beforeModel the messages stay',
    byDefault({ beforeModel: (messages) => messages.slice(0, 1) }),
  ],
  [
    'by default wrapModelCall calls the model twice',
    'without wrapModelCall the model is called once a turn',
    byDefault({ wrapModelCall: (_, next) => next().then(() => next()) }),
  ],
  [
    'by default afterModel changes the response',
    'without afterModel the response stands',
    byDefault({
      afterModel: (response) =>
        HookAction.modify({ ...response, content: [...response.content, { type: 'text', text: '!' }] }),
    }),
  ],
  [
    'by default wrapToolCall does not call the tool',
    'without wrapToolCall the result of the tool stands',
    byDefault({ wrapToolCall: () => ({ content: 'no' }) }),
  ],
  [
    'by default afterAgent gives another text',
    'without afterAgent the text stays',
    byDefault({ afterAgent: () => '' }),
  ],
];

const reversed = (given: Lifecycles) => given.toReversed();
const onlyFirst = (given: Lifecycles) => given.slice(0, 1);

const orders: readonly Fault[] = [
  ['hooks run in reverse', 'hooks run in the order in which they were added', reversed],
  ['wraps nest the wrong way round', 'wraps nest in that order, the first outermost', reversed],
  ['the second hook of a point is dropped', 'hooks run in the order in which they were added', onlyFirst],
  ['the second wrap is dropped', 'wraps nest in that order, the first outermost', onlyFirst],
];

/** Replaces each action of this type that afterModel returns. */
function treat(type: HookAction['type'], as: HookAction): Fault[2] {
  return (given) =>
    given.map((lifecycle) => ({
      ...lifecycle,
      afterModel: async (response, run) => {
        const action = await lifecycle.afterModel?.(response, run);
        return action?.type === type ? as : action;
      },
    }));
}

const actions: readonly Fault[] = [
  ['Continue counts as Approve', 'Continue goes on and is not on record', treat('continue', HookAction.Approve)],
  ['Approve counts as Continue', 'Approve goes on and is on record', treat('approve', HookAction.Continue)],
  [
    'Reject counts as Continue',
    'Reject ends the run with its reason, without a later hook or a tool',
    treat('reject', HookAction.Continue),
  ],
  [
    'Respond counts as Continue',
    'Respond ends the run with its text, without a later hook or a tool',
    treat('respond', HookAction.Continue),
  ],
  ['Suspend counts as Continue', 'Suspend ends the run with its calls open', treat('suspend', HookAction.Continue)],
  [
    'Modify counts as Continue',
    'Modify puts another response in place of the first',
    treat('modify', HookAction.Continue),
  ],
];

const values: readonly Fault[] = [
  [
    'the value of a hook is not passed on',
    'the value of a hook goes to the next one',
    (given) =>
      given.map((lifecycle) => ({
        ...lifecycle,
        beforeAgent: (_, run) => lifecycle.beforeAgent?.('Hello', run),
      })),
  ],
  [
    'the result of a wrap is not passed on',
    'a wrap may change what the call gives',
    (given) =>
      given.map((lifecycle) => ({
        ...lifecycle,
        async wrapToolCall(call, next) {
          let result: ToolResult | undefined;
          await lifecycle.wrapToolCall?.(call, async (changed) => (result = await next(changed)));
          return result ?? next();
        },
      })),
  ],
];

const edges: readonly Fault[] = [
  [
    'the error of a hook is swallowed',
    'what a hook throws ends the run and names the hook, the point and the cause',
    (given) => given.map((lifecycle) => ({ ...lifecycle, onFailure: 'continue' })),
  ],
  ['an empty list crashes', 'an agent without lifecycles, or with none, runs', (given) => [given[0] as AgentLifecycle]],
];

function faultyAgent(change: Fault[2]): AgentClass {
  return class extends Agent {
    constructor(options: AgentOptions) {
      super({ ...options, lifecycle: change(options.lifecycle ?? []) });
    }
  } as AgentClass;
}

// covers: S4-NFR4.1, S4-NFR4.2, S4-NFR4.3, S4-NFR4.5, S4-NFR4.6
test.each([...defaults, ...orders, ...actions, ...values, ...edges])(
  'the contract reports the fault: %s',
  async (_fault, breaks, change) => {
    await expect(hookContract[breaks](faultyAgent(change))).rejects.toThrow();
  },
);
