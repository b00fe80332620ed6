import type { UserMessage } from '../model/message.js';
import { SkillUnknownError } from './error.js';
import { firstOfEach } from './first-of-each.js';
import { fillPrompt, type SkillArguments } from './prompt.js';
import { listSkillFiles } from './resource.js';
import type { Skill, SkillBody, SkillEntry } from './skill.js';

/** The skills that can be used now. */
export interface Skills {
  /** Returns all skills. Skills of extension packages come first, in the order of loading. */
  list(): readonly Skill[];
  /**
   * Returns the skill with this id, or with this name if only one skill has the name. Throws a SkillUnknownError
   * otherwise.
   */
  get(nameOrId: string): Skill;
  /**
   * Returns a user message with the skill's instructions, with its parameters filled in. Pass it to `run`.
   *
   * Rejects with a SkillUnknownError if the name is unknown or ambiguous. Rejects with a SkillParametersError if a
   * parameter is invalid or missing. Rejects with a SkillUnavailableError if the skill is not approved or unreadable.
   *
   * @example
   * const extensions = manifests({ workspaceDir: process.cwd() });
   * const agent = new Agent({ model, loaders: [extensions] });
   * await agent.run(await extensions.skills.invoke('review', { file: 'a.ts' }));
   */
  invoke(nameOrId: string, parameters?: SkillArguments): Promise<UserMessage>;
}

/**
 * A registry of skills, from extension packages or elsewhere.
 *
 * @example
 * const review = { id: 'review', name: 'review', description: 'Reviews a file.', parameters: [{ name: 'file' }] };
 * const registry = new SkillRegistry();
 * registry.replace([
 *   {
 *     skill: { ...review, scope: 'user', source: 'host' },
 *     open: async () => ({ prompt: 'Review {{file}}.' }),
 *   },
 * ]);
 * await agent.run(await registry.invoke('review', { file: 'a.ts' }));
 */
export class SkillRegistry implements Skills {
  private entries: ReadonlyMap<string, SkillEntry> = new Map();
  /** Changes whenever the list of skills is replaced. */
  revision = 0;

  list(): readonly Skill[] {
    return [...this.entries.values()].map(({ skill }) => skill);
  }

  get(nameOrId: string): Skill {
    return this.find(nameOrId).skill;
  }

  async invoke(nameOrId: string, parameters: SkillArguments = {}): Promise<UserMessage> {
    const { text, body } = await this.read(nameOrId, parameters);
    const { folder, root } = body;
    const files = folder === undefined ? [] : await listSkillFiles({ folder, root });
    if (files.length === 0) return { role: 'user', content: text };
    return { role: 'user', content: `${text}\n\nFiles of this skill, in ${folder}:\n${files.join('\n')}` };
  }

  /** Returns the instructions of a skill, with its parameters filled in. */
  async read(nameOrId: string, parameters: SkillArguments): Promise<{ skill: Skill; text: string; body: SkillBody }> {
    const entry = this.find(nameOrId);
    const { skill } = entry;
    // Checks the parameters first, so that a wrong call neither reads a file nor asks for approval.
    fillPrompt({ name: skill.id, prompt: '', parameters: skill.parameters }, parameters);
    const body = await entry.open();
    const text = fillPrompt({ name: skill.id, prompt: body.prompt, parameters: skill.parameters }, parameters);
    return { skill, text, body };
  }

  /** Returns the instructions and the directory of a skill. */
  open(nameOrId: string): Promise<SkillBody> {
    return this.find(nameOrId).open();
  }

  /** Replaces all skills. If two entries have the same id, the first is used. */
  replace(entries: readonly SkillEntry[]): void {
    this.entries = new Map(firstOfEach(entries, ({ skill }) => skill.id).map((entry) => [entry.skill.id, entry]));
    this.revision += 1;
  }

  private find(nameOrId: string): SkillEntry {
    const exact = this.entries.get(nameOrId);
    if (exact) return exact;
    const named = [...this.entries.values()].filter(({ skill }) => skill.name === nameOrId);
    const [only] = named;
    if (only && named.length === 1) return only;
    const candidates = (named.length > 0 ? named : [...this.entries.values()]).map(({ skill }) => skill.id);
    throw new SkillUnknownError(nameOrId, candidates, named.length > 1);
  }
}
