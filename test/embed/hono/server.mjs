import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { chat } from './chat.mjs';

const app = new Hono();
app.all('/api/chat/*', (context) => chat(context.req.raw));
serve({ fetch: app.fetch, port: Number(process.env.PORT) });
