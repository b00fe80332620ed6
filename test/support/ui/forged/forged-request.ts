import type { ProtocolName } from 'keelson/ui';

/** A request that a handler must refuse. */
export interface ForgedRequest {
  readonly title: string;
  /** The part of the path after `/api/chat`. */
  readonly route?: string;
  readonly body?: unknown;
  readonly init?: RequestInit;
  /** Default: `ai-sdk`. */
  readonly protocol?: ProtocolName;
  readonly status: number;
  readonly code: string;
}

export const BODY = 'ERR_UI_BODY_INVALID';
export const CALL = 'ERR_UI_CALL_UNKNOWN';

/** A message of the page. */
export const hello = { id: 'x1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] };

/** Returns a request with a body that is already JSON. */
export const json = (body: string, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body,
});
