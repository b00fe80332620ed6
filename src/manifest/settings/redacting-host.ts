import type { LoaderHost } from '../../lifecycle/lifecycle.js';
import type { LiveToolSet, Tool, ToolContext, ToolSource } from '../../tools/tool.js';
import { toolsOf } from '../../tools/tool-set.js';
import type { Redactor } from './redactor.js';

/** A host for the loaders of what extensions bring: nothing sensitive leaves their tools, or reaches their logger. */
export function redactingHost(host: LoaderHost, redactor: Redactor, logger: LoaderHost['logger']): LoaderHost {
  const use: LoaderHost['use'] = (lifecycle, before) =>
    host.use(
      lifecycle.tools === undefined
        ? lifecycle
        : { ...lifecycle, tools: new RedactedTools(lifecycle.tools as ToolSource, redactor) },
      before,
    );
  return Object.create(host, { logger: { value: logger }, use: { value: use } }) as LoaderHost;
}

/** The same tools under the same names. They are wrapped within, so that no record ever holds what they really gave. */
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

  private wrap(tool: Tool): Tool {
    const { redactor } = this;
    return {
      ...tool,
      description: redactor.values(tool.description),
      async execute(input, context) {
        try {
          return redactor.copyValues(await tool.execute(input, quiet(context, redactor)));
        } catch (error) {
          // An abort is told by its very reason.
          throw context.signal.aborted ? error : redactor.copyValues(error);
        }
      },
    };
  }
}

function quiet(context: ToolContext, redactor: Redactor): ToolContext {
  const progress = (data: unknown) => context.progress(redactor.copyValues(data));
  return Object.create(context, { progress: { value: progress } }) as ToolContext;
}
