import express from 'express';
import { toNodeListener } from 'keelson/ui';
import { chat } from './chat.mjs';

const app = express();
app.use(express.json());
app.use('/api/chat', toNodeListener(chat));
app.listen(process.env.PORT);
