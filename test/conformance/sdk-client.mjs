// Runs one scenario of the MCP conformance suite with the client of the SDK alone, to compare.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { createOAuth } from './oauth-provider.mjs';
import { callsOf, scenario, url } from './scenario.mjs';

const oauth = scenario.startsWith('auth/') ? createOAuth() : undefined;
const MOST_AUTHORIZATIONS = 2;

/** @type {StreamableHTTPClientTransport} */
let transport;

/**
 * Repeats `work` after each authorization.
 * @template T
 * @param {() => Promise<T>} work
 */
async function authorized(work) {
  for (let at = 0; ; at++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || oauth?.code === undefined || at === MOST_AUTHORIZATIONS) throw error;
      await transport.finishAuth(oauth.code());
      // The next refusal may be because the server has changed its authorization server.
      oauth.provider.invalidateCredentials('discovery');
    }
  }
}

const client = await authorized(async () => {
  const created = new Client(
    { name: 'sdk', version: '1.0.0' },
    { capabilities: { elicitation: { form: { applyDefaults: true } } }, versionNegotiation: { mode: 'auto' } },
  );
  created.setRequestHandler('elicitation/create', () => ({
    action: 'accept',
    content: scenario.startsWith('sep-2322') ? { confirmed: true } : {},
  }));
  transport = new StreamableHTTPClientTransport(new URL(url), oauth && { authProvider: oauth.provider });
  await created.connect(transport);
  return created;
});
const { tools } = await authorized(() => client.listTools());
for (const { name, input } of callsOf(tools.map(({ name, inputSchema }) => ({ name, schema: inputSchema })))) {
  const call = authorized(() => client.callTool({ name, arguments: input }));
  console.log(name, JSON.stringify(await call.catch(String)));
}
if (scenario === 'http-standard-headers') {
  for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
  for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
}
await client.close();
