import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for the home directory and the files of the servers. */
export const scratch = mkdtempSync(join(tmpdir(), 'keelson-servers-'));
const key = 'x'.repeat(32);

/** How a published server is started and called. */
export interface Published {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /**
   * A call without effects outside of the scratch folder, with values of several types. Without a network or a valid
   * key, some servers answer it with an error, which must be the same error for both clients.
   */
  readonly call: { readonly tool: string; readonly input: Readonly<Record<string, unknown>> };
  /** How the server is started for HTTP and SSE. `PORT` stands for the number of a free port. */
  readonly remote?: readonly Remote[];
}

/** How a server is started on a port. */
export interface Remote {
  readonly type: 'http' | 'sse';
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly path: string;
}

/** A server that reads its port from a variable. */
const portVariable = (type: Remote['type'], path: string, env: Readonly<Record<string, string>> = {}): Remote => ({
  ...{ type, path },
  env: { PORT: 'PORT', ...env },
});

/** Published servers by package. The keys in the variables are invalid. */
export const SERVERS: Readonly<Record<string, Published>> = {
  '@modelcontextprotocol/server-everything': {
    call: { tool: 'get-sum', input: { a: 2, b: 3 } },
    args: ['stdio'],
    remote: [
      { ...portVariable('http', '/mcp'), args: ['streamableHttp'] },
      { ...portVariable('sse', '/sse'), args: ['sse'] },
    ],
  },
  '@modelcontextprotocol/server-filesystem': {
    call: { tool: 'directory_tree', input: { path: scratch, excludePatterns: ['*.log'] } },
    args: [scratch],
  },
  '@modelcontextprotocol/server-memory': {
    call: { tool: 'open_nodes', input: { names: ['tide'] } },
    env: { MEMORY_FILE_PATH: join(scratch, 'memory.jsonl') },
  },
  '@modelcontextprotocol/server-sequential-thinking': {
    call: {
      tool: 'sequentialthinking',
      input: { thought: 'a', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    },
  },
  '@modelcontextprotocol/server-github': {
    call: { tool: 'list_issues', input: { owner: 'a', repo: 'b', labels: ['c'], page: 1 } },
    env: { GITHUB_PERSONAL_ACCESS_TOKEN: key },
  },
  '@modelcontextprotocol/server-gitlab': {
    call: { tool: 'search_repositories', input: { search: 'tide', page: 1 } },
    env: { GITLAB_PERSONAL_ACCESS_TOKEN: key },
  },
  '@modelcontextprotocol/server-slack': {
    call: { tool: 'slack_list_channels', input: { limit: 1 } },
    env: { SLACK_BOT_TOKEN: key, SLACK_TEAM_ID: 'T0' },
  },
  '@modelcontextprotocol/server-brave-search': {
    call: { tool: 'brave_web_search', input: { query: 'tide', count: 1 } },
    env: { BRAVE_API_KEY: key },
  },
  '@modelcontextprotocol/server-google-maps': {
    call: { tool: 'maps_elevation', input: { locations: [{ latitude: 1, longitude: 2 }] } },
    env: { GOOGLE_MAPS_API_KEY: key },
  },
  '@modelcontextprotocol/server-puppeteer': {
    call: { tool: 'puppeteer_screenshot', input: { name: 'a', width: 10, encoded: true } },
  },
  '@modelcontextprotocol/server-postgres': {
    call: { tool: 'query', input: { sql: 'SELECT 1' } },
    args: ['postgresql://127.0.0.1:9/none'],
  },
  '@modelcontextprotocol/server-everart': {
    call: { tool: 'generate_image', input: { prompt: 'tide', image_count: 1 } },
    env: { EVERART_API_KEY: key },
  },
  '@upstash/context7-mcp': {
    call: { tool: 'resolve-library-id', input: { query: 'tide', libraryName: 'tide' } },
    remote: [{ type: 'http', args: ['--transport', 'http', '--port', 'PORT'], path: '/mcp' }],
  },
  '@playwright/mcp': {
    call: { tool: 'browser_console_messages', input: { level: 'error', all: false } },
    remote: [
      { type: 'http', args: ['--port', 'PORT'], path: '/mcp' },
      { type: 'sse', args: ['--port', 'PORT'], path: '/sse' },
    ],
  },
  'mongodb-mcp-server': {
    call: { tool: 'find', input: { connectionId: 'a', database: 'b', collection: 'c', limit: 1 } },
    env: { MDB_MCP_TELEMETRY: 'disabled' },
    remote: [{ type: 'http', args: ['--transport', 'http', '--httpPort', 'PORT'], path: '/mcp' }],
  },
  'n8n-mcp': {
    call: { tool: 'search_nodes', input: { query: 'slack', limit: 2, includeExamples: false } },
    env: { MCP_MODE: 'stdio', LOG_LEVEL: 'error', DISABLE_CONSOLE_OUTPUT: 'true', N8N_MCP_TELEMETRY_DISABLED: 'true' },
  },
  'firecrawl-mcp': {
    call: { tool: 'firecrawl_map', input: { url: 'http://127.0.0.1:9/', limit: 1, includeSubdomains: false } },
    env: { FIRECRAWL_API_KEY: key },
    remote: [
      portVariable('http', '/mcp', { HTTP_STREAMABLE_SERVER: 'true', FIRECRAWL_API_KEY: key }),
      portVariable('sse', '/sse', { SSE_LOCAL: 'true', FIRECRAWL_API_KEY: key }),
    ],
  },
  '@hubspot/mcp-server': {
    call: {
      tool: 'hubspot-list-objects',
      input: { objectType: 'contacts', limit: 1, archived: false, properties: ['email'] },
    },
    env: { PRIVATE_APP_ACCESS_TOKEN: key },
  },
  '@notionhq/notion-mcp-server': {
    call: { tool: 'API-get-users', input: { page_size: 1 } },
    env: { NOTION_TOKEN: key },
    remote: [{ type: 'http', args: ['--transport', 'http', '--port', 'PORT', '--disable-auth'], path: '/mcp' }],
  },
  'tavily-mcp': {
    call: {
      tool: 'tavily_search',
      input: { query: 'tide', max_results: 5, include_images: false, include_domains: ['a.test'] },
    },
    env: { TAVILY_API_KEY: key },
  },
  'exa-mcp-server': {
    call: { tool: 'web_fetch_exa', input: { urls: ['http://127.0.0.1:9/'], maxCharacters: 10 } },
    env: { EXA_API_KEY: key },
  },
  '@stripe/mcp': {
    call: { tool: 'list_customers', input: { limit: 1 } },
    args: ['--tools=all', `--api-key=rk_test_${key}`],
  },
  '@sentry/mcp-server': {
    call: { tool: 'search_docs', input: { query: 'tide', maxResults: 1 } },
    args: [`--access-token=${key}`],
  },
  '@supabase/mcp-server-supabase': {
    call: { tool: 'list_tables', input: { project_id: 'a', schemas: ['public'] } },
    args: [`--access-token=sbp_${key}`],
  },
  'chrome-devtools-mcp': {
    call: { tool: 'resize_page', input: { pageId: 0, width: 10, height: 10 } },
  },
  'figma-developer-mcp': {
    call: { tool: 'get_figma_data', input: { fileKey: 'a', depth: 1 } },
    args: ['--stdio', `--figma-api-key=${key}`],
    remote: [{ type: 'http', args: ['--port', 'PORT', `--figma-api-key=${key}`], path: '/mcp' }],
  },
  '@wonderwhy-er/desktop-commander': {
    call: { tool: 'list_directory', input: { path: scratch, depth: 1 } },
  },
  '@kazuph/mcp-fetch': {
    call: { tool: 'imageFetch', input: { url: 'http://127.0.0.1:9/', maxLength: 10, enableFetchImages: false } },
  },
  'puppeteer-mcp-server': {
    call: { tool: 'puppeteer_screenshot', input: { name: 'a', width: 10 } },
  },
  'mcp-server-kubernetes': {
    call: { tool: 'explain_resource', input: { resource: 'pods', recursive: false } },
    remote: [
      portVariable('http', '/mcp', { ENABLE_UNSAFE_STREAMABLE_HTTP_TRANSPORT: '1' }),
      portVariable('sse', '/sse', { ENABLE_UNSAFE_SSE_TRANSPORT: '1' }),
    ],
  },
  '@browsermcp/mcp': {
    call: { tool: 'browser_wait', input: { time: 0 } },
  },
};
