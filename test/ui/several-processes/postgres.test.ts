import { migrate } from 'keelson/postgres';
import { Pool } from 'pg';
import { afterAll } from 'vitest';
import { bundle } from '../../support/process/bundle.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.js';
import { chatProgram } from '../../support/ui/several-processes/chat-process.js';
import { testSharedChats } from '../../support/ui/several-processes/shared-chats.js';

const program = await bundle(chatProgram);

describeWithPostgres('two processes over PostgreSQL', () => {
  let server: PostgresServer | undefined;
  afterAll(() => server?.remove());
  testSharedChats(program, async () => {
    server = await startPostgres();
    const pool = new Pool(server.settings);
    await migrate(pool);
    await pool.end();
    return { kind: 'postgres', place: server.url };
  });
});
