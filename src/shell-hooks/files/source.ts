import type { HookDialect } from '../../programs/hook-event.js';
import type { TrustScope } from '../../trust/item.js';
import type { HookRegistration } from '../hook/definition.js';
import type { HookDiagnostic } from './diagnostic.js';

/** Origin of a hook document. Set by the caller, never by the document. */
export interface HookSource {
  readonly dialect: HookDialect;
  readonly scope: TrustScope;
  /** Absolute path of the file; undefined if the document does not come from a file. */
  readonly source?: string | undefined;
  readonly extension?: string | undefined;
  readonly root?: string | undefined;
  /** True if its hooks get the data directory in the variable `CLAUDE_PLUGIN_DATA`. */
  readonly hasData?: boolean | undefined;
  /** Called with each problem of the document. */
  readonly report: (diagnostic: HookDiagnostic) => void;
}

/** Hooks of a document. Only the structure of the document was checked, not the settings of the hooks. */
export interface HookContent {
  readonly hooks: readonly HookRegistration[];
  /** `hooks.timeout` of the document; undefined for a document of the workspace. */
  readonly timeout?: number | undefined;
}

/** Reports a diagnostic about a document. The message begins with the file path. */
export function reportOn({ report, source }: HookSource, diagnostic: Omit<HookDiagnostic, 'source'>): void {
  report({
    ...diagnostic,
    message: source === undefined ? diagnostic.message : `${source}: ${diagnostic.message}`,
    source,
  });
}
