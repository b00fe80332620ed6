import { createServer } from 'node:http';
import { toNodeListener } from 'keelson/ui';
import { chat } from './chat.mjs';

createServer(toNodeListener(chat)).listen(process.env.PORT);
