import { Agent } from '../../agent/agent.js';
import type { AgentEvent } from '../../agent/agent-event.js';
import type { AgentOptions } from '../../agent/agent-options.js';
import type { Timeouts } from '../../agent/run/run-config.js';
import type { Session } from '../../agent/session/session.js';
import type { Logger } from '../../internal/logger.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { UserMessage } from '../../model/message.js';
import type { Tool } from '../../tools/tool.js';
import type { Report } from '../assert/lifecycle-fault.js';
import { LATE, pause, within } from '../assert/time-limit.js';
import { faultyTool } from '../script/faulty-tool.js';
import { type ScriptedModel, scriptedModel } from '../script/scripted-model.js';
import type { ScriptEntry } from '../script/step.js';
import { hooksAtWork, nameOf, type Observer, observeLifecycle } from './observed-lifecycle.js';
import { errorOutcome, type Outcome, outcomeProblems, resultOutcome } from './outcome.js';

/** One run to test a lifecycle with. */
export interface Scenario {
  /** Names the run in reports, such as `a run that calls tools`. */
  readonly name: string;
  readonly script: readonly ScriptEntry[] | ScriptEntry;
  readonly input?: string | undefined;
  /** Adds an image to the user message. */
  readonly picture?: boolean | undefined;
  readonly timeouts?: Timeouts | undefined;
  readonly stream?: boolean | undefined;
  /** The session of the run. Default: the run is made on the agent, without a session. */
  readonly session?: Session | undefined;
  /** Aborts the run. */
  readonly abort?: AbortController | undefined;
}

/** Options that all trials of one assertion share. */
export interface TrialOptions {
  readonly input: string;
  readonly context: unknown;
  readonly limitMs: number;
  /** Called with the name of a run before it starts. */
  readonly enter: (run: string) => void;
  /** Records a problem. */
  readonly report: Report;
  /** Reports a hang, and throws. */
  readonly giveUp: (problem: string) => never;
  /** Changes the options of the agent, for example to make its runs durable. */
  readonly prepare?: ((options: AgentOptions) => AgentOptions) | undefined;
}

/** An agent with the lifecycle under test, and with tools for every kind of failure. */
export interface Trial {
  readonly agent: Agent;
  /** Undefined in a trial without a lifecycle. */
  readonly observer: Observer | undefined;
  /** Runs one scenario and reports problems. Waits until no hook is running any more. */
  run(scenario: Scenario): Promise<Outcome>;
  /** Runs several scenarios at once, and otherwise works as `run`. */
  runTogether(scenarios: readonly Scenario[]): Promise<readonly Outcome[]>;
  close(): Promise<void>;
}

/** Creates a trial with one lifecycle, or without a lifecycle. Throws if an agent rejects the lifecycle. */
export function createTrial(subjects: readonly [AgentLifecycle<never>?], options: TrialOptions): Trial {
  // Lets an agent validate the lifecycle itself, because the observer passes on only known members.
  new Agent<never>({ model: scriptedModel([]), lifecycle: subjects as readonly AgentLifecycle<never>[] });
  const [subject] = subjects;
  const observer = subject && observeLifecycle(subject, options.report);
  const { prepare = (given) => given } = options;
  const settings = prepare({
    name: 'trial',
    model: scriptedModel([]),
    tools: trialTools(),
    lifecycle: observer ? [observer.lifecycle] : [],
    logger: failureLogger(subject && nameOf(subject), options.report),
    // Ends a hanging tool even if the run is not aborted. A lifecycle with a cache may call a hanging tool in a run
    // that has no time limit.
    timeouts: { toolMs: Math.ceil(options.limitMs / 10) },
  });
  const agent = new Agent(settings);
  const parts: TrialParts = { agent, observer, options };
  const runTogether = async (scenarios: readonly Scenario[]) => {
    options.enter(scenarios[0]?.name ?? 'no run');
    const outcomes = await Promise.all(scenarios.map((scenario) => watchRun(parts, scenario)));
    await settle(parts);
    return outcomes;
  };
  return {
    agent,
    observer,
    runTogether,
    run: async (scenario) => (await runTogether([scenario]))[0] as Outcome,
    close: () => closeAgent(parts),
  };
}

