import {
  Agent,
  type AgentLifecycle,
  HookAction,
  type Ids,
  type ModelRequest,
  type Session,
  type ToolContext,
  toolCallsOf,
} from 'keelson';
import type { SessionStore } from 'keelson/store';
import { calls, scriptedModel } from 'keelson/testing';
import { toolOf } from '../../support/agent/sample-tools.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { GatedLog, GatedStore } from './gated-store.js';
import { ProcessClock, type Timer } from './process-clock.js';
import type { Scenario, Script } from './scenario.js';
import type { World } from './world.js';

/** The session id of the conversation that all processes share. */
export const TALK = 'talk';
/** The session id of its copy. */
export const COPY = 'copy';
/** How long a claim holds. Much longer than all polls of one execution together. */
const CLAIM_MS = 3_000_000;
/** The name of the agent that is used as a tool. */
const HELPER = 'helper';
/** No run gives up its place in a queue. */
const QUEUE_MS = 2_000_000_000;

/** An operation that waits until the scheduler lets it happen. */
interface Request<Answer> {
  readonly label: string;
  readonly act: () => Answer;
  /** True if the answer of the operation can get lost. */
  readonly losable?: boolean | undefined;
  /** True if nobody else can tell when the operation happens. */
  readonly local?: boolean | undefined;
  /** True if the answer can depend on the time of a claim. */
  readonly timed?: boolean | undefined;
  /** False while the operation cannot happen. */
  readonly when?: (() => boolean) | undefined;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

/** A request that waits. */
export interface Gate {
  readonly label: string;
  readonly losable: boolean;
  readonly timed: boolean;
  readonly local: boolean;
  readonly when: () => boolean;
  open(answer: Arrival): void;
}

/** How the answer of an operation arrives: at once, never, or at a later step. */
export type Arrival = 'at once' | 'lost' | 'late';

/** How a script has ended. */
interface Outcome {
  readonly error?: unknown;
}

/** One process: its agent, its session, and the script that uses them. Each of its operations waits at a gate. */
export class Process {
  readonly label: string;
  readonly clock: ProcessClock;
  readonly gates: Gate[] = [];
  /** The runs that this process has claimed the conversation for, by token. */
  readonly claims = new Map<string, string>();
  /** The calls that have begun and have not acted yet. */
  readonly begun = new Set<string>();
  session: Session | undefined = undefined;
  agent: Agent | undefined = undefined;
  outcome: Outcome | undefined = undefined;
  isDead = false;
  /** True if the answer of one of its operations got lost. */
  hasLost = false;
  /** True while the script waits for what others do, if they do anything. */
  isIdle = false;
  /** A number of the ledger that stands for everything that the process has learned. */
  history = 0;
  /** True while the session opens, which is one step. */
  isOpening = false;
  private made = 0;
  /** The number of times that the models have called each tool. */
  private readonly called = new Map<string, number>();

  constructor(
    readonly world: World,
    readonly name: string,
    readonly number: number,
  ) {
    this.label = `${name}${number}`;
    this.clock = new ProcessClock(world);
    void this.ask({ label: 'starts', act: () => void this.start(world.scenario.processes[name] as Script) });
  }

  get isSettled(): boolean {
    return this.isDead || this.outcome !== undefined;
  }

  /** Equal for two processes of a name only if both will do the same. */
  get state(): string {
    if (this.isDead) return 'dead';
    return this.outcome === undefined ? `${this.history}` : `${this.outcome.error ?? 'done'} ${this.clock.timers.size}`;
  }

  /** Waits until the scheduler lets an operation happen, and gives its answer. */
  ask<Answer>(request: Request<Answer>): Promise<Answer> {
    const { label, act, losable = false, timed = false, local = false, when = () => true, signal } = request;
    if (this.isOpening) return Promise.resolve(act());
    return new Promise((resolve, reject) => {
      const arrive = (answer: Answer) => {
        this.learn(`${label}: ${this.world.digest(answer)}`);
        resolve(answer);
      };
      const open = (arrival: Arrival) => {
        this.close(gate);
        const answer = act();
        if (arrival === 'at once') return arrive(answer);
        this.learn(`${label}: ${arrival}`);
        if (arrival === 'late') return this.deliverLater(`gets the answer to "${label}"`, () => arrive(answer));
        this.hasLost = true;
        reject(new Error('The answer was lost.'));
      };
      const gate: Gate = { label, losable, timed, local, when, open };
      this.gates.push(gate);
      signal?.addEventListener('abort', () => {
        this.close(gate);
        reject(signal.reason);
      });
    });
  }

  /** Waits until the condition is true, or until nobody else does anything. */
  async waitFor(what: string, condition: () => boolean): Promise<void> {
    this.isIdle = true;
    const when = () => condition() || this.world.othersRest(this);
    await this.ask({ label: what, act: () => {}, timed: true, when });
    this.isIdle = false;
  }

