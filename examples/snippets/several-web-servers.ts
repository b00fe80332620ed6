import { createServer } from 'node:http';
import { Agent } from 'keelson';
import { migrate, PostgresRunLog, PostgresSessionStore } from 'keelson/postgres';
import { scriptedModel } from 'keelson/testing';
import { createAgentHandler, toNodeListener } from 'keelson/ui';
import { Pool } from 'pg';

const model = scriptedModel(() => 'Aye.');
const readUser = async (_request: Request): Promise<string> => 'ada';

export async function serve(url: string) {
  // #region shared
  const pool = new Pool({ connectionString: url });
  pool.on('error', () => {});
  await migrate(pool);
  const agent = new Agent({ model, store: new PostgresSessionStore({ client: pool }) });
  const handler = createAgentHandler(agent, {
    authorize: (request) => readUser(request),
    session: (chatId, user) => `${user}/${chatId}`,
    runLog: new PostgresRunLog({ client: pool }),
  });
  const server = createServer(toNodeListener(handler)).listen(3000);
  // #endregion

  // #region stop
  process.once('SIGTERM', async () => {
    server.close();
    await agent.close({ drainMs: 20_000 });
    await pool.end();
  });
  // #endregion
}
