import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../support/agent/settle.js';
import { describeWithRedis, startRedis } from '../../support/stores/redis-server.js';
import { loadHistory } from '../../support/ui/chat-client.js';
import { remoteHandler } from '../../support/ui/chat-server.js';
import { describeWithNginx, documented, startNginx } from '../../support/ui/proxy/nginx.js';
import { endings, readAll, sendGo } from '../../support/ui/proxy/proxied-chat.js';
import { startWebServer } from '../../support/ui/proxy/web-server-process.js';
import { shownText } from '../../support/ui/read-ui-message.js';

describeWithRedis('two processes with one Redis', () => {
  describeWithNginx('behind nginx', () => {
    test('answer the message of a process that was killed, and store it once', { timeout: 120_000 }, async () => {
      const redis = await startRedis();
      onTestFinished(() => redis.remove());
      const servers = await Promise.all([startWebServer(redis.url), startWebServer(redis.url)]);
      for (const server of servers) onTestFinished(() => server.kill());
      await using nginx = await startNginx({ site: documented, servers: servers.map(({ address }) => address) });
      const url = `${nginx.url}/api/chat`;
      const cut = expect(readAll(await sendGo({ url }, 'sse'))).rejects.toThrow('terminated');
      await until(() => servers.some(({ lines }) => lines.length > 0));
      const followed = await fetch(`${url}/stream?id=chat`);

      await servers.find(({ lines }) => lines.length > 0)?.kill();
      await cut;
      const lost = await readAll(followed);
      const again = await readAll(await sendGo({ url }, 'sse'));

      expect(lost).toContain('ERR_SESSION_LOST');
      expect(lost).toMatch(endings.sse);
      expect(again).toMatch(endings.sse);
      const { messages } = await loadHistory(remoteHandler(nginx));
      expect(messages.map(shownText)).toEqual(['Go.', 'Done.']);
      expect(servers.flatMap(({ lines }) => lines)).toEqual(['works']);
    });
  });
});
