import { afterAll } from 'vitest';
import { bundle } from '../../support/process/bundle.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/stores/redis-server.js';
import { chatProgram } from '../../support/ui/several-processes/chat-process.js';
import { testSharedChats } from '../../support/ui/several-processes/shared-chats.js';

const program = await bundle(chatProgram);

describeWithRedis('two processes over Redis', () => {
  let server: RedisServer | undefined;
  afterAll(() => server?.remove());
  testSharedChats(program, async () => {
    server = await startRedis();
    return { kind: 'redis', place: server.url };
  });
});
