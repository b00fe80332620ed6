import type { JsonValue } from '../../internal/json.js';
import type { ConnectionOptions } from '../connection/sdk.js';
import { failureText } from '../server-log.js';
import type { McpToolSpec } from '../tools/spec.js';

/**
 * Remembers the first definition of each tool. With `pinTools` and a trust gate, stores the definitions in the trust
 * store, and a person decides about each change.
 */
export class ToolPins {
  private readonly known = new Map<string, string>();
  private readonly reported = new Map<string, string>();
  private isRestored = false;

  constructor(private readonly context: Pick<ConnectionOptions, 'definition' | 'settings' | 'log' | 'hold'>) {}

  /** Returns the names of the tools with a new change of their definition, and of those that must not be offered. */
  async review(specs: Iterable<McpToolSpec>): Promise<{ changed: readonly string[]; refused: readonly string[] }> {
    const { settings, hold } = this.context;
    await this.restore();
    const accepted: McpToolSpec[] = [];
    const changed: string[] = [];
    const refused: string[] = [];
    for (const spec of specs) {
      const before = this.known.get(spec.name);
      if (before === spec.fingerprint) continue;
      if (before !== undefined && this.reported.get(spec.name) !== spec.fingerprint) changed.push(spec.name);
      this.reported.set(spec.name, spec.fingerprint);
      if (before === undefined) accepted.push(spec);
      else if (settings.pinTools && (await hold.during(() => this.isApproved(spec)))) accepted.push(spec);
      else if (settings.pinTools) refused.push(spec.name);
    }
    await this.remember(accepted);
    return { changed, refused };
  }

  private async isApproved({ name, description, inputSchema }: McpToolSpec): Promise<boolean> {
    const { definition, settings } = this.context;
    const { extension } = definition.origin;
    const decision = await settings.gate?.authorize({
      ...{ kind: 'mcp-tool', scope: 'workspace', name: `${definition.name}/${name}`, extension },
      details: {
        change: 'Its definition has changed since it was first used.',
        description,
        inputSchema: inputSchema as { readonly [key: string]: JsonValue },
      },
    });
    return decision?.allowed === true;
  }

  /**
   * Reads the remembered definitions once. Rejects if the trust store cannot be read, because a change would not be
   * noticed.
   */
  private async restore(): Promise<void> {
    const { gate, pinTools } = this.context.settings;
    if (this.isRestored || !pinTools) return;
    const prefix = this.key('').slice(0, -2);
    for (const [key, fingerprint] of (await gate?.store?.seen()) ?? []) {
      if (key.startsWith(prefix)) this.known.set(JSON.parse(key).at(-1), fingerprint);
    }
    this.isRestored = true;
  }

  private async remember(specs: readonly McpToolSpec[]): Promise<void> {
    const { settings, log } = this.context;
    for (const { name, fingerprint } of specs) this.known.set(name, fingerprint);
    if (specs.length === 0 || !settings.pinTools) return;
    const entries = specs.map(({ name, fingerprint }) => [this.key(name), fingerprint] as const);
    try {
      await settings.gate?.store?.noteSeen(new Map(entries));
    } catch (error) {
      log.write('error', `its tools are remembered only until the process ends: ${failureText(error)}`, error);
    }
  }

  private key(tool: string): string {
    const { definition, settings } = this.context;
    const { source = '', extension = '' } = definition.origin;
    return JSON.stringify(['mcp-tool', settings.workspaceDir ?? '', source, extension, definition.name, tool]);
  }
}
