import { Agent, type AgentLifecycle, type AgentOptions, type RunResult, type Tool } from 'keelson';
import { type DurableOptions, durable, type MemoryStep, memoryStep } from 'keelson/durable';
import { type ScriptEntry, scriptedModel } from 'keelson/testing';
import { fastClock } from '../agent/fake-clock.js';
import { pause } from '../agent/settle.js';
import { keepingLogger } from '../agent/silent-logger.js';

/** The parts of a result that a replay must give again. */
export function outcomeOf({ status, text, history, usage, decisions }: RunResult) {
  return JSON.parse(JSON.stringify({ status, text, history, usage, decisions }));
}

/** The attempts of one execution in memory. */
export class Execution {
  step = memoryStep();

  /** Begins another attempt, with the steps that are stored. */
  options(options: AgentOptions): AgentOptions {
    this.step = memoryStep({ journal: this.step.journal });
    return durable({ step: this.step }).options(options);
  }
}

/** Makes the script of the model and the tools of one attempt. */
type MakeAttempt = () => { readonly script: readonly ScriptEntry[]; readonly tools?: readonly Tool[] };

/** The time at which each attempt begins, by the clock of its process. */
const STARTS = { first: 1_000, replay: 50_000_000 };

/** Runs an agent twice on one journal. Returns both results, or the errors, and the names of the stored steps. */
export async function twice(
  make: MakeAttempt,
  lifecycle: () => readonly AgentLifecycle[] = () => [],
  options: Omit<DurableOptions, 'step'> = {},
) {
  let journal: MemoryStep['journal'] = [];
  const attempt = async (startMs: number) => {
    const { script, tools = [] } = make();
    const step = memoryStep({ journal });
    const model = scriptedModel(script);
    const logger = keepingLogger();
    const agentOptions = { model, tools, lifecycle: lifecycle(), clock: fastClock(startMs), logger };
    const agent = new Agent(durable({ step, ...options }).options(agentOptions));
    const outcome = await agent.run('Hello.').then(outcomeOf, (error) => error);
    await pause();
    journal = step.journal;
    return { outcome, requests: model.requests.length, lines: logger.lines };
  };
  const first = await attempt(STARTS.first);
  const replay = await attempt(STARTS.replay);
  return { first, replay, names: journal.map((entry) => entry?.name) };
}
