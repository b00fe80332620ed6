import { Agent, type AgentOptions } from 'keelson';
import {
  type ExtensionInput,
  ExtensionRegistry,
  type ExtensionRegistryOptions,
  type MetricLabels,
  type MetricsSink,
} from 'keelson/extension';
import { type ScriptEntry, type ScriptedModel, scriptedModel } from 'keelson/testing';

/** A log entry with its details. */
export interface LogRecord {
  readonly level: string;
  readonly message: string;
  readonly details: unknown;
}

/** Returns a logger that records all entries. */
export function recordingLogger() {
  const records: LogRecord[] = [];
  const keep = (level: string) => (message: string, details?: unknown) =>
    void records.push({ level, message, details });
  return { records, debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
}

/** Returns a metrics sink that records each metric as a line `name value {labels}`. */
export function recordingSink(): MetricsSink & { readonly lines: string[] } {
  const lines: string[] = [];
  const keep = (name: string, value: number, labels: MetricLabels) =>
    void lines.push(`${name} ${value} ${JSON.stringify(labels)}`);
  return { lines, counter: keep, histogram: keep };
}

export interface Lab {
  readonly registry: ExtensionRegistry;
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly logger: ReturnType<typeof recordingLogger>;
}

export interface LabOptions {
  readonly script?: readonly ScriptEntry[] | ScriptEntry;
  readonly agent?: Partial<AgentOptions>;
  readonly registry?: ExtensionRegistryOptions;
}

/** Returns an agent with a registry of these extensions. */
export function lab(extensions: readonly ExtensionInput[], options: LabOptions = {}): Lab {
  const logger = recordingLogger();
  const registry = new ExtensionRegistry(options.registry);
  for (const extension of extensions) registry.register(extension);
  const model = scriptedModel(options.script ?? (() => 'Aye.'));
  const agent = new Agent({ model, logger, loaders: [registry], ...options.agent });
  return { registry, agent, model, logger };
}

/** Returns the result of a run in which the model answers `text`. */
export async function answerOf(extensions: readonly ExtensionInput[], text: string): Promise<string> {
  const { agent } = lab(extensions, { script: () => text });
  return (await agent.run('go')).text;
}
