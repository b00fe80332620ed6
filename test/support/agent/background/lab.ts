import { Agent, MemorySessionStore, type Message, type Session, type Tool } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { type FakeClock, fakeClock } from '../fake-clock.js';
import { toolOf } from '../sample-tools.js';
import { pause, until } from '../settle.js';
import { type KeepingLogger, keepingLogger } from '../silent-logger.js';
import { transcript } from '../transcript.js';

/** A background work that a test ends. */
export interface HeldWork {
  readonly label: string;
  readonly signal: AbortSignal;
  end(value: unknown): void;
  fail(error: unknown): void;
}

/** Returns a tool whose works go on in the background until the test ends them. Its argument `label` names the work. */
export function backgroundTool(): { readonly tool: Tool; readonly works: HeldWork[] } {
  const works: HeldWork[] = [];
  const tool = toolOf('build', (input, { run }) => {
    const { label = 'build' } = input as { label?: string };
    const work = (signal: AbortSignal) =>
      new Promise((end, fail) => {
        works.push({ label, signal, end, fail });
      });
    return run.background(work, { label });
  });
  return { tool, works };
}

/** Formats messages with one line each. The ids of works are left out. */
export function linesOf(messages: readonly Message[]): readonly string[] {
  return transcript(messages).map((line) => line.replaceAll(/ ?\(run_[^)]*\)/g, ''));
}

/** An agent with a background tool and other tools, on a clock that the test advances. */
export function backgroundLab(script: Parameters<typeof scriptedModel>[0], tools: readonly Tool[] = []) {
  const clock = fakeClock();
  const store = new MemorySessionStore({ clock });
  const model = scriptedModel(script);
  const { tool, works } = backgroundTool();
  const logger: KeepingLogger = keepingLogger();
  const agent = new Agent({ model, store, clock, logger, tools: [tool, ...tools] });
  /** Returns what the model has read in each call. */
  const read = () => model.requests.map(({ messages }) => linesOf(messages));
  return { clock, store, model, works, logger, agent, read };
}

/** Waits until the conversation ends with this line. */
export async function untilSaid(session: Session, line: string): Promise<void> {
  await until(() => linesOf(session.messages).at(-1) === line);
}

/** Advances the clock in steps that let claims be renewed. */
export async function advance(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    clock.advance(1_000);
    await pause();
  }
}
