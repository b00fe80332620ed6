import { safeText } from '../internal/safe-text.js';
import type { AgentLifecycle, ToolCallNext, ToolCallRequest } from '../lifecycle/lifecycle.js';
import { defineTool } from '../tools/define-tool.js';
import type { LiveToolSet, Tool, ToolResult } from '../tools/tool.js';
import { SkillUnavailableError } from './error.js';
import type { SkillArguments } from './prompt.js';
import type { SkillRegistry } from './registry.js';
import { listSkillFiles, readSkillResource } from './resource.js';
import type { Skill } from './skill.js';

interface SkillCall {
  readonly name: string;
  readonly parameters?: SkillArguments;
  readonly file?: string;
}

/**
 * Offers skills to the model with one tool. Its description lists the skills; a call returns the instructions of a skill
 * or one of its files. If the registry is empty, the tool is left out.
 *
 * @example
 * const registry = new SkillRegistry();
 * const agent = new Agent({ model, lifecycle: [skillLifecycle(registry)] });
 */
export function skillLifecycle(registry: SkillRegistry, toolName = 'skill'): AgentLifecycle {
  const tools = new SkillToolSet(registry, toolName);
  return {
    name: 'skills',
    tools,
    wrapToolCall: (call, next) => (tools.isOwn(call.tool) ? once(call, next) : next(call)),
  };
}

/** Returns a short note instead of a result that the conversation already contains. */
async function once(call: ToolCallRequest<unknown>, next: ToolCallNext): Promise<ToolResult> {
  const result = await next(call);
  const isThere = call.run.messages.some(
    (message) =>
      message.role === 'tool' &&
      message.content.some(({ content, name }) => name === call.name && content === result.content),
  );
  return isThere && !result.isError
    ? { content: 'This is in the conversation already: see the earlier result.' }
    : result;
}

/** Lists the skill tool on each turn. Rebuilds it when the registry has changed. */
class SkillToolSet implements LiveToolSet {
  private made: { readonly revision: number; readonly tools: readonly Tool[] } = { revision: -1, tools: [] };

  constructor(
    private readonly registry: SkillRegistry,
    private readonly toolName: string,
  ) {}

  get revision(): number {
    return this.registry.revision;
  }

  list(): readonly Tool[] {
    const { revision } = this;
    if (this.made.revision !== revision) this.made = { revision, tools: this.make() };
    return this.made.tools;
  }

  isOwn(tool: Tool | undefined): boolean {
    return tool !== undefined && this.made.tools.includes(tool);
  }

  private make(): readonly Tool[] {
    const skills = this.registry.list().filter(({ userOnly }) => userOnly !== true);
    if (skills.length === 0) return [];
    const tool = defineTool({
      name: this.toolName,
      description: `Gives the instructions of a skill. Call it before you do what a skill is for.\n\n${skills.map(lineOf).join('\n')}`,
      input: schemaOf(skills),
      origin: 'skills',
      annotations: { readOnly: true },
      execute: (input) => this.answer(input as SkillCall),
    });
    return [tool];
  }

  private async answer({ name, parameters = {}, file }: SkillCall): Promise<string> {
    if (file !== undefined) return this.fileOf(name, file);
    const { skill, text, body } = await this.registry.read(name, parameters);
    const { folder, root } = body;
    const files = folder === undefined ? [] : await listSkillFiles({ folder, root });
    const more = files.length === 0 ? '' : `\nFiles, to be read with \`file\`:\n${files.join('\n')}\n`;
    return `<skill name=${JSON.stringify(skill.id)}>\n${text.replace(/<(?=\/?skill\b)/gi, '&lt;')}\n</skill>${more}`;
  }

  private async fileOf(name: string, file: string): Promise<string> {
    const { folder, root } = await this.registry.open(name);
    const read =
      folder === undefined ? { problem: 'it has no files' } : await readSkillResource({ folder, root }, file);
    if ('problem' in read) throw new SkillUnavailableError(name, `${file}: ${read.problem}`);
    return read.text;
  }
}

/** Describes a skill on one line, even if its description has several lines. */
function lineOf({ id, description, parameters }: Skill): string {
  const names = parameters.map(({ name, required }) => (required ? `${name} (required)` : name));
  const takes = names.length === 0 ? '' : ` Parameters: ${names.join(', ')}.`;
  return `- ${id}: ${safeText(description).replace(/\s+/g, ' ').trim()}${takes}`;
}

function schemaOf(skills: readonly Skill[]) {
  return {
    type: 'object',
    properties: {
      name: { type: 'string', enum: skills.map(({ id }) => id) },
      parameters: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
      file: {
        type: 'string',
        description: 'The path of a file of the skill, to get the file instead of the instructions.',
      },
    },
    required: ['name'],
    additionalProperties: false,
  };
}