  /** True if it makes a difference to the process that a claim has run out. */
  get isTimed(): boolean {
    return !this.isSettled && (this.gates.some(({ timed }) => timed) || this.clock.polls);
  }

  owns(run: string | undefined): boolean {
    return run !== undefined && [...this.claims.values()].includes(run);
  }

  /** Notes something that reaches the process from outside, beside the answers of its operations. */
  learn(news: string): void {
    this.history = this.world.ledger.intern(`${this.history} ${news}`);
  }

  wake(timer: Timer): void {
    this.learn(`wakes after ${timer.ms}`);
    this.clock.fire(timer);
  }

  crash(): void {
    this.isDead = true;
    this.gates.length = 0;
    this.clock.timers.clear();
  }

  /** Opens a session of the agent. */
  async open(id: string): Promise<Session> {
    const runLog = this.world.log && new GatedLog(this, this.world.log);
    return (this.agent as Agent).session({ id, runLog });
  }

  private deliverLater(label: string, arrive: () => void): void {
    const open = () => {
      this.close(gate);
      arrive();
    };
    const gate: Gate = { label, losable: false, timed: true, local: false, when: () => true, open };
    this.gates.push(gate);
  }

  private close(gate: Gate): void {
    const at = this.gates.indexOf(gate);
    if (at >= 0) this.gates.splice(at, 1);
  }

  private async start(script: Script): Promise<void> {
    try {
      this.isOpening = true;
      this.agent = this.makeAgent(new GatedStore(this));
      this.session = await this.open(TALK);
      this.isOpening = false;
      await script(this, this.session);
      this.outcome = {};
    } catch (error) {
      this.outcome = { error };
    }
  }

  private makeAgent(store: SessionStore): Agent {
    const { calls: named, inside, lifecycle = [] } = this.world.scenario;
    const shared = { clock: this.clock, ids: this.ids(), logger: keepingLogger() };
    const part = (tools: Scenario['calls'], more: readonly string[] = []) => ({
      ...shared,
      model: this.makeModel([...Object.keys(tools), ...more]),
      tools: Object.keys(tools).map((name) => toolOf(name, (_input, context) => this.runTool(context))),
      lifecycle: [this.asking(tools), ...lifecycle],
    });
    const own = part(named, inside && [HELPER]);
    const helper = inside && new Agent({ name: HELPER, ...part(inside) }).asTool({ description: 'Helps.' });
    return new Agent({
      name: this.label,
      ...own,
      tools: helper === undefined ? own.tools : [...own.tools, helper],
      store,
      timeouts: { claimMs: CLAIM_MS, queueMs: QUEUE_MS },
    });
  }

  /** Calls the tools once in a conversation, and then answers. */
  private makeModel(names: readonly string[]) {
    const { isHeard } = this.world.scenario;
    const generate = async ({ messages, signal }: ModelRequest) => {
      const hasCalled = messages.some((message) => toolCallsOf(message).length > 0);
      await this.ask({ label: 'the model answers', act: () => {}, local: !isHeard, signal });
      const [first, ...more] = hasCalled ? [] : names.map((name) => this.callOf(name));
      return first === undefined ? 'Answer.' : calls(first, ...more);
    };
    return scriptedModel(generate, { record: false });
  }

  private callOf(name: string) {
    const times = (this.called.get(name) ?? 0) + 1;
    this.called.set(name, times);
    const id = `${name}@${this.label}${times > 1 ? `.${times}` : ''}`;
    return { name, id, input: { prompt: `for ${id}` } };
  }

  /** Suspends a call until it has as many approvals as the scenario wants. */
  private asking(needs: Scenario['calls']): AgentLifecycle {
    return {
      name: 'asking',
      wrapToolCall: (call, next) => {
        const need = needs[call.name] ?? 0;
        const given = approvalsOf(this.session as Session, call.id);
        return need > 0 && (!call.approved || given < need) ? HookAction.suspend('may I?') : next(call);
      },
    };
  }

  private async runTool(context: ToolContext): Promise<string> {
    const { callId, attempt, signal } = context;
    this.world.effects.begin(this, context);
    this.begun.add(callId);
    const label = `the tool of ${callId} acts, attempt ${attempt}`;
    await this.ask({ label, act: () => this.world.effects.act(this, context), signal }).finally(() =>
      this.begun.delete(callId),
    );
    return 'ok';
  }

  private ids(): Ids {
    return { next: (kind) => `${this.label}.${kind === 'run' ? 'run' : kind}${++this.made}` };
  }
}

function approvalsOf({ entries }: Session, call: string): number {
  return entries.filter(
    ({ body }) =>
      body.type === 'decision' && body.call === call && (body.decision === 'approve' || body.decision === 'again'),
  ).length;
}
