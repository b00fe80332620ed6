import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { ElicitRequest, LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchema } from '../../internal/json.js';
import type { Logger } from '../../internal/logger.js';
import { safeText } from '../../internal/safe-text.js';
import { problemOfUrl } from '../config/server-url.js';
import type { McpElicitation, McpElicitationAnswer } from '../elicitation.js';
import type { McpRoot } from '../options.js';
import type { McpSdk } from '../transport/sdk.js';

/** What a server may ask, and tell, outside of its answers. */
export interface ServerQuestions {
  readonly server: string;
  /** Absent where nobody can be asked. Limits of time are held meanwhile. */
  readonly elicit: ((request: McpElicitation) => Promise<McpElicitationAnswer>) | undefined;
  readonly roots: (() => Promise<readonly McpRoot[]>) | undefined;
  onLog(level: keyof Logger, text: string): void;
  onToolsChanged(): void;
}

const MAX_TEXT = 10_000;

/** Has a client answer what its server asks. */
export function answerServer(client: Client, sdk: McpSdk, questions: ServerQuestions): void {
  const { elicit, roots, server } = questions;
  client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, () => questions.onToolsChanged());
  client.setNotificationHandler(sdk.LoggingMessageNotificationSchema, ({ params }) => {
    questions.onLog(LEVELS[params.level], logText(params));
  });
  if (roots) {
    client.setRequestHandler(sdk.ListRootsRequestSchema, async () => ({
      roots: (await roots()).map(({ uri, name }) => ({ uri, ...(name !== undefined && { name }) })),
    }));
  }
  if (elicit) {
    client.setRequestHandler(sdk.ElicitRequestSchema, async ({ params }, { signal }) => {
      // A host may hand it to whatever opens files and programs too.
      if (params.mode === 'url' && problemOfUrl(params.url) !== undefined) return { action: 'decline' };
      const { action, content } = await elicit(elicitationOf(server, params, signal));
      return { action, ...(content && { content: { ...content } as Record<string, string> }) };
    });
  }
}

function elicitationOf(server: string, params: ElicitRequest['params'], signal: AbortSignal): McpElicitation {
  const message = safeText(params.message, { maxLength: MAX_TEXT });
  if (params.mode === 'url') return { server, message, url: params.url, signal };
  return { server, message, schema: params.requestedSchema as JsonSchema, signal };
}

const LEVELS: Readonly<Record<LoggingLevel, keyof Logger>> = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error',
};

function logText({ logger, data }: { logger?: string | undefined; data?: unknown }): string {
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  return safeText(logger === undefined ? text : `${logger}: ${text}`, { maxLength: MAX_TEXT });
}
