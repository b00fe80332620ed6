import { chat } from '../../../../chat.mjs';

export { chat as GET, chat as POST };
