import { type ConceptAugmentationOptions, conceptAugmentation } from '../../../src/concepts/concepts.js';
import { Agent, type Message, type Tool } from '../../../src/index.js';
import { calls, says, scriptedModel } from '../../../src/testing/testing.js';
import { toolOf } from '../agent/sample-tools.js';

/** A line of a log. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly extra: unknown;
}

/** A logger that keeps its lines. */
export function keptLog() {
  const lines: LogLine[] = [];
  const at = (level: string) => (message: string, extra?: unknown) => void lines.push({ level, message, extra });
  return { lines, logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } };
}

/** What came of one call in a run of an agent. */
export interface AugmentedRun {
  /** What the tool got, one entry a call. */
  readonly received: readonly unknown[];
  readonly log: readonly LogLine[];
  readonly messages: readonly Message[];
}

/** Runs one tool call through an agent with the augmentation. */
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

/** Knows something about everything. */
export function known({ conceptName }: { readonly conceptName: string }): string {
  return `about ${conceptName}`;
}

/** The block around a context, as a tool gets it. */
export function block(context: string, label = 'maenifold'): string {
  const start = `<!-- Knowledge Graph Context (auto-injected by ${label}) -->`;
  return `${start}\n${context}\n<!-- End Knowledge Graph Context -->`;
}
