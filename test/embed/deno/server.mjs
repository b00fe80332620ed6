import process from 'node:process';
import { chat } from './chat.mjs';

Deno.serve({ port: Number(process.env.PORT) }, chat);
