import Fastify from 'fastify';
import { toNodeListener } from 'keelson/ui';
import { chat } from './chat.mjs';

const app = Fastify();
for (const path of ['/api/chat', '/api/chat/*']) app.all(path, toNodeListener(chat));
await app.listen({ port: Number(process.env.PORT) });
