const { createServer } = require('node:http');
const { toNodeListener } = require('keelson/ui');
const { chat } = require('./chat.cjs');

createServer(toNodeListener(chat)).listen(process.env.PORT);
