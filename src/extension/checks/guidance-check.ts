import type { Logger } from '../../internal/logger.js';
import type { AgentLifecycle, LoaderHost } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { unknownToolNames } from '../../tools/unknown-tool-names.js';
import type { RegisteredExtension } from '../definition.js';
import { guidedTools } from './tool-config.js';

export interface GuidanceCheckOptions {
  /** Returns the registered extensions. */
  readonly list: () => readonly RegisteredExtension[];
  /** Returns the tool names in the registry's option `tools`. */
  readonly declared: () => readonly string[];
  readonly logger: Logger | undefined;
}

/**
 * Logs a warning if a `lazy` `toolConfig` names unknown tools: once per extension, at the first model call after all
 * loaders. `register` has checked the others.
 */
export class GuidanceCheck {
  private readonly checked = new WeakSet<RegisteredExtension>();

  constructor(
    private readonly host: LoaderHost,
    private readonly options: GuidanceCheckOptions,
  ) {}

  /** Returns the lifecycle, which checks the tool names of new extensions before its next model call. */
  addTo(lifecycle: AgentLifecycle | undefined): AgentLifecycle | undefined {
    const { wrapModelCall } = lifecycle ?? {};
    if (wrapModelCall === undefined || this.unchecked().length === 0) return lifecycle;
    return {
      ...lifecycle,
      wrapModelCall: (request, next) => {
        this.check(request.run);
        return wrapModelCall(request, next);
      },
    };
  }

  private unchecked(): readonly RegisteredExtension[] {
    const { list } = this.options;
    return list().filter((it) => it.toolConfig?.lazy === true && !this.checked.has(it));
  }

  private check(run: RunContext): void {
    const unchecked = this.unchecked();
    if (unchecked.length === 0) return;
    const { declared, logger = run.logger } = this.options;
    const tools = [...this.host.tools(), ...run.tools, ...declared().map((name) => ({ name }))];
    for (const extension of unchecked) {
      this.checked.add(extension);
      const { id, toolConfig = {} } = extension;
      const named = new Set(guidedTools(toolConfig).flatMap(([, names]) => names));
      const problems = unknownToolNames([...named], { tools, prefixes: this.host.toolPrefixes() });
      if (problems.length === 0) continue;
      const message = `The \`toolConfig\` of extension "${id}" names unknown tools: ${problems.join('; ')}.`;
      logger.warn(`${message} Correct the names, or add the tools.`, { extensionId: id });
    }
  }
}
