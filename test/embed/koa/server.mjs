import { toNodeListener } from 'keelson/ui';
import Koa from 'koa';
import { chat } from './chat.mjs';

const app = new Koa();
app.use(toNodeListener(chat));
app.listen(process.env.PORT);