interface TrialParts {
  readonly agent: Agent;
  readonly observer: Observer | undefined;
  readonly options: TrialOptions;
}

/** Returns the tools of a trial. The result of the echo tool says if the same call ran before. */
export function trialTools(): readonly Tool[] {
  const executed = new Set<string>();
  const echo: Tool = {
    name: 'trial_echo',
    description: 'Returns its arguments.',
    inputSchema: { type: 'object' },
    check: (input) => ({ value: input }),
    async execute(input, { run, callId }) {
      const call = `${run.id} ${callId}`;
      const again = executed.has(call) ? 'again ' : '';
      executed.add(call);
      return `${again}echo ${JSON.stringify(input)}`;
    },
  };
  const faults = ['throws', 'hangs', 'deaf', 'gives-no-json'] as const;
  return [echo, ...faults.map((fault) => faultyTool(fault, `trial_${fault.replaceAll('-', '_')}`))];
}

function failureLogger(name: string | undefined, report: Report): Logger {
  return {
    debug() {},
    info() {},
    warn() {},
    error(message) {
      if (name !== undefined && message.includes(`"${name}" failed`)) report(message);
    },
  };
}

async function watchRun(parts: TrialParts, scenario: Scenario): Promise<Outcome> {
  const { limitMs, report, giveUp } = parts.options;
  const { abort = new AbortController() } = scenario;
  const model = scriptedModel(scenario.script);
  const events: AgentEvent[] = [];
  const witness = { requests: model.requests, events };
  const running = startRun(parts, scenario, { model, signal: abort.signal, events }).then(
    (result) => resultOutcome(result, witness),
    (error: unknown) => errorOutcome(error, witness),
  );
  const outcome = await within(running, limitMs);
  if (outcome === LATE) {
    const problem = `the run did not end within ${limitMs} ms${abort.signal.aborted ? ', though it was aborted' : ''}`;
    abort.abort();
    return giveUp(problem + pendingHooks(parts));
  }
  for (const { problem, kind } of outcomeProblems(outcome)) report(problem, kind);
  return outcome;
}

interface RunStart {
  readonly model: ScriptedModel;
  readonly signal: AbortSignal;
  readonly events: AgentEvent[];
}

async function startRun({ agent, options }: TrialParts, scenario: Scenario, { model, signal, events }: RunStart) {
  const text = scenario.input ?? options.input;
  const input = scenario.picture ? pictureMessage(text) : text;
  const runOptions = { model, signal, context: options.context, timeouts: scenario.timeouts ?? {} };
  const host = (scenario.session ?? agent) as Pick<Agent, 'run' | 'stream'>;
  if (!scenario.stream) return host.run(input, runOptions);
  const stream = host.stream(input, runOptions);
  for await (const event of stream) events.push(event);
  return stream.result;
}

function pictureMessage(text: string): UserMessage {
  const picture = { type: 'image', image: 'data:image/gif;base64,R0lGODlhAQABAAAAACw=' } as const;
  return { role: 'user', content: [{ type: 'text', text }, picture] };
}

/** Waits until the hooks of the run have ended. A late one ignored the abort signal, or nobody awaited it. */
async function settle(parts: TrialParts): Promise<void> {
  const { limitMs, giveUp } = parts.options;
  await pause();
  for (let waitedMs = 0; pendingHooks(parts) !== ''; waitedMs += 1) {
    if (waitedMs > limitMs) giveUp(`${limitMs} ms after the run had ended${pendingHooks(parts)}`);
    await pause(1);
  }
}

async function closeAgent(parts: TrialParts): Promise<void> {
  const { enter, limitMs, giveUp } = parts.options;
  enter('closing the agent');
  if ((await within(parts.agent.close(), limitMs)) === LATE) {
    giveUp(`\`close\` did not end within ${limitMs} ms${pendingHooks(parts)}`);
  }
  await settle(parts);
}

function pendingHooks({ observer }: TrialParts): string {
  const hooks = observer === undefined ? [] : hooksAtWork(observer);
  return hooks.length === 0 ? '' : `, ${hooks.join(' and ')} ${hooks.length === 1 ? 'was' : 'were'} still pending`;
}
