import { Agent, type AgentLifecycle, type AgentOptions, defineTool, type Message } from 'keelson';
import { type ScriptEntry, scriptedModel } from 'keelson/testing';

/** The script of a scripted model. */
export type Script = readonly ScriptEntry[] | ScriptEntry;

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const echo = defineTool({ name: 'echo', description: 'Echoes.', input: { type: 'object' }, execute: () => 'echoed' });

/** Creates an agent with a tool `echo` and without log output. */
export function createAgent(
  script: Script,
  lifecycle: readonly AgentLifecycle[],
  more: Partial<AgentOptions> = {},
): Agent {
  return new Agent({ model: scriptedModel(script), tools: [echo], lifecycle, logger: silent, ...more });
}

export function roles(messages: readonly Message[]): string[] {
  return messages.map(({ role }) => role);
}
