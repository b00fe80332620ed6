import { Agent } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { createAgentHandler } from 'keelson/ui';
import { expect, test } from 'vitest';
import { gate, until } from '../../support/agent/settle.js';
import { endings, goBodies, type Protocol, readAll } from '../../support/ui/proxy/proxied-chat.js';

test.each(Object.keys(endings) as Protocol[])(
  'asks proxies to pass each event on at once and as it is, also for a page that came back: %s',
  async (protocol) => {
    const held = gate();
    const agent = new Agent({ model: scriptedModel([() => held.pass().then(() => 'Done.')]) });
    const options = { authorize: 'none', session: (id: string) => id, protocol } as const;
    const handler = createAgentHandler(agent, options);
    const url = 'http://localhost/api/chat';
    const body = JSON.stringify(goBodies[protocol]);
    const answer = await handler(
      new Request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
    );
    await until(() => held.arrived === 1);
    const followed = await handler(new Request(`${url}/chat/stream`));
    held.open();

    for (const response of [answer, followed]) {
      expect(response.headers.get('x-accel-buffering')).toBe('no');
      expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
      expect(await readAll(response)).toMatch(endings[protocol]);
    }
  },
);
