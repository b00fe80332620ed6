import type { Agent } from '../../agent/agent.js';
import type { Tool } from '../../tools/tool.js';
import { invalidBody } from '../invalid-body.js';
import type { HandlerConfig } from './handler-options.js';
import type { ReadRequest } from './protocol.js';

/** A request that was read, and its person. */
export interface SentInput {
  readonly request: Request;
  readonly identity: unknown;
  readonly read: ReadRequest;
}

/** The input of a page beside its messages, as far as a run takes it. */
export interface TakenInput {
  readonly context: unknown;
  /** The tools that the page runs. */
  readonly tools: readonly Tool[] | undefined;
}

/** Takes what pages send beside their messages. */
export class PageInputs {
  /** The members whose loss was logged. */
  private readonly warned = new Set<string>();

  constructor(
    private readonly agent: Agent<never>,
    private readonly config: HandlerConfig,
  ) {}

  /** Throws a UIBodyInvalidError if a tool of the page has the name of a tool that the agent runs. */
  async take({ request, identity, read }: SentInput): Promise<TakenInput> {
    const { context, pageTools } = this.config;
    const { page = {}, tools = [] } = read;
    if (context === undefined) this.warn(page, 'the option `context`, whose third argument is what the page sent');
    if (!pageTools) this.warn({ tools }, 'the option `pageTools: true`');
    const taken = pageTools && tools.length > 0 ? this.checked(tools) : undefined;
    return { context: await context?.(identity, request, page), tools: taken };
  }

  /** A page may declare a tool of the agent that it runs. Then the definition of the agent counts. */
  private checked(tools: readonly Tool[]): readonly Tool[] {
    const own = new Map(this.agent.status().tools.map(({ name, needs }) => [name, needs]));
    const index = tools.findIndex(({ name }) => own.has(name) && own.get(name) === undefined);
    if (index < 0) return tools.filter(({ name }) => !own.has(name));
    throw invalidBody(`the name of \`tools[${index}]\``, 'a name that no tool of the agent has', tools[index]?.name);
  }

  /** Logs once which members of a request are ignored. */
  private warn(members: object, remedy: string): void {
    const sent = Object.entries(members).flatMap(([name, value]) => (isEmpty(value) ? [] : [`\`${name}\``]));
    const ignored = sent.filter((name) => !this.warned.has(name));
    if (ignored.length === 0) return;
    for (const name of ignored) this.warned.add(name);
    this.config.logger.warn(`The handler ignores ${ignored.join(' and ')} of its pages. To read it, set ${remedy}.`);
  }
}

/** Clients of AG-UI send `[]` and `{}` if they have nothing to send. */
function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null;
}
