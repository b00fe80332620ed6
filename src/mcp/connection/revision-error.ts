import { isObject } from '../../internal/json.js';
import { safeText } from '../../internal/safe-text.js';
import type { McpServerDefinition } from '../config/definition.js';
import { McpConnectError } from '../error.js';
import { HttpStatusError } from '../transport/http-client.js';
import { errorIn } from '../transport/json-rpc.js';
import type { SdkChoice } from './sdk-v2/client.js';

/** JSON-RPC error codes of 2026-07-28 for a revision that the server does not speak, and for missing headers. */
const UNSUPPORTED_REVISION = -32_022;
const HEADER_MISMATCH = -32_020;
/** Error codes with which servers refuse the handshake of a revision that they do not speak. */
const REFUSALS: readonly unknown[] = [UNSUPPORTED_REVISION, HEADER_MISMATCH, -32_600, -32_601, -32_602];
const MAX_LIST = 200;

interface Handshake extends SdkChoice {
  readonly server: string;
  readonly configured: McpServerDefinition['protocol'];
}

/** Returns the error of a handshake that failed because of the revision. Undefined if it failed for another reason. */
export function revisionError(error: unknown, handshake: Handshake): McpConnectError | undefined {
  const revisions = revisionsIn(error);
  if (revisions === undefined) return undefined;
  const { server, sdk, revision } = handshake;
  const offered = revision === 'auto' ? sdk.revisions.join(' and ') : revision;
  const spoken = safeText(revisions.join(', '), { maxLength: MAX_LIST });
  const problem = spoken === '' ? `it refused the MCP revision ${offered}` : `it speaks the MCP revisions ${spoken}`;
  const contrast = spoken === '' ? '' : `, and it was offered ${offered}`;
  // A gateway may have refused the request for the revisions while the server restarted, so a later attempt may
  // succeed.
  const retryable = revision === 'auto' && sdk.revisions.some((known) => revisions.includes(known));
  const options = { cause: error, retryable, revisions };
  return new McpConnectError(server, `${problem}${contrast}. ${adviceFor(revisions, handshake)}`, options);
}

function adviceFor(revisions: readonly string[], { sdk, configured = 'auto' }: Handshake): string {
  const isNew = revisions.length === 0 || revisions.includes('2026-07-28');
  if (isNew && !sdk.revisions.includes('2026-07-28')) {
    return 'Install the SDK that speaks 2026-07-28: npm install @modelcontextprotocol/client';
  }
  if (configured !== 'auto') return 'Remove `protocol` from its configuration.';
  return 'Update the server, or Keelson and its SDK.';
}

/**
 * Returns the revisions that the server speaks. The array is empty if the server does not name them. Returns undefined
 * if the error is not about revisions.
 */
function revisionsIn(error: unknown): readonly string[] | undefined {
  const refusal = error instanceof HttpStatusError ? errorIn(error.detail, 0)?.error : error;
  const { code, data, message, cause } = (refusal ?? {}) as Readonly<Record<string, unknown>>;
  const [, answered] = /protocol version is not supported: (\S+)/.exec(String(message)) ?? [];
  if (answered !== undefined) return [answered];
  // With a cause, the question for the revisions was not answered.
  const isUnknown = code === 'ERA_NEGOTIATION_FAILED' && cause === undefined;
  if (!REFUSALS.includes(code) && !isUnknown) return undefined;
  // `keepErrorData` wraps the data.
  const { supported, data: inner } = isObject(data) ? data : {};
  const list = supported ?? (isObject(inner) ? inner.supported : undefined);
  return Array.isArray(list) ? list.filter((revision) => typeof revision === 'string') : [];
}
