import type { AgentLifecycle, LoaderHost } from '../../lifecycle/lifecycle.js';
import { forAgent, perAgent } from '../../lifecycle/per-agent.js';
import type { LiveToolSet, Tool, ToolContext, ToolSource } from '../../tools/tool.js';
import { toolsOf } from '../../tools/tool-set.js';
import type { Redactor } from './redactor.js';

/**
 * Wraps a loader host: redacts sensitive settings in log messages, and in the descriptions, progress, results and
 * errors of tools.
 */
export function redactingHost(host: LoaderHost, redactor: Redactor, logger: LoaderHost['logger']): LoaderHost {
  const redacted = (lifecycle: AgentLifecycle<never>): AgentLifecycle<never> => {
    if (lifecycle.tools === undefined) return lifecycle;
    const tools = new RedactedTools(lifecycle.tools as ToolSource, redactor);
    return perAgent({ ...lifecycle, tools }, (agent) => redacted(forAgent(lifecycle, agent)));
  };
  const use: LoaderHost['use'] = (lifecycle, before) => host.use(redacted(lifecycle), before);
  return Object.create(host, { logger: { value: logger }, use: { value: use } }) as LoaderHost;
}

/** Wraps each tool so that its results are redacted before any event or log can contain them. */
class RedactedTools implements LiveToolSet {
  private readonly wrapped = new WeakMap<Tool, Tool>();

  constructor(
    private readonly source: ToolSource,
    private readonly redactor: Redactor,
  ) {}

  get revision(): number {
    return 'revision' in this.source ? this.source.revision : 0;
  }

  list(): readonly Tool[] {
    return toolsOf(this.source).map((tool) => {
      const known = this.wrapped.get(tool) ?? this.wrap(tool);
      this.wrapped.set(tool, known);
      return known;
    });
  }

  prefixes(): readonly string[] {
    return ('prefixes' in this.source && this.source.prefixes?.()) || [];
  }

  private wrap(tool: Tool): Tool {
    const { redactor } = this;
    const { execute } = tool;
    const described = { ...tool, description: redactor.text(tool.description) };
    if (execute === undefined) return described;
    return {
      ...described,
      async execute(input, context) {
        try {
          return redactor.copy(await execute.call(tool, input, redactedContext(context, redactor)));
        } catch (error) {
          // The abort reason must stay the same object, so it is not copied.
          throw context.signal.aborted ? error : redactor.copy(error);
        }
      },
    };
  }
}

function redactedContext(context: ToolContext, redactor: Redactor): ToolContext {
  const progress = (data: unknown) => context.progress(redactor.copy(data));
  return Object.create(context, { progress: { value: progress } }) as ToolContext;
}
