import { Agent, type AgentLifecycle, type AgentOptions, handoff } from 'keelson';
import { calls, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { echo } from '../sample-tools.js';

const DESCRIPTION = 'Hands over.';

/** A step of a model that hands over to an agent of the office. */
export const to = (name: string, id = `to_${name}`) => calls({ name: `to_${name}`, id });

/** Notes the hooks that are called, as `agent: hook`. */
export function noting(agent: string, log: string[]): AgentLifecycle {
  const note = (hook: string) => void log.push(`${agent}: ${hook}`);
  return {
    name: `notes of ${agent}`,
    beforeAgent: () => note('beforeAgent'),
    beforeModel: () => note('beforeModel'),
    wrapToolCall: (call, next) => {
      note(call.name);
      return next(call);
    },
    afterAgent: () => note('afterAgent'),
    onError: () => note('onError'),
  };
}

interface OfficeOptions {
  readonly triage?: Partial<AgentOptions> | undefined;
  readonly billing?: Partial<AgentOptions> | undefined;
}

/** Triage and billing, which hand over to each other. Both have the tool `echo`, and note their hooks in `log`. */
export function office(
  scripts: { readonly triage: readonly ScriptEntry[]; readonly billing: readonly ScriptEntry[] },
  options: OfficeOptions = {},
) {
  const log: string[] = [];
  const models = {
    triage: scriptedModel(scripts.triage, { id: 'model of triage' }),
    billing: scriptedModel(scripts.billing, { id: 'model of billing' }),
  };
  const agentOf = (name: keyof typeof models, next: () => Agent, other: string): Agent =>
    new Agent({
      name,
      model: models[name],
      instructions: `You are ${name}.`,
      tools: [echo, handoff(next, { name: `to_${other}`, description: DESCRIPTION })],
      ...options[name],
      lifecycle: [noting(name, log), ...(options[name]?.lifecycle ?? [])],
    });
  const triage = agentOf('triage', () => billing, 'billing');
  const billing = agentOf('billing', () => triage, 'triage');
  return { triage, billing, models, log };
}
