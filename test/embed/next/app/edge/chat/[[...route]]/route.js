import { chat } from '../../../../edge-chat.mjs';

export const runtime = 'edge';
export { chat as GET, chat as POST };
