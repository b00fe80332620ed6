import type { TrustScope } from '../../trust/item.js';
import type { HookRegistration } from '../hook/definition.js';
import type { HookDialect } from '../hook/event.js';
import type { HookDiagnostic } from './diagnostic.js';

/** What a document of hooks is read with. None of it is ever taken from the document. */
export interface HookSource {
  readonly dialect: HookDialect;
  readonly scope: TrustScope;
  /** The file that it stands in, absolute; absent for what is no file. */
  readonly source?: string | undefined;
  readonly extension?: string | undefined;
  readonly root?: string | undefined;
  /** Whether its hooks are given the folder that `CLAUDE_PLUGIN_DATA` names. */
  readonly hasData?: boolean | undefined;
  /** Told of each thing that is wrong with the document. */
  readonly report: (diagnostic: HookDiagnostic) => void;
}

/** What a document of hooks holds. Nothing in it has been checked but its form. */
export interface HookContent {
  readonly hooks: readonly HookRegistration[];
  /** `hooks.timeout`, where the document is not the workspace's. */
  readonly timeout?: number | undefined;
}

/** Reports something about a document. */
export function reportOn({ report, source }: HookSource, diagnostic: Omit<HookDiagnostic, 'source'>): void {
  report({
    ...diagnostic,
    message: source === undefined ? diagnostic.message : `${source}: ${diagnostic.message}`,
    source,
  });
}
