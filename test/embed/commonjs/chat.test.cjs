const { createServer } = require('node:http');
const { toNodeListener } = require('keelson/ui');
const { chat } = require('./chat.cjs');

test('answers until the process ends', async () => {
  createServer(toNodeListener(chat)).listen(process.env.PORT);
  await new Promise(() => {});
}, 600_000);
