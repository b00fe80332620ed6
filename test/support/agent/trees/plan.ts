import fc from 'fast-check';

/**
 * A tool call that the model of an agent makes. `ask` needs an approval, the tool of `caller` has no `execute`, `hang` is
 * cancelled, and `agent` starts an agent.
 */
export interface PlannedCall {
  /** The id that the model gives. Ids are not unique. */
  readonly id: string;
  readonly kind: 'work' | 'fail' | 'ask' | 'caller' | 'hang' | 'agent';
  /** The number of calls above a `hang` that are cancelled in its place. */
  readonly up: number;
  /** How long the tool takes: some microtasks, or the most: a task of the event loop. */
  readonly ticks: number;
  readonly agent: PlannedAgent | undefined;
}

export interface PlannedTurn {
  /** True if a hook suspends the response with the calls. */
  readonly isHeld: boolean;
  readonly calls: readonly PlannedCall[];
}

/** The work of one run: some turns with calls, then an answer. */
export interface PlannedAgent {
  readonly turns: readonly PlannedTurn[];
  /** True if a hook suspends the answer until somebody has decided. */
  readonly isAnswerHeld: boolean;
}

/** A limit that ends runs before their plan does. */
export interface PlannedLimit {
  readonly type: 'turns' | 'modelCalls' | 'toolCalls' | 'tokens';
  readonly max: number;
  /** The depth of the agent that has the limit. */
  readonly depth: number;
}

export interface Plan {
  readonly root: PlannedAgent;
  readonly limit: PlannedLimit | undefined;
  readonly parallel: boolean | number;
}

/** The number of agents below each other. */
const DEPTH = 3;
/** One id could be that of a call inside of another one, and is replaced. */
const IDS = ['a', 'b', 'a/b'];

const kinds: readonly PlannedCall['kind'][] = ['work', 'fail', 'ask', 'ask', 'caller', 'hang'];

/** The most ticks of a tool. */
export const TASK = 3;

function agentAt(depth: number): fc.Arbitrary<PlannedAgent> {
  const isLast = depth === DEPTH - 1;
  const up = fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(2) });
  const ticks = fc.nat(TASK);
  const leaf = fc.record({
    id: fc.constantFrom(...IDS),
    kind: fc.constantFrom(...kinds),
    up,
    ticks,
    agent: fc.constant(undefined),
  });
  const call = isLast
    ? leaf
    : fc.oneof(
        { weight: 2, arbitrary: leaf },
        {
          weight: 3,
          arbitrary: fc.record({
            id: fc.constantFrom(...IDS),
            kind: fc.constant('agent' as const),
            up: fc.constant(0),
            ticks,
            agent: agentAt(depth + 1),
          }),
        },
      );
  const seldom = fc.nat(7).map((n) => n === 7);
  const turn = fc.record({ isHeld: seldom, calls: fc.array(call, { minLength: 1, maxLength: 3 }) });
  return fc.record({
    turns: fc.array(turn, { maxLength: isLast ? 2 : 3 - depth, minLength: depth === 0 ? 1 : 0 }),
    isAnswerHeld: seldom,
  });
}

const limit: fc.Arbitrary<PlannedLimit> = fc.record({
  type: fc.constantFrom('turns' as const, 'modelCalls' as const, 'toolCalls' as const, 'tokens' as const),
  max: fc.integer({ min: 1, max: 8 }),
  depth: fc.nat(DEPTH - 1),
});

export const plans: fc.Arbitrary<Plan> = fc.record({
  root: agentAt(0),
  limit: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: limit }),
  parallel: fc.constantFrom(true, false, 2),
});

/** Visits every call, the outer ones first. The label of a call has its agent, its turn and its index. */
export function visit(agent: PlannedAgent, see: (call: PlannedCall, label: string) => void, label = 'r'): void {
  for (const [turn, { calls }] of agent.turns.entries()) {
    for (const [index, call] of calls.entries()) {
      const own = `${label}.${turn}.${index}`;
      see(call, own);
      if (call.agent !== undefined) visit(call.agent, see, own);
    }
  }
}

/** True if only the decisions say what happens, not the order of things that happen at the same time. */
export function isExact({ root, limit }: Plan): boolean {
  let isSure = limit === undefined;
  visit(root, ({ kind, up }, label) => {
    if (kind === 'hang' && liftOf(up, label) > 0) isSure = false;
  });
  return isSure;
}

/** The number of calls above a call that are cancelled in its place. */
export function liftOf(up: number, label: string): number {
  return Math.min(up, depthOf(label) - 1);
}

/** The number of calls in a label. The last one is the call itself. */
export function depthOf(label: string): number {
  return (label.split('.').length - 1) / 2;
}

/** Returns the label of the call at a depth that leads to this call, or to the agent of this answer. */
export function callerOf(label: string, depth: number): string {
  const [own = ''] = label.split(' ');
  return own
    .split('.')
    .slice(0, 1 + 2 * depth)
    .join('.');
}
