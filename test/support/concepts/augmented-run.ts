import { Agent, type Message, type Tool } from 'keelson';
import { type ConceptAugmentationOptions, conceptAugmentation } from 'keelson/concepts';
import { calls, says, scriptedModel } from 'keelson/testing';
import { toolOf } from '../agent/sample-tools.js';

/** A log record. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly extra: unknown;
}

/** Returns a logger and the array of its records. */
export function keptLog() {
  const lines: LogLine[] = [];
  const at = (level: string) => (message: string, extra?: unknown) => void lines.push({ level, message, extra });
  return { lines, logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } };
}

/** The result of a run with one tool call. */
export interface AugmentedRun {
  /** The arguments that the tool received, one entry per call. */
  readonly received: readonly unknown[];
  readonly log: readonly LogLine[];
  readonly messages: readonly Message[];
}

/** Runs an agent with the augmentation and one tool call. */
export async function augmentedRun(
  input: unknown,
  options: ConceptAugmentationOptions = {},
  change: Partial<Tool> = {},
): Promise<AugmentedRun> {
  const received: unknown[] = [];
  const { lines, logger } = keptLog();
  const tool: Tool = {
    ...toolOf('work', (given) => {
      received.push(given);
      return 'done';
    }),
    ...change,
  };
  const agent = new Agent({
    model: scriptedModel([calls(tool.name, input), says('end')]),
    tools: [tool],
    lifecycle: [conceptAugmentation({ buildContext: known, ...options })],
    logger,
    ids: { next: (kind) => `the ${kind}` },
  });
  const { messages } = await agent.run('go');
  return { received, log: lines, messages };
}

/** Returns a context for any concept. */
export function known({ conceptName }: { readonly conceptName: string }): string {
  return `about ${conceptName}`;
}

/** Returns the context wrapped in its two comments, as a tool receives it. */
export function block(context: string, label = 'maenifold'): string {
  const start = `<!-- Knowledge Graph Context (auto-injected by ${label}) -->`;
  return `${start}\n${context}\n<!-- End Knowledge Graph Context -->`;
}
