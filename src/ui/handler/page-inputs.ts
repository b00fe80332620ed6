import type { Agent } from '../../agent/agent.js';
import type { Tool } from '../../tools/tool.js';
import { invalidBody } from '../invalid-body.js';
import type { HandlerConfig } from './handler-options.js';
import type { ReadRequest } from './protocol.js';

/** A parsed request, and the identity of the person who sent it. */
export interface SentInput {
  readonly request: Request;
  readonly identity: unknown;
  readonly read: Pick<ReadRequest, 'chatId' | 'page' | 'tools'>;
}

/** The context and the tools for a run, from the input that an AG-UI page sends besides its messages. */
export interface TakenInput {
  readonly context: unknown;
  /** The tools that the page runs. */
  readonly tools: readonly Tool[] | undefined;
}

/** Converts the input that AG-UI pages send besides their messages. */
export class PageInputs {
  private hasWarned = false;

  constructor(
    private readonly agent: Agent<never>,
    private readonly config: HandlerConfig,
  ) {}

  /**
   * Returns the tools and the context for the run. Throws a UIBodyInvalidError if a tool of the page has the name of a
   * tool that the agent runs.
   */
  async take({ request, identity, read }: SentInput): Promise<TakenInput> {
    const { context, pageTools } = this.config;
    const { page = {}, tools = [] } = read;
    if (!pageTools && tools.length > 0) this.warn();
    const taken = pageTools && tools.length > 0 ? this.checked(tools) : undefined;
    // Without the option `context`, the input of the page is the context of the run.
    const own = Object.values(page).every(isEmpty) ? undefined : page;
    return { context: context === undefined ? own : await context(identity, request, page), tools: taken };
  }

  /**
   * Checks the tools of a page, and returns those that the agent does not have. The page may repeat a tool that the
   * agent defines for the page to run. Throws a UIBodyInvalidError for the name of any other tool of the agent.
   */
  private checked(tools: readonly Tool[]): readonly Tool[] {
    const own = new Map(this.agent.status().tools.map(({ name, needs }) => [name, needs]));
    const index = tools.findIndex(({ name }) => own.has(name) && own.get(name) === undefined);
    if (index < 0) return tools.filter(({ name }) => !own.has(name));
    throw invalidBody(`the name of \`tools[${index}]\``, 'a name that no tool of the agent has', tools[index]?.name);
  }

  private warn(): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    this.config.logger.warn(
      'The handler ignores the `tools` of its pages. Set the option `pageTools: true` to offer them to the model.',
    );
  }
}

/** Returns true for undefined and null, and for `[]` and `{}`, which AG-UI clients send if they have no data. */
function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null;
}
