import { chat } from './chat.mjs';

export default { fetch: chat };
