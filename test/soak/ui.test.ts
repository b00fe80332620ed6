import { test } from 'vitest';
import { defaults, describeWithNginx, documented } from '../support/ui/proxy/nginx.js';
import { checkLongTool, endings, type Protocol } from '../support/ui/proxy/proxied-chat.js';
import { playRandomAgUI } from '../support/ui/random-ag-ui.js';
import { playRandomChat } from '../support/ui/random-chat.js';
import { playVanishingClients } from '../support/ui/vanishing-clients.js';

const seedsFrom = (first: number) => Array.from({ length: 200 }, (_, index) => first + index);

test.each(seedsFrom(31_100))(
  'the page of the random chat %i shows valid chunks and the stored messages',
  playRandomChat,
);

test.each(seedsFrom(32_100))('the client of AG-UI accepts the events of the random runs %i', playRandomAgUI);

test('leaves no run behind when many clients read slowly or disconnect', () => playVanishingClients(500));

describeWithNginx('nginx with a `proxy_read_timeout` of 3 s', () => {
  test.concurrent.each(Object.keys(endings) as Protocol[])(
    'passes on the answer of a tool of 10 s: %s',
    async (protocol) => {
      for (const site of [defaults, documented]) {
        await checkLongTool({ protocol, site, seconds: 3, toolMs: 10_000 });
      }
    },
  );
});
