import type { Message, ToolContext } from 'keelson';
import { toolCallsOf } from 'keelson';
import { pairingProblem } from '../pairing.js';
import { answerOf, type Oracle } from './oracle.js';
import { answerText, doneWith } from './troupe.js';

/** The arguments of a call. */
export interface Input {
  readonly label: string;
  readonly note?: string | undefined;
}

/** A run of a tool. */
export interface Act {
  readonly label: string;
  readonly key: string;
  readonly attempt: number;
}

/** The world outside of the agents: it sees what tools do and what models read, and notes each broken rule. */
export class World {
  readonly faults: string[] = [];
  readonly acts: Act[] = [];
  /** The number of model calls. */
  modelCalls = 0;

  constructor(readonly oracle: Oracle) {}

  fail(why: string): void {
    this.faults.push(why);
  }

  /** Called when a tool runs. */
  ran({ label, note }: Input, { idempotencyKey: key, attempt, toolName }: ToolContext): void {
    const told = this.oracle.told(label);
    const before = this.acts.filter((act) => act.label === label);
    this.acts.push({ label, key, attempt });
    if (toolName === 'ask' && told === undefined) this.fail(`${label} runs without an approval`);
    if (this.oracle.isDenied(label)) this.fail(`${label} was denied, and runs`);
    if (note !== (told === 'edit' ? 'edited' : undefined)) this.fail(`${label} runs with other arguments`);
    if (before.length > 0 && attempt <= Math.max(...before.map((act) => act.attempt))) {
      this.fail(`${label} runs again as attempt ${attempt}`);
    }
    if (before.some((act) => act.key !== key)) this.fail(`${label} runs again under another key`);
    if (this.acts.some((act) => act.key === key && act.label !== label))
      this.fail(`${label} has the key of another call`);
  }

  /** Called with what a model reads. */
  asked(messages: readonly Message[]): void {
    this.modelCalls += 1;
    const problem = pairingProblem(messages);
    if (problem !== undefined) this.fail(`the model reads what no provider accepts: ${problem}`);
    const text = JSON.stringify(messages);
    if (text.includes('"inside"')) this.fail('the model reads a run inside');
    for (const [at, message] of messages.entries()) this.checkResults(message, messages[at + 1]);
  }

  /** Each result belongs to its call. */
  private checkResults(message: Message, next: Message | undefined): void {
    for (const { id, name, input } of toolCallsOf(message)) {
      const result = next?.role === 'tool' ? next.content.find((part) => part.id === id) : undefined;
      const { label } = input as Input;
      const text = String(result?.content);
      if (result?.isError || result === undefined) continue;
      const answer = answerText(label, this.oracle.told(answerOf(label)) === 'deny');
      const wanted = { agent: answer, caller: `given ${label}` }[name] ?? doneWith(label);
      if (!text.split('\n').includes(wanted)) this.fail(`${label} has the result "${text}"`);
    }
  }
}

/** One process. Nothing happens in it once it has stopped. */
export class Stage {
  isDead = false;
  /** Stops the process. */
  die = () => {};
  /** Resolves when the process stops. */
  readonly death = new Promise<undefined>((resolve) => {
    this.die = () => {
      this.isDead = true;
      resolve(undefined);
    };
  });
  /** Cancels the call at a path in the current run. */
  cancel: (path: readonly string[]) => Promise<boolean> = async () => false;

  constructor(readonly world: World) {}

  /** Never resolves once the process has stopped. */
  alive(): Promise<void> {
    return this.isDead ? new Promise(() => {}) : Promise.resolve();
  }

  async ran(input: Input, context: ToolContext): Promise<void> {
    await this.alive();
    this.world.ran(input, context);
  }

  async asked(messages: readonly Message[]): Promise<void> {
    await this.alive();
    this.world.asked(messages);
  }
}
