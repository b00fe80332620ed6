import { chat } from './chat.mjs';

Bun.serve({ port: process.env.PORT, fetch: chat });
